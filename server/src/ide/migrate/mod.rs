//! A v1alpha1 resource rewritten as v1alpha2, comments and formatting kept.

mod comments;
pub(crate) mod config;
mod moves;
pub(crate) mod ogx;
mod operations;
mod outcome;
pub(crate) mod outside_ogx;
pub(crate) mod patched_ogx;
mod prepare;
mod together;
pub(crate) mod together_ogx;
mod write;

pub use config::MigratedConfig;
pub use outcome::{Migrated, NotMigrated};
pub(crate) use together::of_group;

use super::document::DocumentAnalysis;
use super::names::{Query, TextId};
use super::resource::Resource;
use super::types::TextEdit;
use super::{Analysis, place};
use llsd_generator::api::{ApiVersion, CONFIG_KEY};
use llsd_generator::fold::{self, MigrateError, Migration, Options, UserConfig};
use llsd_generator::path::Path;
use llsd_yaml::{Document, Node, SkippedKind, parse_document};
use moves::Moves;
use prepare::Mend;
use serde_json::{Map, Value};
use write::Written;

/// The rewrite of every v1alpha1 resource in document number `document` (from 0) of the asked file as v1alpha2, comments
/// kept. Where kustomizations patch what the file has, all of it is rewritten, and the patches with it.
///
/// # Errors
/// There is none, or one cannot be rewritten without a loss: then all of them stay.
pub fn of_query(query: &Query<'_>, document: usize, options: Options) -> Result<Migrated, NotMigrated> {
    let analysis = query.analysis.ok_or(NotMigrated::NoResource)?;
    match is_bound(query) {
        true => of_group(query, options),
        false => of_document(analysis, document, options),
    }
}

/// Whether what a file has cannot be rewritten alone: kustomizations patch it, or change it in ways that are not
/// followed.
pub(crate) fn is_bound(query: &Query<'_>) -> bool {
    let TextId::File(file) = &query.place else { return false };
    query.analysis.is_some_and(|analysis| analysis.workspace().is_bound(file))
}

/// Rewrites every v1alpha1 resource of document number `document`.
///
/// # Errors
/// There is none, or one cannot be rewritten without a loss: then all of them stay as they are.
pub(crate) fn of_document(analysis: &Analysis, document: usize, options: Options) -> Result<Migrated, NotMigrated> {
    mended(analysis, (document, Mend::ShapeAndAddresses), options)
}

/// The same with this much mended before.
///
/// # Errors
/// See [`of_document`].
fn mended(analysis: &Analysis, (document, mend): (usize, Mend), options: Options) -> Result<Migrated, NotMigrated> {
    prepare::prepared(analysis, (document, mend), |analysis| {
        let located = analysis.document(document).ok_or(NotMigrated::NoResource)?;
        let mut all = Migrated::default();
        for resource in located.document.resources().iter().filter(|one| one.version == ApiVersion::V1Alpha1) {
            all.extend(of_resource(analysis, located.document, resource, options)?.0);
        }
        all.shift(located.offset);
        if all.edits.is_empty() { Err(NotMigrated::NoResource) } else { Ok(all) }
    })
}

/// Rewrites the resource of this number in document number `document`. Also says whether the resource uses a ConfigMap
/// of its own from now on.
///
/// # Errors
/// See [`of_document`].
pub(crate) fn of_one(
    analysis: &Analysis,
    (document, resource): (usize, usize),
    options: Options,
) -> Result<(Migrated, bool), NotMigrated> {
    let mut overrides = true;
    let migrated = prepare::prepared(analysis, (document, Mend::Shape), |analysis| {
        let located = analysis.document(document).ok_or(NotMigrated::NoResource)?;
        let resource = located.document.resources().get(resource).ok_or(NotMigrated::NoResource)?;
        let (mut migrated, value) = of_resource(analysis, located.document, resource, options)?;
        overrides = Path::parse("spec.overrideConfig").find(&value).is_some();
        migrated.shift(located.offset);
        Ok(migrated)
    })?;
    Ok((migrated, overrides))
}

/// Whether a resource is of the older version, and written so that it can be rewritten without losing anything.
///
/// # Errors
/// Why not.
pub(crate) fn is_possible(document: &DocumentAnalysis, resource: &Resource) -> Result<(), NotMigrated> {
    if resource.version != ApiVersion::V1Alpha1 {
        return Err(NotMigrated::NoResource);
    }
    is_readable(document, resource)
}

