//! The places of a file at which a person would ask, and what they would want there.

use llsd_generator::api::{ApiVersion, crd};
use llsd_generator::catalog::Catalog;
use llsd_generator::distribution::{BaseConfig, Distributions};
use llsd_generator::document::{Plain, path_of};
use llsd_generator::path::{Path, Segment};
use llsd_yaml::{Node, Stream, Style};
use serde_json::Value;

/// Something that is in the file, and that completion should have offered.
pub(crate) struct Wish {
    pub(crate) class: &'static str,
    /// The key or value that is expected among the offers.
    pub(crate) text: String,
    /// Where it begins, inside quotes.
    pub(crate) start: usize,
    /// Where the text ends that is not there before it is written: of a key its value, too.
    pub(crate) end: usize,
}

/// Every key and every value of which there are few, of all resources of the file.
pub(crate) fn wishes(text: &str) -> Vec<Wish> {
    let mut found = Vec::new();
    let stream = Stream::parse(text);
    for located in stream.documents() {
        let Some(root) = located.document.root() else { continue };
        let plain = Plain::read(&located.document).value;
        let lists = ["items", "objects"].into_iter().filter_map(|list| root.get(list)).flat_map(|list| list.items());
        for resource in [root].into_iter().chain(lists) {
            let base = path_of(&resource.path());
            let Some(value) = base.find(&plain) else { continue };
            if value.get("kind").and_then(Value::as_str) != Some("LlamaStackDistribution") {
                continue;
            }
            let Some(version) = ApiVersion::of(value) else { continue };
            let seen = Seen { text, version, value, base_config: base_config(value) };
            for node in located.document.nodes().filter(|node| node.is_scalar() && !node.is_absent()) {
                let path = path_of(&node.path());
                let Some(inside) = path.segments().strip_prefix(base.segments()) else { continue };
                let path: Path = inside.iter().cloned().collect();
                found.extend(seen.wish(node, &path, located.offset));
            }
        }
    }
    found
}

fn base_config(value: &Value) -> &'static str {
    let name = ["spec.distribution.name", "spec.server.distribution.name"];
    let name = name.into_iter().find_map(|path| Path::parse(path).find(value)?.as_str());
    name.and_then(BaseConfig::embedded).unwrap_or_default()
}

struct Seen<'a> {
    text: &'a str,
    version: ApiVersion,
    value: &'a Value,
    base_config: &'static str,
}

impl Seen<'_> {
    fn wish(&self, node: Node<'_>, path: &Path, offset: usize) -> Option<Wish> {
        let text = node.value().into_owned();
        let (class, end) = if node.is_key() {
            (self.key(path, &text)?, node.entry()?.span.end)
        } else {
            (self.value(path, &text)?, node.span().end)
        };
        let quotes = usize::from(matches!(node.style(), Style::SingleQuoted | Style::DoubleQuoted));
        let plain = matches!(node.style(), Style::Plain | Style::SingleQuoted | Style::DoubleQuoted);
        let end = if node.is_key() { end } else { end - quotes };
        plain.then(|| Wish { class, text, start: offset + node.span().start + quotes, end: offset + end })
    }

    fn key(&self, path: &Path, name: &str) -> Option<&'static str> {
        let container = path.parent()?;
        let shown = container.to_string();
        if shown.ends_with("settings") || shown.ends_with("secretRefs") {
            let provider = container.parent()?;
            let written = provider.key("provider").find(self.value)?.as_str()?;
            let Some(Segment::Key(api)) = provider.parent().and_then(|list| list.last().cloned()) else { return None };
            let api = llsd_generator::api::v1alpha2::api_name(&api);
            let names = [written.to_owned(), format!("remote::{written}"), format!("inline::{written}")];
            let catalog = Catalog::for_version("0.4.7")?;
            let found = names.iter().find_map(|name| catalog.provider(&api, name))?;
            return found.config.contains_key(name).then_some("settings key");
        }
        if shown.ends_with("resources.requests") || shown.ends_with("resources.limits") {
            return Some("quantity key");
        }
        let root = ["apiVersion", "kind", "metadata", "spec"];
        if (shown.is_empty() && root.contains(&name))
            || (shown == "metadata" && ["name", "namespace", "labels", "annotations"].contains(&name))
        {
            return Some("key");
        }
        let schema = crd::schema_at(self.version, &container)?;
        schema.get("properties")?.get(name).map(|_| "key")
    }

    fn value(&self, path: &Path, text: &str) -> Option<&'static str> {
        let shown: Vec<String> = path
            .segments()
            .iter()
            .map(|step| match step {
                Segment::Key(name) => name.clone(),
                Segment::Index(_) => "[]".to_owned(),
            })
            .collect();
        let shown = shown.join(".");
        let elsewhere = |text: &str| self.text.matches(text).count() > 1;
        let class = match shown.as_str() {
            "apiVersion" if text.starts_with("llamastack.io/v1alpha") => "apiVersion",
            "kind" => "kind",
            "spec.distribution.name" | "spec.server.distribution.name" => {
                Distributions::embedded().get(text).ok().map(|_| "distribution")?
            }
            "spec.resources.models.[].provider" if elsewhere(text) || self.base_config.contains(text) => "provider id",
            "spec.resources.models.[].name" if self.base_config.contains(&format!("model_id: {text}")) => "model",
            "spec.resources.tools.[]" if text == "websearch" || self.base_config.contains(text) => "tool group",
            "spec.resources.shields.[]" if elsewhere(text) || self.base_config.contains(text) => "shield",
            "spec.disabled.[]" if Catalog::for_version("0.4.7")?.apis().any(|api| api == text) => "API",
            _ if shown.ends_with("env.[].name") && self.base_config.contains(&format!("${{env.{text}")) => "variable",
            _ if shown.ends_with("volumeMounts.[].name") && elsewhere(text) => "volume",
            _ if shown.starts_with("spec.providers.") && shown.ends_with(".[].provider") => {
                let Segment::Key(api) = &path.segments()[2] else { return None };
                let api = llsd_generator::api::v1alpha2::api_name(api);
                let mut known = Catalog::for_version("0.4.7")?.providers(&api);
                let names = [text.to_owned(), format!("remote::{text}"), format!("inline::{text}")];
                known.any(|known| names.contains(&known.provider_type)).then_some("provider type")?
            }
            _ => self.reference(path, text).or_else(|| self.by_schema(path, text))?,
        };
        Some(class)
    }

    /// A name or key of an object that stands further up in the file.
    fn reference(&self, path: &Path, text: &str) -> Option<&'static str> {
        let shown = path.to_string();
        let object = ["secretKeyRef.name", "configMapKeyRef.name", "secretName", "configMapName"];
        if object.iter().any(|ending| shown.ends_with(ending)) {
            return self.text.contains(&format!("\n  name: {text}\n")).then_some("Secret, ConfigMap");
        }
        let key = shown.ends_with("secretKeyRef.key") || shown.ends_with("configMapKeyRef.key");
        (key && self.text.contains(&format!("\n  {text}: "))).then_some("key of Secret, ConfigMap")
    }

    fn by_schema(&self, path: &Path, text: &str) -> Option<&'static str> {
        let schema = crd::schema_at(self.version, path)?;
        let one_of = schema.get("enum").and_then(Value::as_array);
        if one_of.is_some_and(|values| values.iter().any(|value| value == text)) {
            return Some("enum");
        }
        let flag = schema.get("type").and_then(Value::as_str) == Some("boolean") && ["true", "false"].contains(&text);
        flag.then_some("boolean")
    }
}
