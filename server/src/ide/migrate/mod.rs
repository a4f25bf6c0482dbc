//! A v1alpha1 resource rewritten as v1alpha2, comments and formatting kept.

mod comments;
mod moves;
mod write;

use super::document::{DocumentAnalysis, Resource};
use super::types::TextEdit;
use super::{Analysis, FileEdits, place};
use llsd_generator::api::ApiVersion;
use llsd_generator::fold::{self, ConfigChange, Migration, MigrationReport, Options};
use llsd_generator::generate::CONFIG_KEY;
use llsd_generator::path::Path;
use llsd_yaml::parse_document;
use moves::Moves;
use serde_json::Value;
use std::sync::Arc;

/// A rewritten resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    /// The change of the file.
    pub edits: Vec<TextEdit>,
    /// Changes of other files.
    pub others: Vec<FileEdits>,
    /// A file that goes away with it.
    pub deletes: Option<Arc<str>>,
    /// What does not mean the same as before, or needs a look; empty if nothing does.
    pub report: Vec<String>,
    /// Comments of a folded config that have no place in the resource, each with its `#`. They stay in the ConfigMap as
    /// long as that does.
    pub left: Vec<String>,
}

/// What a report says where there is nothing to say.
const SAME: &str = "the generated config means the same as before";

impl Migrated {
    /// The part of the report that somebody has to look at, who sees the text change.
    #[must_use]
    pub fn noteworthy(&self) -> Vec<String> {
        self.report.iter().filter(|line| *line != SAME).cloned().collect()
    }
}

/// Rewrites every v1alpha1 resource of document number `document`. `None`: there is none, or the document is not
/// well-formed, so that rewriting could lose something.
pub(crate) fn of_document(analysis: &Analysis, document: usize) -> Option<Migrated> {
    let located = analysis.document(document)?;
    let mut all = Migrated::default();
    for resource in located.document.resources().iter().filter(|one| one.version == ApiVersion::V1Alpha1) {
        let migrated = migrate(located.document, resource)?;
        all.report.extend(migrated.report);
        all.left.extend(migrated.left);
        all.edits.extend(
            migrated
                .edits
                .into_iter()
                .map(|edit| TextEdit { span: edit.span.shift(located.offset), new_text: edit.new_text }),
        );
    }
    (!all.edits.is_empty()).then_some(all)
}

/// Rewrites one resource; spans are relative to the document.
pub(crate) fn migrate(document: &DocumentAnalysis, resource: &Resource) -> Option<Migrated> {
    migrate_with(document, resource, Options::default()).map(|(migrated, _)| migrated)
}

/// Whether a resource is of the older version, and written so that it can be rewritten without losing anything.
pub(crate) fn is_possible(document: &DocumentAnalysis, resource: &Resource) -> bool {
    let tree = document.tree();
    let root = tree.find(&place::steps(&resource.base, &Default::default()));
    resource.version == ApiVersion::V1Alpha1
        && tree.errors().is_empty()
        && tree.strict_error().is_none()
        && root.is_some_and(|root| root.is_mapping() && !root.is_flow())
}

/// Rewrites one resource, folding what `options` say; with its new value. Spans are relative to the document.
pub(crate) fn migrate_with(
    document: &DocumentAnalysis,
    resource: &Resource,
    options: Options,
) -> Option<(Migrated, Value)> {
    if !is_possible(document, resource) {
        return None;
    }
    let tree = document.tree();
    let root = tree.find(&place::steps(&resource.base, &Default::default()))?;
    let migration = converted(document, resource, options)?;
    let config = folded_config(document, resource, &migration.value).map(|text| parse_document(&text));
    let moves = Moves::new(migration.moves);
    let (text, left) = write::resource(tree, root, resource, &migration.value, &moves, config.as_ref());
    let span = comments::whole(tree, root);
    let report = report(&migration.report);
    let edits = vec![TextEdit { span, new_text: text }];
    Some((Migrated { edits, report, left, ..Migrated::default() }, migration.value))
}

/// The config that the resource took in, if it took in any.
fn folded_config(document: &DocumentAnalysis, resource: &Resource, new: &Value) -> Option<String> {
    if Path::parse("spec.overrideConfig").find(new).is_some() {
        return None;
    }
    let text =
        |path: &str| Path::parse(path).find(&resource.value).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("spec.server.userConfig.configMapName")?;
    let namespace = text("spec.server.userConfig.configMapNamespace").unwrap_or_else(|| resource.namespace());
    let known = document.facts().config_maps.as_ref()?;
    [namespace, ""]
        .iter()
        .find_map(|place| known.get(&((*place).to_owned(), name.to_owned()))?.get(CONFIG_KEY).cloned())
}

fn converted(document: &DocumentAnalysis, resource: &Resource, options: Options) -> Option<Migration> {
    let mut object = resource.value.clone();
    // an object of an older group is migrated as what it was meant to be
    *object.get_mut("apiVersion")? = Value::from(resource.version.api_version());
    fold::migrate_with(&object, document.facts(), options).ok()
}

/// What the user should know, one line each.
fn report(report: &MigrationReport) -> Vec<String> {
    let lost = report.lost.iter().map(|one| format!("no place in v1alpha2: {one}"));
    let config = match &report.config {
        ConfigChange::Untouched => Vec::new(),
        ConfigChange::Same => vec![SAME.to_owned()],
        ConfigChange::Differs(places) => places.iter().map(|one| format!("the config differs: {one}")).collect(),
    };
    report.notes.iter().cloned().chain(lost).chain(config).collect()
}
