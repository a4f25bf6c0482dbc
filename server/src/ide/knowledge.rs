//! What is known about the server that a resource asks for: its llama-stack version, provider types, base config.

use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::catalog::{Catalog, ProviderType};
use llsd_generator::distribution::{BaseConfig, Distributions, version_of_image};
use llsd_generator::generate::Base;
use llsd_generator::ogx;
use llsd_generator::path::Path;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The distribution that most others are made from. Its base config and its llama-stack version stand in where a resource
/// does not tell its own.
const USUAL: &str = "starter";

/// What a base config declares.
#[derive(Debug, Default)]
pub(crate) struct BaseDeclarations {
    /// API, provider id and provider type of each provider.
    pub(crate) providers: Vec<(String, String, String)>,
    /// API and provider type of each provider, with the settings that it is given.
    pub(crate) settings: Vec<(String, String, Vec<String>)>,
    /// Ids of the models that it registers.
    pub(crate) models: Vec<String>,
    /// Ids of registered tool groups.
    pub(crate) tool_groups: Vec<String>,
    /// Ids of the shields that it registers.
    pub(crate) shields: Vec<String>,
    /// Environment variables it reads, with their default as written.
    pub(crate) variables: BTreeMap<String, Option<String>>,
}

/// The distribution that a resource of either version names: `name` and `image`.
pub(crate) fn distribution(version: ApiVersion, object: &Value) -> (Option<&str>, Option<&str>) {
    let place = match version {
        ApiVersion::V1Alpha1 => "spec.server.distribution",
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => "spec.distribution",
    };
    let found = Path::parse(place).find(object);
    let text = |field: &str| found.and_then(|found| found.get(field)).and_then(Value::as_str);
    (text("name"), text("image"))
}

/// The llama-stack version that the resource runs, if it can be told; else the `assumed` one.
pub(crate) fn target_version(version: ApiVersion, object: &Value, assumed: Option<&str>) -> Option<String> {
    if version.kind() == Kind::OgxServer {
        let image = distribution(version, object).1.and_then(version_of_image);
        return Some(ogx::target_version(image.as_deref().or(assumed)).to_owned());
    }
    let told = match distribution(version, object) {
        (Some(name), _) => {
            Distributions::embedded().get(name).ok().map(|distribution| distribution.llama_stack_version.clone())
        }
        (None, Some(image)) => version_of_image(image),
        (None, None) => None,
    };
    told.or_else(|| assumed.map(str::to_owned))
}

/// The catalog of the resource's version, and whether it really is that version's.
pub(crate) fn catalog(version: ApiVersion, object: &Value, assumed: Option<&str>) -> Option<(&'static Catalog, bool)> {
    let exact = target_version(version, object, assumed).and_then(|wanted| Catalog::for_version(&wanted));
    match exact {
        Some(catalog) => Some((catalog, true)),
        None => {
            let usual = Distributions::embedded().get(USUAL).ok()?;
            Catalog::for_version(&usual.llama_stack_version).map(|catalog| (catalog, false))
        }
    }
}

/// The provider type that `written` stands for: as written, else `remote::`, else `inline::`.
pub(crate) fn provider_type<'c>(catalog: &'c Catalog, api: &str, written: &str) -> Option<&'c ProviderType> {
    if let Some(exact) = catalog.provider(api, written) {
        return Some(exact);
    }
    let kinds = ["remote", "inline"];
    kinds.iter().find_map(|kind| catalog.provider(api, &format!("{kind}::{written}")))
}

/// What the base config of the resource's distribution or image declares; `None` where the program carries none.
pub(crate) fn base(version: ApiVersion, object: &Value) -> Option<&'static BaseDeclarations> {
    let (name, image) = distribution(version, object);
    let is_ours = version.kind() == Kind::LlamaStackDistribution;
    declared(BaseConfig::of(name, image).filter(|_| is_ours)?)
}

/// What a base config that somebody named declares.
pub(crate) fn declared_by(base: &Base) -> BaseDeclarations {
    read_base(&base.text)
}

/// The base config that most others are made from.
pub(crate) fn usual_base() -> Option<&'static BaseDeclarations> {
    declared(BaseConfig::of(Some(USUAL), None)?)
}

/// Whether a base config of the pinned version gives a provider of this type the setting.
pub(crate) fn is_usual_setting(api: &str, provider_type: &str, name: &str) -> bool {
    let given = pinned().filter_map(declared).flat_map(|base| &base.settings);
    given
        .filter(|(of, with, _)| of == api && with == provider_type)
        .any(|(.., keys)| keys.iter().any(|key| key == name))
}

/// The base configs of the versions that the distributions' images are pinned to.
fn pinned() -> impl Iterator<Item = &'static BaseConfig> {
    Distributions::embedded().iter().filter_map(|found| BaseConfig::of(Some(&found.name), None))
}

