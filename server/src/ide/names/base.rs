//! The names in the embedded base configs.

use super::DocumentNames;
use crate::ide::Analysis;
use llsd_generator::api::ApiVersion;
use llsd_generator::distribution::{BaseConfig, Distributions};
use llsd_yaml::parse_document;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// A base config, understood once per process.
#[derive(Debug)]
pub(crate) struct BaseConfigNames {
    /// The text as it is embedded.
    pub(crate) text: Arc<str>,
    /// The names that occur in it.
    pub(crate) names: Arc<DocumentNames>,
}

/// The base config of a distribution; `None` where the program carries none.
pub(crate) fn base(distribution: &str) -> Option<&'static BaseConfigNames> {
    static BASES: OnceLock<BTreeMap<String, OnceLock<Option<BaseConfigNames>>>> = OnceLock::new();
    let bases = BASES
        .get_or_init(|| Distributions::embedded().iter().map(|found| (found.name.clone(), OnceLock::new())).collect());
    let read = || {
        let text = BaseConfig::embedded(distribution)?;
        let names = Arc::new(DocumentNames::of_config(&parse_document(text)));
        Some(BaseConfigNames { text: text.into(), names })
    };
    bases.get(distribution)?.get_or_init(read).as_ref()
}

/// The embedded base config of a distribution; `None` where the program carries none.
#[must_use]
pub fn base_text(distribution: &str) -> Option<&'static str> {
    base(distribution).map(|base| &*base.text)
}

impl Analysis {
    /// The names and images of the distributions that its resources start from the base configs of: all but those with a
    /// config of their own.
    #[must_use]
    pub fn based_on(&self) -> BTreeSet<String> {
        let documents = self.documents().map(|located| located.document);
        let mut found = BTreeSet::new();
        for resource in documents.flat_map(|document| document.resources()) {
            let Some(spec) = resource.value.get("spec") else { continue };
            let (holder, own) = match resource.version {
                ApiVersion::V1Alpha1 => (spec.get("server"), "userConfig"),
                ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => (Some(spec), "overrideConfig"),
            };
            let Some(holder) = holder.filter(|holder| holder.get(own).is_none_or(|config| config.is_null())) else {
                continue;
            };
            let fields = ["name", "image"].into_iter();
            let names = fields.filter_map(|field| holder.get("distribution")?.get(field)?.as_str());
            found.extend(names.map(str::to_owned));
        }
        found
    }
}
