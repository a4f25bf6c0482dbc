//! The names in the embedded base configs.

use super::DocumentNames;
use llsd_generator::distribution::{BaseConfig, Distributions};
use llsd_yaml::parse_document;
use std::collections::BTreeMap;
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
