//! What a resource leaves unsaid, shown beside what it says.

use super::config::ConfigText;
use super::document::DocumentAnalysis;
use super::resource::Resource;
use super::types::TextEdit;
use super::{Analysis, Span, knowledge, place};
use crate::ide::diagnostics::touches;
use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::{DEFAULT_PORT, PROVIDER_FIELDS, implied_id};
use llsd_generator::distribution::Distributions;
use llsd_generator::generate::variable_name;
use llsd_generator::path::Path;
use llsd_yaml::{Node, edit};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Which kinds of hints are shown, as the user's settings say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct InlaySettings {
    /// The id of a provider that has none; what clients call a model of a config.
    pub implicit_id: bool,
    /// `remote::` or `inline::` before a bare provider type.
    pub provider_type: bool,
    /// The environment variable that carries a secret; where the variables of a config are set.
    pub variable: bool,
    /// The port where none is given.
    pub port: bool,
    /// The image that a distribution's name stands for.
    pub image: bool,
}

impl Default for InlaySettings {
    fn default() -> Self {
        Self { implicit_id: true, provider_type: true, variable: true, port: true, image: true }
    }
}

/// A text shown between others that is not in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayHint {
    /// Where the hint is shown: in front of this byte.
    pub offset: usize,
    /// The text of the hint.
    pub label: String,
    /// Whether it is set off from what stands before it; else it belongs to what follows.
    pub behind: bool,
    /// Why it is so, in a sentence.
    pub tooltip: String,
    /// What would write it into the file; empty where that makes no sense.
    pub edits: Vec<TextEdit>,
}

/// The hints inside `range`, in the order of the text.
pub(crate) fn hints(analysis: &Analysis, range: Span, settings: &InlaySettings) -> Vec<InlayHint> {
    let mut found = Vec::new();
    for located in analysis.documents() {
        let here = Span::new(located.offset, located.offset + located.document.tree().text().len());
        if !touches(here, range) {
            continue;
        }
        let document = &located.document;
        let mut hints = Hints { document, settings, found: Vec::new() };
        document.resources().iter().for_each(|resource| hints.resource(resource));
        document.configs().iter().for_each(|config| hints.config(config));
        found.extend(hints.found.into_iter().map(|mut hint| {
            hint.offset += located.offset;
            hint.edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
            hint
        }));
    }
    found.retain(|hint| (range.start..=range.end).contains(&hint.offset));
    found.sort_by_key(|hint| hint.offset);
    found
}

/// The rules that could not be decided, each as a hint at the end of the line that it speaks of.
pub(crate) fn unchecked(analysis: &Analysis, range: Span) -> Vec<InlayHint> {
    let mut found = Vec::new();
    for located in analysis.touching(range) {
        let text = located.document.tree().text();
        let all = super::diagnostics::unchecked(located.document).into_iter().filter(|open| open.rule.is_some());
        found.extend(all.map(|open| {
            let rest = text.get(open.span.start..).unwrap_or_default();
            let end = open.span.start + rest.find(['\r', '\n']).unwrap_or(rest.len());
            InlayHint {
                offset: located.offset + end,
                label: "not checked".to_owned(),
                behind: true,
                tooltip: format!("{}: {}", open.rule.unwrap_or_default(), open.reason),
                edits: Vec::new(),
            }
        }));
    }
    found.retain(|hint| (range.start..=range.end).contains(&hint.offset));
    found
}

struct Hints<'a> {
    document: &'a DocumentAnalysis,
    settings: &'a InlaySettings,
    found: Vec<InlayHint>,
}

impl<'a> Hints<'a> {
    fn resource(&mut self, resource: &'a Resource) {
        if self.settings.image {
            self.image(resource);
        }
        if resource.version != ApiVersion::V1Alpha2 {
            return;
        }
        for (api, field) in PROVIDER_FIELDS {
            let list = self.at(resource, &format!("spec.providers.{field}"));
            for item in list.into_iter().flat_map(|list| list.items()) {
                self.provider(resource, api, item);
            }
        }
        if self.settings.variable {
            self.storage(resource);
        }
        if self.settings.port {
            self.port(resource);
        }
    }

    /// What a config leaves unsaid: where its variables are set, and what clients call its models.
    fn config(&mut self, config: &'a ConfigText) {
        if self.settings.variable {
            let set: BTreeMap<String, String> = config.set_variables(self.document.facts()).into_iter().collect();
            let scalars = config.tree().nodes().filter(|node| node.is_scalar() && !node.is_key() && !set.is_empty());
            for node in scalars.filter(|node| node.source().starts_with("${env.") && node.block().is_none()) {
                let text = node.source();
                let name = text["${env.".len()..].split([':', '}']).next().unwrap_or_default();
                let span = config.embedding().exact(node.span());
                if let (Some(words), Some(span)) = (set.get(name), span) {
                    self.behind(span.end, words.replace('`', ""), format!("{name} is set {words}"));
                }
            }
        }
        if self.settings.implicit_id {
            let models = Path::parse("registered_resources.models");
            let list = config.tree().find(&place::steps(&Path::root(), &models));
            for model in list.into_iter().flat_map(|list| list.items()) {
                let field = |name: &str| model.get(name).filter(|node| is_written(*node));
                let (Some(id), Some(provider)) = (field("model_id"), field("provider_id")) else { continue };
                let name = field("provider_model_id").unwrap_or(id);
                if let Some(span) = config.embedding().exact(id.span()) {
                    let label = format!("{}/{}", provider.value(), name.value());
                    self.behind(span.end, label, "What clients call this model".to_owned());
                }
            }
        }
    }

