//! Moving what is written in plain text into a Secret: one that is there, or one that is added to the file.

use super::objects::{self, Changes};
use crate::ide::document::DocumentAnalysis;
use crate::ide::meaning::provider_at;
use crate::ide::names::{Query, Symbol};
use crate::ide::resource::Resource;
use crate::ide::types::{Diagnostic, TextEdit};
use crate::ide::{Analysis, Span, fix, knowledge, place};
use llsd_generator::api::v1alpha2::implied_id;
use llsd_generator::check::finding::{FixEdit, Target};
use llsd_generator::path::{Path, Segment};
use llsd_yaml::edit::quote_scalar;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Known Secrets that are offered at most: each is an action of its own in the menu.
const KNOWN: usize = 3;

/// Title and edits that move the secret of a finding into a Secret of the same file.
pub(super) fn keep_in_secret(analysis: &Analysis, diagnostic: &Diagnostic) -> Option<(String, Vec<TextEdit>)> {
    let located = analysis.document(diagnostic.document)?;
    let document = located.document;
    let path = Path::parse(&diagnostic.path);
    let tree = document.tree();
    let resource = spoken_of(document, located.offset, &path, diagnostic)?;
    let text = path.find(&resource.value)?.as_str()?;
    let wanted = Wanted::new(resource, &path)?;
    let name = free(&wanted.name, &taken(analysis, document));
    let reference = json!({"secretKeyRef": {"name": name, "key": wanted.key}});
    let changes = wanted.place.changes(&path, reference)?;
    let mut edits: Vec<TextEdit> = fix::text_edits(tree, &resource.base, &changes)?;
    edits.push(TextEdit {
        span: Span::empty(tree.text().len()),
        new_text: manifest(tree.text(), resource.namespace(), &name, &wanted.key, text),
    });
    edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
    Some((format!("Move it into the new Secret \"{name}\""), edits))
}

/// Titles and changes that move the secret of a finding into a Secret that is there already: one that the resource names,
/// or one of its file.
pub(super) fn keep_in_known(query: &Query<'_>, diagnostic: &Diagnostic) -> Vec<(String, Changes)> {
    let moved = |analysis: &Analysis| {
        let located = analysis.document(diagnostic.document)?;
        let (document, path) = (located.document, Path::parse(&diagnostic.path));
        let resource = spoken_of(document, located.offset, &path, diagnostic)?;
        let text = path.find(&resource.value)?.as_str()?;
        let wanted = Wanted::new(resource, &path)?;
        let own = analysis.documents().flat_map(|located| located.document.objects().secrets.keys());
        let own = own.filter(|(namespace, _)| namespace == resource.namespace());
        let mut known = objects::secrets(document.references());
        known.extend(own.map(|key| Symbol::Secret(key.clone())));
        let mut seen = BTreeSet::new();
        known.retain(|symbol| seen.insert(symbol.clone()));
        let into = |symbol: Symbol| {
            let found = objects::declared(query, &symbol)?;
            let Symbol::Secret(object) = &found.occurrence.symbol else { return None };
            let keys = found.analysis()?.document(found.document)?.document.objects().secrets.get(object)?;
            let longer = format!("{}-{}", wanted.owner, wanted.key);
            let key = [&wanted.key, &longer].into_iter().find(|key| !keys.contains_key(*key))?;
            let reference = json!({"secretKeyRef": {"name": symbol.name(), "key": key}});
            let mut own = fix::text_edits(document.tree(), &resource.base, &wanted.place.changes(&path, reference)?)?;
            own.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
            let mut changes = Changes { own, ..Changes::default() };
            let value = FixEdit::Insert { path: Path::root().key("stringData").key(key), value: text.into() };
            changes.add(query, &found, objects::edits(&found, &[value])?)?;
            let file = objects::in_file(query, &found);
            Some((format!("Move it into Secret \"{}\"{file}", symbol.name()), changes))
        };
        Some(known.into_iter().filter_map(into).take(KNOWN).collect())
    };
    query.analysis.and_then(moved).unwrap_or_default()
}

/// The resource that a finding at `path` speaks of.
fn spoken_of<'d>(
    document: &'d DocumentAnalysis,
    offset: usize,
    path: &Path,
    diagnostic: &Diagnostic,
) -> Option<&'d Resource> {
    document.resources().iter().find(|resource| {
        let span = place::span(document.tree(), &place::steps(&resource.base, path), Target::Value);
        span.shift(offset) == diagnostic.span
    })
}

