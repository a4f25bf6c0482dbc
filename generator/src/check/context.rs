//! A resource as the rules look at it: a value that may be broken or partly unknown.

use super::finding::Finding;
use super::rule::Rule;
use super::{Facts, NotChecked, Request};
use crate::api::ApiVersion;
use crate::api::v1alpha2::{PROVIDER_FIELDS, api_name, implied_id};
use crate::catalog::{Catalog, ProviderType};
use crate::distribution::{BaseConfig, Distributions, version_of_image};
use crate::generate::{Base, ProviderTypeError, Tracked, embedded_base, read_base, resolve_type};
use crate::path::Path;
use crate::references::{Reference, references};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What a rule looks at. What several rules ask for is worked out once.
pub(crate) struct RuleContext<'a> {
    pub(crate) version: ApiVersion,
    pub(crate) facts: &'a Facts,
    base: Option<&'a Base>,
    value: &'a Value,
    unknown: &'a BTreeSet<Path>,
    providers: OnceCell<Vec<ProviderEntry<'a>>>,
    provider_numbers: OnceCell<HashMap<Path, usize>>,
    provider_ids: OnceCell<HashSet<&'a str>>,
    catalog: OnceCell<Option<&'static Catalog>>,
    references: OnceCell<Vec<Reference<'a>>>,
}

/// What the rules found in one resource, and what they could not decide, each in the order of the rules.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) not_checked: Vec<NotChecked>,
}

impl Report {
    pub(crate) fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub(crate) fn not_checked(&mut self, rule: &'static Rule, path: &Path, reason: &str) {
        self.not_checked.push(NotChecked { path: path.clone(), rule: rule.id.to_owned(), reason: reason.to_owned() });
    }
}

/// One entry of `spec.providers.<api>`, as far as it can be read.
pub(crate) struct ProviderEntry<'a> {
    /// The API, in llama-stack's spelling.
    pub(crate) api: &'static str,
    /// The path of the list item.
    pub(crate) path: Path,
    pub(crate) value: &'a Map<String, Value>,
    /// Its id, explicit or implicit, if that is known.
    pub(crate) id: Option<&'a str>,
    /// Its type as written, if that is known.
    pub(crate) written: Option<&'a str>,
    resolved: OnceCell<Option<Resolved>>,
}

/// One entry of `spec.externalProviders.<api>`. These APIs are not limited to those of `spec.providers`, so the API is
/// text.
pub(crate) struct ExternalEntry<'a> {
    /// The API, in llama-stack's spelling.
    pub(crate) api: String,
    /// The path of the list item.
    pub(crate) path: Path,
    pub(crate) value: &'a Map<String, Value>,
    /// Its id, if that is known.
    pub(crate) id: Option<&'a str>,
}

/// A provider type as the catalog knows it, or why it does not.
type Resolved = Result<&'static ProviderType, Box<ProviderTypeError>>;

impl<'a> ProviderEntry<'a> {
    /// The place of the id: of the type, where the id follows from that.
    pub(crate) fn id_path(&self) -> Path {
        self.path.key(if self.has_id() { "id" } else { "provider" })
    }

    /// Whether the id is written, as opposed to one that follows from the type.
    pub(crate) fn has_id(&self) -> bool {
        self.value.contains_key("id")
    }
}

impl<'a> RuleContext<'a> {
    pub(crate) fn new(request: &Request<'a>, base: Option<&'a Base>) -> Self {
        Self {
            version: request.version,
            facts: request.facts,
            base,
            value: request.value,
            unknown: request.unknown,
            providers: OnceCell::new(),
            provider_numbers: OnceCell::new(),
            provider_ids: OnceCell::new(),
            catalog: OnceCell::new(),
            references: OnceCell::new(),
        }
    }

    /// The whole object, with what is null or unknown in it.
    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// Whether nothing on the way to `path` is unknown.
    pub(crate) fn is_known(&self, path: &Path) -> bool {
        if self.unknown.is_empty() {
            return true;
        }
        let mut next = Some(path.clone());
        while let Some(at) = next {
            if self.unknown.contains(&at) {
                return false;
            }
            next = at.parent();
        }
        true
    }

    /// Whether nothing at or below `path` is unknown.
    pub(crate) fn is_complete(&self, path: &Path) -> bool {
        self.is_known(path) && !self.unknown.iter().any(|unknown| unknown.starts_with(path))
    }