    fn at(&self, resource: &Resource, path: &str) -> Option<Node<'a>> {
        self.document.tree().find(&place::steps(&resource.base, &Path::parse(path)))
    }

    fn image(&mut self, resource: &Resource) {
        let path = match resource.version {
            ApiVersion::V1Alpha1 => "spec.server.distribution.name",
            ApiVersion::V1Alpha2 => "spec.distribution.name",
            ApiVersion::OgxV1Beta1 => return,
        };
        let Some(node) = self.at(resource, path).filter(|node| is_written(*node)) else { return };
        let Ok(known) = Distributions::embedded().get(&node.value()) else { return };
        let tooltip = format!("The image of this distribution, with llama-stack {}", known.llama_stack_version);
        self.behind(node.span().end, known.image.clone(), tooltip);
    }

    fn provider(&mut self, resource: &Resource, api: &str, item: Node<'a>) {
        let Some(node) = item.get("provider").filter(|node| is_written(*node)) else { return };
        let written = node.value();
        let known = resource.catalog().and_then(|(catalog, _)| knowledge::provider_type(catalog, api, &written));
        if let Some(known) = known.filter(|_| self.settings.provider_type && super::ids::bare(node).is_some())
            && let Some(kind) = known.provider_type.strip_suffix(written.as_ref()).filter(|kind| !kind.is_empty())
        {
            let start = super::ids::bare(node).map_or(node.span().start, |span| span.start);
            let edits = vec![TextEdit { span: Span::empty(start), new_text: kind.to_owned() }];
            let tooltip = format!("The provider type is {}. {}", known.provider_type, known.summary);
            self.found.push(InlayHint { offset: start, label: kind.to_owned(), behind: false, tooltip, edits });
        }
        let explicit = item.get("id");
        let id = explicit
            .filter(|id| is_written(*id))
            .map_or_else(|| implied_id(&written).to_owned(), |id| id.value().into_owned());
        if self.settings.implicit_id && explicit.is_none() && !id.is_empty() {
            let steps = item.path();
            let edits =
                edit::insert_entry(item.document(), &steps, "id", &edit::quote_scalar(&id), edit::Position::First);
            let edits = edits.unwrap_or_default().into_iter();
            self.found.push(InlayHint {
                offset: node.span().end,
                label: format!("id: {id}"),
                behind: true,
                tooltip: "Without an id the provider has the name of its type, after the last \"::\"".to_owned(),
                edits: edits.map(|edit| TextEdit { span: edit.span, new_text: edit.new_text }).collect(),
            });
        }
        if self.settings.variable {
            self.secret(item.get("apiKey"), &id, "API_KEY");
            for entry in item.get("secretRefs").into_iter().flat_map(|refs| refs.entries()) {
                self.secret(Some(entry.value), &id, &entry.key.key_text());
            }
        }
    }

    fn secret(&mut self, reference: Option<Node<'a>>, id: &str, field: &str) {
        let Some(key) = reference.filter(|node| !node.is_absent()).and_then(|node| node.key()) else { return };
        self.variable(key, variable_name(id, field));
    }

    /// Passwords of stores: their variables are known once a config is generated.
    fn storage(&mut self, resource: &'a Resource) {
        let Some(generated) = self.document.generated(resource) else { return };
        let at = Path::parse("spec.storage");
        for variable in generated.env.iter().filter(|variable| variable.origin.starts_with(&at)) {
            let steps = place::steps(&resource.base, &variable.origin);
            if let Some(key) = self.document.tree().find(&steps).and_then(|node| node.key()) {
                self.variable(key, variable.name.clone());
            }
        }
    }

    /// Behind the colon of a key. Of several variables of one key the first is shown, the others in the tooltip.
    fn variable(&mut self, key: Node<'a>, name: String) {
        let colon = key.span().end + 1;
        match self.found.iter_mut().find(|hint| hint.offset == colon && hint.behind) {
            Some(known) => {
                if !known.label.ends_with('…') {
                    known.label.push_str(", …");
                }
                known.tooltip.push_str(&format!(", {name}"));
            }
            None => {
                let tooltip = format!("Carries the secret to the server: {name}");
                self.behind(colon, name, tooltip);
            }
        }
    }

    fn port(&mut self, resource: &Resource) {
        if self.at(resource, "spec.networking.port").is_some() {
            return;
        }
        let place = ["spec.networking", "spec"].iter().find_map(|path| {
            let node = self.at(resource, path)?;
            Some((node, node.key()?))
        });
        let Some((node, key)) = place.filter(|(node, _)| node.is_mapping() && !node.is_flow()) else { return };
        let name = if node.get("distribution").is_some() { "networking.port" } else { "port" };
        let tooltip = format!("The port that the server listens on where {name} is not given");
        self.behind(key.span().end + 1, format!("{name}: {DEFAULT_PORT}"), tooltip);
    }

    fn behind(&mut self, offset: usize, label: String, tooltip: String) {
        self.found.push(InlayHint { offset, label, behind: true, tooltip, edits: Vec::new() });
    }
}

fn is_written(node: Node<'_>) -> bool {
    node.is_scalar() && !node.is_absent() && !node.value().is_empty() && !node.value().contains(['{', '$', '<'])
}
