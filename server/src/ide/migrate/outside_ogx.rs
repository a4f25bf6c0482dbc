//! What else in the files speaks of a resource that becomes an `OGXServer`: kustomizations that name the old kind, clients
//! of the old Service, selectors of the old labels. It is told, and not changed: what is right there, its author knows.

use super::ogx::Renamed;
use crate::ide::document::DocumentAnalysis;
use crate::ide::objects::roots;
use crate::ide::{Analysis, place};
use llsd_generator::api::Kind;
use llsd_generator::document::Plain;
use llsd_generator::path::{Path, Segment};
use serde_json::Value;

/// Labels that the old operator gives what it makes, and those of the new one.
const LABELS: [(&str, &str, &str); 3] = [
    ("app", "llama-stack", "ogx"),
    ("app.kubernetes.io/managed-by", "llama-stack-operator", "ogx-operator"),
    ("app.kubernetes.io/part-of", "llama-stack", "ogx"),
];

/// The places of a file that speak of what resources were before they became `OGXServer`s, and do not follow: each with
/// its line, from 1, and a sentence.
#[must_use]
pub fn of_file(analysis: &Analysis, renamed: &[Renamed]) -> Vec<(usize, String)> {
    let text = analysis.text();
    let mut found = Vec::new();
    for located in analysis.documents() {
        let tree = located.document.tree();
        let mentions = of_document(located.document, renamed).into_iter();
        let placed = mentions.filter_map(|(path, message)| {
            let node = tree.find(&place::steps(&Path::root(), &path))?;
            let start = located.offset + node.span().start;
            Some((text[..start].matches('\n').count() + 1, message))
        });
        found.extend(placed);
    }
    found
}

fn of_document(document: &DocumentAnalysis, renamed: &[Renamed]) -> Vec<(Path, String)> {
    let value = Plain::read(document.tree()).value;
    let mut found = Vec::new();
    if document.objects().kustomization.is_some() {
        of_kustomization(&value, &Path::root(), &mut found);
        return found;
    }
    for root in roots(&value) {
        let Some(object) = root.find(&value) else { continue };
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        // Resources of ours are migrated, and workloads select pods of their own.
        if text("kind").is_empty() || Kind::named(text("kind")).is_some() {
            continue;
        }
        let is_workload = object["spec"]["template"].is_object();
        let (own, namespace) = (&renamed, object["metadata"]["namespace"].as_str().unwrap_or_default());
        let near: Vec<&Renamed> = own
            .iter()
            .filter(|one| namespace.is_empty() || one.namespace.is_empty() || namespace == one.namespace)
            .collect();
        visit(object, &root, &mut |path, value| {
            let Value::String(text) = value else { return };
            // Only in its own namespace the bare name leads to the Service.
            for one in renamed.iter().filter(|one| one.old != one.new) {
                let service = format!("{}-service", one.old);
                let reaches = near.iter().any(|other| other.old == one.old)
                    || text.contains(&format!("{service}.{}", one.namespace));
                if reaches && has_word(text, &service) {
                    found.push((path.clone(), format!(
                        "names Service \"{service}\", which is gone once {} gives up adopt-networking: \"{}-service\" takes its place",
                        one.new, one.new
                    )));
                }
            }
            if let Some((label, old, new)) = selected(path, text).filter(|_| !is_workload) {
                found.push((path.clone(), format!("selects {label}: {old}, which the new operator sets to {new}")));
            }
        });
    }
    found
}

/// The label of the old operator that a selector asks for.
fn selected(path: &Path, text: &str) -> Option<(&'static str, &'static str, &'static str)> {
    let Some(Segment::Key(key)) = path.last() else { return None };
    let is_selector = |segment: &Segment| matches!(segment, Segment::Key(name) if matches!(name.as_str(), "matchLabels" | "selector" | "podSelector"));
    let known = LABELS.iter().find(|(label, old, _)| label == key && *old == text)?;
    path.segments().iter().any(is_selector).then_some(*known)
}

/// Places of a kustomization that name the kind, texts of patches among them.
fn of_kustomization(value: &Value, at: &Path, found: &mut Vec<(Path, String)>) {
    let kind = Kind::LlamaStackDistribution.name();
    visit(value, at, &mut |path, value| {
        let is_named = |text: &str| has_word(text, kind);
        if value.as_str().is_some_and(is_named) {
            let message = format!("names the kind {kind}, which is {} from now on", Kind::OgxServer.name());
            found.push((path.clone(), message));
        }
    });
}

/// Every scalar below a place. As deep as a document that was read, which is bounded.
fn visit(value: &Value, at: &Path, told: &mut dyn FnMut(&Path, &Value)) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| visit(value, &at.key(name.as_str()), told)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(number, value)| visit(value, &at.index(number), told));
        }
        scalar => told(at, scalar),
    }
}

/// Whether a name stands in a text, and not as a part of a longer one.
fn has_word(text: &str, name: &str) -> bool {
    let joins = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        !before.is_some_and(joins) && !after.is_some_and(joins)
    })
}