/// What is to become of the value.
struct Wanted {
    /// A name for the Secret, if it is free.
    name: String,
    /// The key of the Secret's `data` that the new reference names.
    key: String,
    /// What it is the secret of, for a key that says so.
    owner: String,
    place: Place,
}

/// Where a reference to the Secret goes.
enum Place {
    /// `value` of an environment variable becomes `valueFrom`.
    Variable,
    /// A setting becomes the field at this path of the provider.
    Setting(Path),
}

impl Wanted {
    fn new(resource: &Resource, path: &Path) -> Option<Self> {
        if let [.., Segment::Key(list), Segment::Index(_), Segment::Key(value)] = path.segments()
            && list == "env"
            && value == "value"
        {
            let variable = path.parent()?.key("name").find(&resource.value)?.as_str()?;
            let owner = if resource.name().is_empty() { "llama-stack" } else { resource.name() };
            return Some(Self {
                name: format!("{owner}-env"),
                key: variable.to_owned(),
                owner: owner.to_owned(),
                place: Place::Variable,
            });
        }
        let (api, provider) = provider_at(path)?;
        let [Segment::Key(settings), Segment::Key(setting)] = path.segments().get(provider.segments().len()..)? else {
            return None;
        };
        if settings != "settings" {
            return None;
        }
        let entry = provider.find(&resource.value)?;
        let field = |name: &str| entry.get(name).and_then(Value::as_str);
        let (catalog, _) = resource.catalog()?;
        let known = knowledge::provider_type(catalog, api, field("provider")?)?;
        let id = field("id").or_else(|| field("provider").map(implied_id))?;
        let (key, target) = if known.api_key.as_deref() == Some(setting.as_str()) {
            ("api-key".to_owned(), provider.key("apiKey"))
        } else {
            (setting.replace('_', "-"), provider.key("secretRefs").key(setting))
        };
        let name = format!("{}-credentials", label(id));
        let place = target.find(&resource.value).is_none().then_some(Place::Setting(target))?;
        Some(Self { name, key, owner: label(id), place })
    }
}

impl Place {
    fn changes(&self, path: &Path, reference: Value) -> Option<Vec<FixEdit>> {
        Some(match self {
            Self::Variable => {
                let new = path.parent()?.key("valueFrom");
                vec![
                    FixEdit::RenameKey { path: path.clone(), to: "valueFrom".to_owned() },
                    FixEdit::Replace { path: new, value: reference },
                ]
            }
            Self::Setting(target) => vec![
                FixEdit::Move { from: path.clone(), to: target.clone() },
                FixEdit::Replace { path: target.clone(), value: reference },
            ],
        })
    }
}

/// Names of Secrets that the file has or speaks of.
fn taken(analysis: &Analysis, document: &DocumentAnalysis) -> BTreeSet<String> {
    let own = analysis.documents().flat_map(|located| located.document.objects().secrets.keys());
    let named = objects::secrets(document.references());
    let named = named.iter().map(|symbol| symbol.name().to_owned());
    own.map(|(_, name)| name.clone()).chain(named).collect()
}

fn free(name: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default()
}

/// A text as part of an object's name.
fn label(text: &str) -> String {
    let lower = text.to_lowercase();
    let plain: String = lower.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
    plain.trim_matches('-').to_owned()
}

/// The document of the Secret, to be put behind `before`.
fn manifest(before: &str, namespace: &str, name: &str, key: &str, value: &str) -> String {
    let mut lines = Vec::new();
    if !before.is_empty() && !before.ends_with('\n') {
        lines.push(String::new());
    }
    lines.extend(["---", "apiVersion: v1", "kind: Secret", "metadata:"].map(str::to_owned));
    lines.push(format!("  name: {}", quote_scalar(name)));
    if !namespace.is_empty() {
        lines.push(format!("  namespace: {}", quote_scalar(namespace)));
    }
    lines.extend(["type: Opaque".to_owned(), "stringData:".to_owned()]);
    lines.push(format!("  {}: {}", quote_scalar(key), quote_scalar(value)));
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    lines.into_iter().map(|line| line + newline).collect()
}
