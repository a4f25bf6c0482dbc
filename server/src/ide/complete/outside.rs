//! Where no resource is yet: the two fields that make one, and a whole one to start from.

use super::offer::Offer;
use crate::ide::document::DocumentAnalysis;
use crate::ide::objects::object_list;
use crate::ide::types::CompletionKind;
use llsd_generator::api::{ApiVersion, Kind};
use llsd_yaml::Step;
use llsd_yaml::cursor::{Cursor, CursorPlace};

/// Keys that every manifest has; with others, the document is something else.
const OF_MANIFESTS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];

pub(super) fn offers(document: &DocumentAnalysis, cursor: &Cursor) -> Vec<Offer> {
    let in_list = is_item(document, &cursor.container);
    let first_of_item = matches!(&cursor.place, CursorPlace::Item { path } if is_item(document, path));
    if !(cursor.container.is_empty() || in_list || first_of_item) || !could_become_one(document, cursor) {
        return Vec::new();
    }
    match &cursor.place {
        CursorPlace::Value { path } => match path.last() {
            Some(Step::Key(name)) if name == "apiVersion" => newest_first()
                .map(|version| Offer::value(version.api_version(), CompletionKind::Enum).detail(version.kind().name()))
                .collect(),
            Some(Step::Key(name)) if name == "kind" => {
                Kind::ALL.map(|kind| Offer::value(kind.name(), CompletionKind::Enum)).to_vec()
            }
            _ => Vec::new(),
        },
        CursorPlace::Key { existing } => keys(existing),
        CursorPlace::Item { .. } if first_of_item => keys(&[]),
        _ => Vec::new(),
    }
}

fn keys(existing: &[String]) -> Vec<Offer> {
    let mut found = Vec::new();
    if existing.is_empty() {
        found.extend([whole(), whole_ogx()]);
    }
    for (name, line) in [
        ("apiVersion", format!("apiVersion: {}", ApiVersion::V1Alpha2.api_version())),
        ("kind", format!("kind: {}", Kind::LlamaStackDistribution.name())),
    ] {
        if !existing.iter().any(|key| key == name) {
            found.push(Offer::key(name, vec![line]));
        }
    }
    found
}

/// The versions of every kind, kind by kind.
fn newest_first() -> impl Iterator<Item = ApiVersion> {
    Kind::ALL.into_iter().flat_map(|kind| kind.versions().iter().rev().copied())
}

/// Whether the path leads to an item of an [`object_list`] whose kind is written: other YAML has lists `items`, too.
fn is_item(document: &DocumentAnalysis, path: &[Step]) -> bool {
    let [Step::Key(list), Step::Index(_)] = path else { return false };
    let Some(root) = document.tree().root() else { return false };
    let has_items = root.get("items").is_some_and(|items| items.is_sequence());
    root.get("kind").is_some_and(|kind| object_list(&kind.value(), has_items) == Some(list))
}

fn could_become_one(document: &DocumentAnalysis, cursor: &Cursor) -> bool {
    let at = if cursor.container.is_empty() || is_item(document, &cursor.container) {
        document.tree().find(&cursor.container)
    } else {
        return true;
    };
    let Some(root) = at else { return true };
    if root.is_scalar() {
        return !root.value().contains(char::is_whitespace);
    }
    root.is_mapping()
        && root.entries().all(|entry| OF_MANIFESTS.contains(&&*entry.key.key_text()) || entry.value.is_absent())
}

fn whole() -> Offer {
    let lines = [
        "apiVersion: llamastack.io/v1alpha2",
        "kind: LlamaStackDistribution",
        "metadata:",
        "  name: ${1:my-llama-stack}",
        "spec:",
        "  distribution:",
        "    name: ${2:starter}",
        "  providers:",
        "    inference:",
        "      - provider: ${3:vllm}",
        "        endpoint: ${4:http://vllm:8000/v1}",
        "  resources:",
        "    models:",
        "      - name: ${5:model}",
    ];
    template(Kind::LlamaStackDistribution, &lines)
}

fn whole_ogx() -> Offer {
    let lines = [
        "apiVersion: ogx.io/v1beta1",
        "kind: OGXServer",
        "metadata:",
        "  name: ${1:my-ogx}",
        "spec:",
        "  distribution:",
        "    name: ${2:starter}",
        "  providers:",
        "    inference:",
        "      remote:",
        "        vllm:",
        "          - id: ${3:vllm}",
        "            endpoint: ${4:http://vllm:8000/v1}",
        "  resources:",
        "    models:",
        "      - name: ${5:model}",
        "        provider: ${3:vllm}",
    ];
    template(Kind::OgxServer, &lines)
}

fn template(kind: Kind, lines: &[&str]) -> Offer {
    let mut offer = Offer::value(kind.name(), CompletionKind::Snippet)
        .detail("a whole resource")
        .documentation(format!("A server ({}) with one inference provider and one model.", kind.server()));
    offer.body = lines.iter().map(|line| (*line).to_owned()).collect();
    offer
}