/// What a base config declares, read when it is first asked for.
fn declared(base: &BaseConfig) -> Option<&'static BaseDeclarations> {
    static READ: OnceLock<Vec<OnceLock<BaseDeclarations>>> = OnceLock::new();
    let read = READ.get_or_init(|| BaseConfig::all().iter().map(|_| OnceLock::new()).collect());
    let place = BaseConfig::all().iter().position(|one| one == base)?;
    Some(read.get(place)?.get_or_init(|| read_base(base.text)))
}

/// Reads what is embedded for pinned versions, so that the first question does not wait.
pub(crate) fn preload() {
    pinned().for_each(|base| _ = declared(base));
    for found in Distributions::embedded().iter() {
        Catalog::for_version(&found.llama_stack_version);
    }
}

fn read_base(text: &str) -> BaseDeclarations {
    let document = llsd_yaml::parse_document(text);
    let mut base = BaseDeclarations { variables: variables(text), ..BaseDeclarations::default() };
    let Some(root) = document.root() else { return base };
    for entry in root.get("providers").into_iter().flat_map(|providers| providers.entries()) {
        for provider in entry.value.items() {
            let field = |name: &str| provider.get(name).map(|node| node.value().into_owned()).unwrap_or_default();
            base.providers.push((
                entry.key.key_text().into_owned(),
                plain_id(&field("provider_id")).to_owned(),
                field("provider_type"),
            ));
            let config = provider.get("config").into_iter().flat_map(|config| config.entries());
            let given = config.map(|entry| entry.key.key_text().into_owned()).collect();
            base.settings.push((entry.key.key_text().into_owned(), field("provider_type"), given));
        }
    }
    let registered = |list: &str, id: &str| {
        root.get("registered_resources")
            .and_then(|resources| resources.get(list))
            .into_iter()
            .flat_map(|list| list.items())
            .filter_map(|item| Some(plain_id(&item.get(id)?.value()).to_owned()))
            .collect::<Vec<_>>()
    };
    base.models = registered("models", "model_id");
    base.tool_groups = registered("tool_groups", "toolgroup_id");
    base.shields = registered("shields", "shield_id");
    base
}

/// `vllm` of `${env.VLLM_URL:+vllm}`; other texts as they are.
fn plain_id(text: &str) -> &str {
    match text.strip_prefix("${env.").and_then(|rest| rest.strip_suffix('}')).and_then(|rest| rest.split_once(":+")) {
        Some((_, id)) => id,
        None => text,
    }
}

/// The `${env.NAME…}` of a text, with the default behind `:=`.
pub(crate) fn variables(text: &str) -> BTreeMap<String, Option<String>> {
    let mut found = BTreeMap::new();
    for rest in text.split("${env.").skip(1) {
        let Some((inside, _)) = rest.split_once('}') else { continue };
        let (name, default) = match inside.split_once(":=") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inside.split(':').next().unwrap_or(inside), None),
        };
        if !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        {
            let known = found.entry(name.to_owned()).or_insert(None);
            if known.is_none() {
                *known = default;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_variables() {
        let found = variables("a: ${env.VLLM_URL:=http://x}\nb: ${env.KEY:+vllm}\nc: ${env.}\n");
        assert_eq!(found.get("VLLM_URL"), Some(&Some("http://x".to_owned())));
        assert_eq!(found.get("KEY"), Some(&None));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn finds_the_target_version() {
        let by_name = json!({"spec": {"distribution": {"name": "starter"}}});
        assert_eq!(target_version(ApiVersion::V1Alpha2, &by_name, Some("0.7.3")).as_deref(), Some("0.4.7"));
        let by_image = json!({"spec": {"server": {"distribution": {"image": "x/y:0.5.4"}}}});
        assert_eq!(target_version(ApiVersion::V1Alpha1, &by_image, None).as_deref(), Some("0.5.4"));
        let silent = json!({"spec": {"distribution": {"image": "x/y:latest"}}});
        assert_eq!(target_version(ApiVersion::V1Alpha2, &silent, None), None);
        assert_eq!(target_version(ApiVersion::V1Alpha2, &silent, Some("0.7.3")).as_deref(), Some("0.7.3"));
    }

    #[test]
    fn resolves_bare_types() {
        let (catalog, exact) = catalog(ApiVersion::V1Alpha2, &json!({}), None).expect("a catalog");
        assert!(!exact);
        let name =
            |api: &str, written: &str| provider_type(catalog, api, written).map(|found| found.provider_type.as_str());
        assert_eq!(name("inference", "vllm"), Some("remote::vllm"));
        assert_eq!(name("safety", "llama-guard"), Some("inline::llama-guard"));
        assert_eq!(name("inference", "nope"), None);
    }
}
