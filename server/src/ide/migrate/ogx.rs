//! A `LlamaStackDistribution` rewritten as an `OGXServer`, comments and formatting kept; and the label by which the new
//! operator sees the objects that it names.

use super::moves::Moves;
use super::write::{self, Written};
use super::{NotMigrated, comments, is_readable};
use crate::ide::document::{DocumentAnalysis, Resource};
use crate::ide::objects::ObjectKey;
use crate::ide::types::TextEdit;
use crate::ide::{Analysis, fix, place};
use llsd_generator::api::Kind;
use llsd_generator::check::ReferenceKind;
use llsd_generator::check::finding::FixEdit;
use llsd_generator::ogx::WATCH_LABEL as WATCH;
use llsd_generator::ogx::migrate::{self, Class, Options, Told};
use llsd_generator::path::Path;
use serde_json::Value;
use std::collections::BTreeSet;

/// What came of a migration to ogx.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToOgx {
    /// The change of the file.
    pub edits: Vec<TextEdit>,
    /// What to tell, the losses first.
    pub told: Vec<Told>,
    /// Comments of fields that the new resource does not have, each with its field.
    pub homeless: Vec<(Path, String)>,
    /// The Secrets and ConfigMaps that have to carry the label.
    pub labelled: BTreeSet<(ReferenceKind, ObjectKey)>,
    /// Old and new name, and the namespace, of each resource.
    pub renamed: Vec<Renamed>,
}

/// A resource that became another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The namespace; empty where none is named.
    pub namespace: String,
    /// The name of the `LlamaStackDistribution`.
    pub old: String,
    /// The name of the `OGXServer`.
    pub new: String,
    /// Whether it has a volume.
    pub has_volume: bool,
    /// Whether its children are owned as `llamastack.io/v1alpha2`, which the new operator refuses to adopt.
    pub is_v1alpha2: bool,
}

impl ToOgx {
    /// Whether nothing gets lost or changes.
    #[must_use]
    pub fn means_the_same(&self) -> bool {
        self.told.iter().all(|one| one.class == Class::Added)
    }

    /// What there is to say, worst first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let homeless = self.homeless.iter();
        let homeless = homeless.map(|(path, text)| format!("note: the comment of {path} is left out: {text}"));
        self.told.iter().map(ToString::to_string).chain(homeless).collect()
    }
}

/// Whether a resource can become an `OGXServer`.
fn is_old(resource: &Resource) -> bool {
    resource.version.kind() == Kind::LlamaStackDistribution
}

/// The documents with resources that can become an `OGXServer`.
pub(crate) fn documents(analysis: &Analysis) -> Vec<usize> {
    let all = analysis.documents().filter(|located| located.document.resources().iter().any(is_old));
    all.map(|located| located.number).collect()
}

/// Rewrites every `LlamaStackDistribution` of document number `document`.
///
/// # Errors
/// There is none, or one cannot be rewritten: then all of them stay as they are.
pub(crate) fn of_document(analysis: &Analysis, document: usize, options: &Options) -> Result<ToOgx, NotMigrated> {
    let located = analysis.document(document).ok_or(NotMigrated::NoResource)?;
    let mut all = ToOgx::default();
    for resource in located.document.resources().iter().filter(|one| is_old(one)) {
        of_resource(located.document, resource, options, &mut all)?;
    }
    all.edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
    if all.edits.is_empty() { Err(NotMigrated::NoResource) } else { Ok(all) }
}

fn of_resource(
    document: &DocumentAnalysis,
    resource: &Resource,
    options: &Options,
    all: &mut ToOgx,
) -> Result<(), NotMigrated> {
    is_readable(document, resource)?;
    let tree = document.tree();
    let root = tree.find(&place::steps(&resource.base, &Path::root())).ok_or(NotMigrated::NoResource)?;
    let mut object = Value::clone(&resource.value);
    object["apiVersion"] = Value::from(resource.version.api_version());
    let migration = migrate::migrate(&object, document.facts(), options).map_err(|error| match error {
        migrate::MigrateError::OtherKind => NotMigrated::NoResource,
        migrate::MigrateError::Invalid(findings) => NotMigrated::Invalid(findings),
        migrate::MigrateError::Refused(findings) => NotMigrated::Refused(findings),
    })?;
    let moves = Moves::new(migration.moves);
    let Written { text, homeless, .. } = write::resource(tree, root, resource, &migration.value, &moves, None);
    all.edits.push(TextEdit { span: comments::whole(tree, root), new_text: text });
    all.told.extend(migration.told);
    all.told.sort_by_key(|one| one.class);
    all.homeless.extend(homeless);
    let namespace = resource.namespace().to_owned();
    let key = |(kind, name)| (kind, (namespace.clone(), name));
    all.labelled.extend(migration.labelled.into_iter().map(key));
    all.renamed.push(Renamed {
        old: resource.name().to_owned(),
        new: migration.value["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
        has_volume: !migration.value["spec"]["workload"]["storage"].is_null(),
        is_v1alpha2: resource.version.name() == "v1alpha2",
        namespace,
    });
    Ok(())
}

/// The edits of a file that give the label to those of the objects that are in it, and which these are.
pub(crate) fn label(
    analysis: &Analysis,
    wanted: &BTreeSet<(ReferenceKind, ObjectKey)>,
) -> (Vec<TextEdit>, BTreeSet<(ReferenceKind, ObjectKey)>) {
    let (mut edits, mut found) = (Vec::new(), BTreeSet::new());
    for located in analysis.documents() {
        let tree = located.document.tree();
        let Some(root) = tree.root() else { continue };
        let text = |steps: [&str; 2]| {
            let node =
                root.get(steps[0]).and_then(|node| if steps[1].is_empty() { Some(node) } else { node.get(steps[1]) });
            node.map(|node| node.value().into_owned()).unwrap_or_default()
        };
        let kind = match text(["kind", ""]).as_str() {
            "Secret" => ReferenceKind::Secret,
            "ConfigMap" => ReferenceKind::ConfigMap,
            _ => continue,
        };
        let (namespace, name) = (text(["metadata", "namespace"]), text(["metadata", "name"]));
        let fits = |(of, key): &&(ReferenceKind, ObjectKey)| {
            *of == kind && key.1 == name && (key.0 == namespace || key.0.is_empty() || namespace.is_empty())
        };
        let Some(object) = wanted.iter().find(fits) else { continue };
        found.insert(object.clone());
        let labels = Path::parse("metadata.labels");
        let path = labels.key(WATCH);
        let change = match tree.find(&place::steps(&Path::root(), &path)) {
            Some(node) if node.value() == "true" => continue,
            Some(_) => FixEdit::Replace { path, value: "true".into() },
            None if tree.find(&place::steps(&Path::root(), &labels)).is_none() => {
                FixEdit::Insert { path: labels, value: serde_json::json!({ WATCH: "true" }) }
            }
            None => FixEdit::Insert { path, value: "true".into() },
        };
        let made = fix::text_edits(tree, &Path::root(), &[change]).unwrap_or_default().into_iter();
        edits.extend(made.map(|edit| TextEdit { span: edit.span.shift(located.offset), ..edit }));
    }
    (edits, found)
}