    /// The value at `path`, if it is there and known.
    pub(crate) fn get(&self, path: &Path) -> Option<&'a Value> {
        let value = path.find(self.value)?;
        (!value.is_null() && self.is_known(path)).then_some(value)
    }

    /// The string at `path`, if it is there and known.
    pub(crate) fn text(&self, path: &Path) -> Option<&'a str> {
        self.get(path)?.as_str()
    }

    /// Unknown places that still hold a placeholder for the user to replace, such as `<namespace>`.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = (&'a Path, &'a str)> {
        let texts = self.unknown.iter().filter_map(|path| Some((path, path.find(self.value)?.as_str()?)));
        texts.filter(|(_, text)| crate::document::is_to_fill(text))
    }

    /// The list at `path`, each item with its path. Unknown items are among them.
    pub(crate) fn items(&self, path: &Path) -> impl Iterator<Item = (Path, &'a Value)> + use<'a> {
        let list = self.get(path).and_then(Value::as_array);
        let path = path.clone();
        list.into_iter().flatten().enumerate().map(move |(position, item)| (path.index(position), item))
    }

    /// Whether something other than null stands at a dotted place below `spec`, known or not. For rules that look into
    /// many places of which few are there: it makes no path.
    pub(crate) fn is_present(&self, below: &str) -> bool {
        let spec = self.value.get("spec");
        let found = spec.and_then(|spec| below.split('.').try_fold(spec, |value, field| value.get(field)));
        found.is_some_and(|value| !value.is_null())
    }

    /// The path of `spec` or below it, in the dotted form.
    pub(crate) fn spec(below: &str) -> Path {
        Path::parse("spec").below(below)
    }

    /// `metadata.namespace`, else the namespace that the caller assumes, else empty. One that a template fills in comes as
    /// it is written: objects that write it the same way are in the same namespace.
    pub(crate) fn namespace(&self) -> &'a str {
        let own = Path::parse("metadata.namespace").find(self.value).and_then(Value::as_str);
        own.or(self.facts.namespace.as_deref()).unwrap_or_default()
    }

    /// Whether the namespace is more than the text of a template.
    pub(crate) fn knows_namespace(&self) -> bool {
        self.is_known(&Path::parse("metadata.namespace"))
    }

    /// Where the distribution is: it moved between the versions.
    pub(crate) fn distribution_path(&self) -> Path {
        match self.version {
            ApiVersion::V1Alpha1 => Self::spec("server.distribution"),
            ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => Self::spec("distribution"),
        }
    }

    /// The distribution's name, if it is known.
    pub(crate) fn distribution(&self) -> Option<&'a str> {
        self.text(&self.distribution_path().key("name"))
    }

    /// The llama-stack version of the image, as far as its tag or the list of distributions tells; else the one that
    /// the caller assumes.
    pub(crate) fn llama_stack_version(&self) -> Option<String> {
        self.told_version().or_else(|| self.facts.llama_stack_version.clone())
    }

    fn told_version(&self) -> Option<String> {
        if let Some(image) = self.text(&self.distribution_path().key("image")) {
            return version_of_image(image);
        }
        let known = Distributions::embedded().get(self.distribution()?).ok()?;
        // The operator runs another image: its version counts, and where that is not told, the rest is not checked.
        if let Some(image) = self.facts.image.as_deref().filter(|image| *image != known.image) {
            return version_of_image(image);
        }
        version_of_image(&known.image).or_else(|| Some(known.llama_stack_version.clone()))
    }

    /// The catalog for that version.
    pub(crate) fn catalog(&self) -> Option<&'static Catalog> {
        *self.catalog.get_or_init(|| Catalog::for_version(&self.llama_stack_version()?))
    }

    /// The base config that the caller knows of, else that of the distribution or of the image, if this program has it.
    pub(crate) fn base(&self) -> Option<std::sync::Arc<Tracked>> {
        if let Some(base) = self.base {
            return read_base(base).ok().map(std::sync::Arc::new);
        }
        let image = self.facts.image.as_deref().or_else(|| self.text(&self.distribution_path().key("image")));
        embedded_base(BaseConfig::of(self.distribution(), image)?)
    }

    /// Every entry of `spec.providers` that is a mapping.
    pub(crate) fn providers(&self) -> &[ProviderEntry<'a>] {
        self.providers.get_or_init(|| self.read_providers())
    }

    /// The provider that `path` is, or lies in.
    pub(crate) fn provider_at(&self, path: &Path) -> Option<&ProviderEntry<'a>> {
        let providers = self.providers();
        let numbers = self
            .provider_numbers
            .get_or_init(|| providers.iter().enumerate().map(|(number, entry)| (entry.path.clone(), number)).collect());
        // spec.providers.<api>[<number>]
        let entry: Path = path.segments().iter().take(4).cloned().collect();
        providers.get(*numbers.get(&entry)?)
    }

    /// The ids of all providers, as far as they are known.
    pub(crate) fn provider_ids(&self) -> &HashSet<&'a str> {
        self.provider_ids.get_or_init(|| self.providers().iter().filter_map(|entry| entry.id).collect())
    }

    fn read_providers(&self) -> Vec<ProviderEntry<'a>> {
        let mut found = Vec::new();
        for (api, field) in PROVIDER_FIELDS {
            for (path, item) in self.items(&Self::spec("providers").key(field)) {
                let Some(value) = item.as_object().filter(|_| self.is_known(&path)) else { continue };
                let written = self.text(&path.key("provider"));
                let id = match value.get("id").filter(|id| !id.is_null()) {
                    Some(_) => self.text(&path.key("id")),
                    None => written.map(implied_id),
                };
                found.push(ProviderEntry { api, path, value, id, written, resolved: OnceCell::new() });
            }
        }
        found
    }

    /// Every entry of `spec.externalProviders`, with its API in llama-stack's spelling.
    pub(crate) fn external_providers(&self) -> Vec<ExternalEntry<'a>> {
        let at = Self::spec("externalProviders");
        let lists = self.get(&at).and_then(Value::as_object).into_iter().flatten();
        let mut found = Vec::new();
        for (field, _) in lists {
            for (path, item) in self.items(&at.key(field)) {
                let Some(value) = item.as_object().filter(|_| self.is_known(&path)) else { continue };
                let id = self.text(&path.key("providerId"));
                found.push(ExternalEntry { api: api_name(field), path, value, id });
            }
        }
        found
    }

    /// The full type of a provider. `None` where its type or the version's catalog is not known.
    pub(crate) fn resolved<'e>(
        &self,
        entry: &'e ProviderEntry<'_>,
    ) -> Option<Result<&'static ProviderType, &'e ProviderTypeError>> {
        let resolve = || {
            let catalog = self.catalog()?;
            Some(match resolve_type(Some(catalog), entry.api, entry.written?) {
                Ok(full) => Ok(catalog.provider(entry.api, &full)?),
                Err(error) => Err(error),
            })
        };
        match entry.resolved.get_or_init(resolve) {
            Some(Ok(known)) => Some(Ok(known)),
            Some(Err(error)) => Some(Err(error)),
            None => None,
        }
    }

    /// Every Secret and ConfigMap that the resource names. Names and keys that are unknown are left out.
    pub(crate) fn references(&self) -> &[Reference<'a>] {
        self.references.get_or_init(|| {
            let mut found = references(self.value);
            if self.version == ApiVersion::OgxV1Beta1 {
                let flat = crate::ogx::references::of(self.value);
                let new: Vec<_> =
                    flat.into_iter().filter(|one| !found.iter().any(|known| known.path == one.path)).collect();
                found.extend(new);
            }
            found.retain(|reference| self.is_known(&reference.path));
            found.iter_mut().for_each(|reference| reference.keys.retain(|(_, path)| self.is_known(path)));
            found
        })
    }

    /// Every environment variable that the resource sets: name, place, entry. Unknown names are left out.
    pub(crate) fn env(&self) -> Vec<(&'a str, Path, &'a Map<String, Value>)> {
        let at = match self.version {
            ApiVersion::V1Alpha1 => Self::spec("server.containerSpec.env"),
            ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => Self::spec("workload.overrides.env"),
        };
        let entries = self.items(&at).filter_map(|(path, item)| {
            let name = self.text(&path.key("name"))?;
            Some((name, path, item.as_object()?))
        });
        entries.collect()
    }
}
