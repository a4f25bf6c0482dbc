//! A `LlamaStackDistribution` rewritten as an `OGXServer`, comments and formatting kept, with what has to change together
//! with it.

use super::moves::Moves;
use super::together_ogx::{Concerned, Together};
use super::write::{self, Written};
use super::{NotMigrated, comments, is_readable};
use crate::ide::document::DocumentAnalysis;
use crate::ide::names::Query;
use crate::ide::rename::FileEdits;
use crate::ide::resource::Resource;
use crate::ide::types::TextEdit;
use crate::ide::{Analysis, place};
use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::check::ReferenceKind;
use llsd_generator::fold::{Line, LineKind};
use llsd_generator::ogx::migrate::{self, Class, MigrateError, Migration, Mounted, Options, Told};
use llsd_generator::path::Path;
use serde_json::Value;
use std::sync::Arc;

/// What came of a migration to ogx.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToOgx {
    /// The change of the file.
    pub edits: Vec<TextEdit>,
    /// Changes of other files, which have what the resource names.
    pub others: Vec<FileEdits>,
    /// What there is to tell of the resources, and of what they name.
    pub concerned: Concerned,
    /// Comments of fields that the new resource does not have, each with its field.
    pub homeless: Vec<(Path, String)>,
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
}

impl ToOgx {
    /// Whether nothing gets lost or changes.
    #[must_use]
    pub fn means_the_same(&self) -> bool {
        self.concerned.told.iter().all(|one| one.class == Class::Added)
    }

    /// What there is to say, worst first.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let line = |one: &Told| Line {
            kind: LineKind::Difference(one.class),
            text: format!("{}: {}", one.place, one.message),
        };
        let (added, others): (Vec<&Told>, Vec<_>) =
            self.concerned.told.iter().partition(|one| one.class == Class::Added);
        let homeless = self.homeless.iter();
        let homeless = homeless.map(|(path, text)| format!("the comment of {path} is left out: {text}"));
        let notes = self.concerned.notes.iter().cloned().chain(homeless);
        let notes = notes.map(|text| Line { kind: LineKind::Note, text });
        others.into_iter().map(line).chain(notes).chain(added.into_iter().map(line)).collect()
    }
}

/// Whether a resource can become an `OGXServer`.
pub(super) fn is_old(resource: &Resource) -> bool {
    resource.version.kind() == Kind::LlamaStackDistribution
}

/// The documents with resources that can become an `OGXServer`, by their numbers from 0.
#[must_use]
pub fn documents(analysis: &Analysis) -> Vec<usize> {
    let all = analysis.documents().filter(|located| located.document.resources().iter().any(is_old));
    all.map(|located| located.number).collect()
}

/// The rewrite of every `LlamaStackDistribution` in document number `document` (from 0) of the asked file as `OGXServer`,
/// comments kept, with the configs that they mount and the label that the new operator asks for on what they name. Files
/// for which `may_change` says no stay as they are.
///
/// # Errors
/// There is none, or one cannot be rewritten, or not with its config: then all of them stay.
pub fn of_query(
    query: &Query<'_>,
    document: usize,
    options: &Options,
    may_change: &dyn Fn(&Arc<str>) -> bool,
) -> Result<ToOgx, NotMigrated> {
    let located = query.analysis.and_then(|analysis| analysis.document(document)).ok_or(NotMigrated::NoResource)?;
    let mut all = ToOgx::default();
    let mut named = Vec::new();
    for resource in located.document.resources().iter().filter(|one| is_old(one)) {
        named.push(of_resource(located.document, resource, options, &mut all)?);
    }
    if all.edits.is_empty() {
        return Err(NotMigrated::NoResource);
    }
    all.edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
    let mut together = Together::new(query, may_change)?;
    together.apply_own(&all.edits);
    for one in named {
        one.take_along(&mut together, &mut all.concerned)?;
    }
    (all.edits, all.others) = together.finish();
    all.concerned.told.sort_by_key(|one| one.class);
    Ok(all)
}

/// The objects that a resource names and that change with it.
#[derive(PartialEq)]
pub(super) struct Named {
    namespace: String,
    /// The config, and the field that names it.
    config: Option<(Mounted, &'static str)>,
    /// The objects that have to carry the label.
    labelled: Vec<(ReferenceKind, String)>,
}

impl Named {
    /// Those of a resource of `version` that became this.
    pub(super) fn of(migration: Migration, version: ApiVersion, namespace: String) -> Self {
        let place = match version {
            ApiVersion::V1Alpha1 => "spec.server.userConfig",
            ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => "spec.overrideConfig",
        };
        let config = migration.config.map(|mounted| (mounted, place));
        Self { namespace, config, labelled: migration.labelled }
    }

    /// Rewrites the config, and labels the objects, wherever they stand.
    pub(super) fn take_along(self, together: &mut Together<'_>, all: &mut Concerned) -> Result<(), NotMigrated> {
        if let Some((mounted, place)) = &self.config {
            together.config(&self.namespace, mounted, place, all)?;
        }
        for (kind, name) in self.labelled {
            let object = (self.namespace.clone(), name);
            if !together.label(kind, &object) {
                all.elsewhere.insert((kind, object));
            }
        }
        Ok(())
    }
}

impl Renamed {
    /// What the resource of this namespace and name is called now.
    pub(super) fn of(value: &Value, namespace: String, old: String) -> Self {
        let new = value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        Self { namespace, old, new, has_volume: !value["spec"]["workload"]["storage"].is_null() }
    }
}

/// Why a resource has no successor.
pub(super) fn refused(error: MigrateError) -> NotMigrated {
    match error {
        MigrateError::OtherKind => NotMigrated::NoResource,
        MigrateError::Invalid(findings) => NotMigrated::Invalid(findings),
        MigrateError::Refused(findings) => NotMigrated::OgxRefused(findings),
    }
}

pub(super) fn of_resource(
    document: &DocumentAnalysis,
    resource: &Resource,
    options: &Options,
    all: &mut ToOgx,
) -> Result<Named, NotMigrated> {
    is_readable(document, resource)?;
    let tree = document.tree();
    let root = tree.find(&place::steps(&resource.base, &Path::root())).ok_or(NotMigrated::NoResource)?;
    let mut object = Value::clone(&resource.value);
    object["apiVersion"] = Value::from(resource.version.api_version());
    let migration = migrate::migrate(&object, &resource.unknown, document.facts(), options).map_err(refused)?;
    let moves = Moves::new(migration.moves.clone());
    let Written { text, homeless, .. } = write::resource(tree, root, resource, &migration.value, &moves, None);
    all.edits.push(TextEdit { span: comments::whole(tree, root), new_text: text });
    all.concerned.told.extend(migration.told.iter().cloned());
    all.homeless.extend(homeless);
    let namespace = resource.namespace().to_owned();
    all.renamed.push(Renamed::of(&migration.value, namespace.clone(), resource.name().to_owned()));
    Ok(Named::of(migration, resource.version, namespace))
}