/// Whether a resource is written so that it can be rewritten without losing anything.
///
/// # Errors
/// Why not.
pub(crate) fn is_readable(document: &DocumentAnalysis, resource: &Resource) -> Result<(), NotMigrated> {
    if document.is_part() {
        return Err(NotMigrated::Part);
    }
    check_shape(document, resource).map(|_| ())
}

/// The root of a resource or patch that is written so that it can be written anew.
///
/// # Errors
/// Why not.
fn check_shape<'d>(document: &'d DocumentAnalysis, resource: &Resource) -> Result<Node<'d>, NotMigrated> {
    let tree = document.tree();
    if let Some(skipped) = tree.skipped().iter().find(|skipped| skipped.kind == SkippedKind::Template) {
        let line = tree.text()[..skipped.span.start].matches('\n').count() + 1;
        return Err(NotMigrated::Template { line });
    }
    if let Some(error) =
        tree.errors().first().map(|error| &error.message).or(tree.strict_error().map(|one| &one.message))
    {
        return Err(NotMigrated::NotWellFormed { message: error.clone() });
    }
    let root = tree.find(&place::steps(&resource.base, &Path::root()));
    match root.filter(|root| root.is_mapping()) {
        Some(root) if root.is_flow() => Err(NotMigrated::Flow),
        Some(root) => Ok(root),
        None => Err(NotMigrated::NoResource),
    }
}

/// Rewrites one resource, folding what `options` say; with its new value. Spans are relative to the document.
fn of_resource(
    analysis: &Analysis,
    document: &DocumentAnalysis,
    resource: &Resource,
    options: Options,
) -> Result<(Migrated, Value), NotMigrated> {
    is_possible(document, resource)?;
    let tree = document.tree();
    let root = tree.find(&place::steps(&resource.base, &Path::root())).ok_or(NotMigrated::NoResource)?;
    let user_config = user_config(resource).map_or(UserConfig::NotHere, |key| analysis.user_config(&key));
    let mut object = Value::clone(&resource.value);
    object["apiVersion"] = Value::from(resource.version.api_version());
    let mut migration = fold::migrate_with(&object, document.facts(), user_config, options)?;
    if !migration.report.refused.is_empty() {
        return Err(NotMigrated::Refused(migration.report.refused));
    }
    let folded = Path::parse("spec.overrideConfig").find(&migration.value).is_none();
    let config = match user_config {
        UserConfig::Data(data) if folded => data.get(CONFIG_KEY).map(|text| parse_document(text)),
        _ => None,
    };
    keep_commented(tree, root, resource, &mut migration);
    let moves = Moves::new(migration.moves);
    let Written { text, left, homeless } =
        write::resource(tree, root, resource, &migration.value, &moves, config.as_ref());
    let span = comments::whole(tree, root);
    let edits = vec![TextEdit { span, new_text: text }];
    let migrated = Migrated { edits, reports: vec![migration.report], left, homeless, ..Migrated::default() };
    Ok((migrated, migration.value))
}

/// Writes a default out again that somebody has commented on.
fn keep_commented(tree: &Document, root: Node<'_>, resource: &Resource, migration: &mut Migration) {
    let (old, new) = (Path::parse("spec.replicas"), Path::parse("spec.workload.replicas"));
    let Some(value) = old.find(&resource.value).filter(|_| new.find(&migration.value).is_none()) else { return };
    let whole: Path = resource.base.segments().iter().chain(old.segments()).cloned().collect();
    if comments::inside(tree, root).iter().any(|comment| comment.path == whole) {
        let Some(spec) = migration.value.get_mut("spec").and_then(Value::as_object_mut) else { return };
        if let Some(workload) = spec.entry("workload").or_insert_with(|| Value::Object(Map::new())).as_object_mut() {
            workload.insert("replicas".to_owned(), value.clone());
            migration.moves.push((old, new));
        }
        // where it would stand without a comment
        if let Some((name, config)) = spec.shift_remove_entry("overrideConfig") {
            spec.insert(name, config);
        }
    }
}

/// Namespace and name of the ConfigMap with the server's config.
pub(crate) fn user_config(resource: &Resource) -> Option<super::objects::ObjectKey> {
    let name = Path::parse("spec.server.userConfig.configMapName").find(&resource.value)?.as_str()?;
    Some((resource.namespace().to_owned(), name.to_owned()))
}

impl From<MigrateError> for NotMigrated {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Convert(error) => Self::Convert(error.to_string()),
            MigrateError::Invalid(findings) => Self::Invalid(findings),
        }
    }
}
