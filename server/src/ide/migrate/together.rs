//! A resource and everything that patches it, rewritten together, or not at all.
//!
//! What the patches become is worked out field by field. Whether that is right is found out afterwards: what every
//! kustomization makes of the new texts has to mean what the old ones did.

use super::moves::Moves;
use super::operations;
use super::outcome::{Migrated, NotMigrated};
use super::prepare::Mend;
use super::{check_shape, comments, mended, write};
use crate::ide::document::DocumentAnalysis;
use crate::ide::file_names::{folder_of, way};
use crate::ide::names::{Query, TextId};
use crate::ide::objects::Manifest;
use crate::ide::overlay::{Entry, Group, Made};
use crate::ide::rename::FileEdits;
use crate::ide::types::TextEdit;
use crate::ide::{Analysis, Workspace, analyse, place};
use llsd_generator::api::ApiVersion;
use llsd_generator::check::Facts;
use llsd_generator::fold::{self, Class, Difference, Met, Options, UserConfig};
use llsd_generator::kustomize::Source;
use llsd_generator::path::Path;
use llsd_yaml::edit;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The texts of a group, with what is to change in each.
type Texts = BTreeMap<Arc<str>, (Arc<Analysis>, Vec<TextEdit>)>;

/// A document of a patch, with the resources that it meets.
pub(super) type Body = (Manifest, Vec<Value>);

/// Rewrites the resources of a file that kustomizations patch, with the patches, and with all other resources that these
/// patch. ConfigMaps stay: an overlay may have one of its own.
///
/// # Errors
/// Why all of them stay as they are.
pub(crate) fn of_group(query: &Query<'_>, options: Options) -> Result<Migrated, NotMigrated> {
    let (TextId::File(own), Some(analysis)) = (&query.place, query.analysis) else {
        return Err(NotMigrated::NoResource);
    };
    let workspace = analysis.workspace();
    let group =
        workspace.group(own).map_err(|(by, apart)| NotMigrated::Apart { by: way(folder_of(own), &by), apart })?;
    let together = Together { query, own, workspace, group: &group };
    let folding = Options { config_map: false, ..options };
    together.rewritten(folding).or_else(|why| match folding.env {
        // a patch may set what would be folded
        true => together.rewritten(Options { config_map: false, env: false }),
        false => Err(why),
    })
}

struct Together<'q> {
    query: &'q Query<'q>,
    own: &'q Arc<str>,
    workspace: &'q Workspace,
    group: &'q Group,
}

impl Together<'_> {
    fn analysis(&self, file: &Arc<str>) -> Result<Arc<Analysis>, NotMigrated> {
        let own = self.query.analysis.filter(|_| file == self.own).cloned().map(Arc::new);
        let found = own.or_else(|| self.query.library.analysis(file));
        found.ok_or_else(|| NotMigrated::Unread { file: self.shown(file) })
    }

    /// A file as seen from the one that was asked about.
    fn shown(&self, file: &str) -> String {
        way(folder_of(self.own), file)
    }

    fn rewritten(&self, options: Options) -> Result<Migrated, NotMigrated> {
        let mut texts = Texts::new();
        let mut migrated = Migrated::default();
        let mut facts = Arc::default();
        for file in &self.group.resources {
            let analysis = self.analysis(file)?;
            let mut edits = Vec::new();
            for located in analysis.documents() {
                let is_old = |one: &crate::ide::resource::Resource| one.version == ApiVersion::V1Alpha1;
                if !located.document.resources().iter().any(is_old) {
                    continue;
                }
                facts = Arc::clone(located.document.facts());
                let mut one = mended(&analysis, (located.number, Mend::Shape), options)?;
                edits.append(&mut one.edits);
                migrated.prepared.append(&mut one.prepared);
                migrated.extend(one);
            }
            texts.insert(Arc::clone(file), (analysis, edits));
        }
        for ((file, inline), bodies) in sources(self.group) {
            let analysis = self.analysis(&file)?;
            let edits =
                of_text(&analysis, inline, &bodies, |document, left| self.document(document, left, &facts, options));
            let edits = edits.map_err(|why| NotMigrated::Patch { file: self.shown(&file), why: Box::new(why) })?;
            texts.entry(file).or_insert_with(|| (analysis, Vec::new())).1.extend(edits);
        }
        for entry in &self.group.entries {
            let analysis = self.analysis(&entry.by)?;
            if let Some(edit) = target_version(&analysis, entry) {
                texts.entry(Arc::clone(&entry.by)).or_insert_with(|| (analysis, Vec::new())).1.push(edit);
            }
        }
        let mut after = self.workspace.clone();
        for (file, (analysis, edits)) in &texts {
            let edits: Vec<_> =
                edits.iter().map(|one| edit::TextEdit { span: one.span, new_text: one.new_text.clone() }).collect();
            let text = edit::apply(&analysis.text(), &edits);
            after.set(file, analyse(text.into(), Some(analysis), &Workspace::new()).objects());
        }
        let told: BTreeSet<String> =
            migrated.reports.iter().flat_map(|report| &report.differences).map(ToString::to_string).collect();
        for by in self.workspace.built_by() {
            let differences = self.compared(&by, &after, (&facts, options))?;
            let new = differences.into_iter().filter(|one| !told.contains(&one.to_string()));
            migrated.overlays.extend(new.map(|one| (self.shown(&by), one)));
        }
        migrated.with = texts.keys().filter(|file| *file != self.own).map(|file| self.shown(file)).collect();
        migrated.keeps_variables = !options.env && self.has_variables();
        for (file, (analysis, mut edits)) in texts {
            edits.sort_by_key(|edit| edit.span.start);
            match file == *self.own {
                true => migrated.edits = edits,
                false if edits.is_empty() => {}
                false => migrated.others.push(FileEdits { file, text: analysis.text(), edits }),
            }
        }
        Ok(migrated)
    }

    fn has_variables(&self) -> bool {
        let env = Path::parse("spec.server.containerSpec.env");
        let met = self.group.entries.iter().flat_map(|entry| &entry.bodies).flat_map(|(_, met)| met);
        met.into_iter().any(|value| env.find(value).and_then(Value::as_array).is_some_and(|list| !list.is_empty()))
    }

    /// What is to change in one document of a patch. Takes it out of `left`.
    fn document(
        &self,
        document: &DocumentAnalysis,
        left: &mut Vec<&Body>,
        facts: &Facts,
        options: Options,
    ) -> Result<Vec<TextEdit>, NotMigrated> {
        let tree = document.tree();
        if let Some((written, _)) = document.operations() {
            let Some((_, values)) = take(left, &written.iter().cloned().collect()) else { return Ok(Vec::new()) };
            let met = values.iter().map(|old| {
                let new = fold::migrate_with(old, facts, UserConfig::NotHere, options)?.value;
                Ok(Met { old: old.clone(), new })
            });
            let mut met = met.collect::<Result<Vec<_>, NotMigrated>>()?;
            return operations::rewritten(tree, written, |number, old| {
                fold::operation(number, old, &mut met).map_err(NotMigrated::Unmoved)
            });
        }
        let mut edits = Vec::new();
        for resource in document.resources().iter().filter(|one| one.version == ApiVersion::V1Alpha1) {
            if take(left, &resource.value).is_none() {
                continue;
            }
            let root = check_shape(document, resource)?;
            let (value, moves) = fold::merge_patch(&resource.value).map_err(NotMigrated::Unmoved)?;
            let written = write::resource(tree, root, resource, &value, &Moves::new(moves), None);
            edits.push(TextEdit { span: comments::whole(tree, root), new_text: written.text });
        }
        Ok(edits)
    }

    /// Where what a kustomization builds would no longer mean the same, as far as a migration of it alone would tell.
    ///
    /// # Errors
    /// It would come to something else.
    fn compared(
        &self,
        by: &Arc<str>,
        after: &Workspace,
        (facts, options): (&Facts, Options),
    ) -> Result<Vec<Difference>, NotMigrated> {
        let of_group = |made: &Made| made.comes_from(|file| self.group.resources.contains(file));
        if !self.workspace.made(by).iter().chain(&after.made(by)).any(of_group) {
            return Ok(Vec::new());
        }
        let other = |place: Option<String>| NotMigrated::Built { by: self.shown(by), place };
        // what cannot be built as it is cannot be compared
        let was = self.workspace.followed(by).ok_or_else(|| NotMigrated::NotBuilt { by: self.shown(by) })?;
        let is = after.followed(by).ok_or_else(|| other(None))?;
        if was.len() != is.len() {
            return Err(other(None));
        }
        let mut found = Vec::new();
        for (was, is) in was.iter().zip(&is) {
            if ApiVersion::of(&was.value) != Some(ApiVersion::V1Alpha1) || !of_group(was) {
                if was.value != is.value {
                    return Err(other(None));
                }
                continue;
            }
            let alone = fold::migrate_with(&was.value, facts, UserConfig::NotHere, options)?;
            if !alone.report.refused.is_empty() {
                return Err(NotMigrated::Refused(alone.report.refused));
            }
            let known = alone.report.differences;
            if plain(&alone.value) != plain(&is.value) {
                let new = fold::differences(&was.value, &is.value);
                let first = new.iter().find(|one| !known.contains(one));
                let named = ApiVersion::of(&is.value) == Some(ApiVersion::V1Alpha2)
                    && was.value.get("metadata") == is.value.get("metadata");
                if options.env || !named || first.is_some() {
                    return Err(other(first.map(ToString::to_string)));
                }
            }
            found.extend(known.into_iter().filter(|one| one.class != Class::Added));
        }
        Ok(found)
    }
}

/// The texts of the patches, each once however many kustomizations take it, with all that its documents meet.
pub(super) fn sources(group: &Group) -> BTreeMap<(Arc<str>, Option<usize>), Vec<Body>> {
    let mut sources: BTreeMap<(Arc<str>, Option<usize>), Vec<Body>> = BTreeMap::new();
    for entry in &group.entries {
        let inline = matches!(entry.patch.source, Source::Inline { .. }).then_some(entry.number);
        let known = sources.entry((entry.file(), inline)).or_default();
        for (body, met) in entry.bodies.iter().filter(|(_, met)| !met.is_empty()) {
            match known.iter_mut().find(|(other, _)| other == body) {
                Some((_, all)) => all.extend(met.iter().cloned()),
                None => known.push((body.clone(), met.clone())),
            }
        }
    }
    sources
}

/// What is to change in the text of a patch. `rewrite` has the edits of one document of it, and takes what it knows of
/// that out of the list.
pub(super) fn of_text<'b>(
    analysis: &Analysis,
    inline: Option<usize>,
    bodies: &'b [Body],
    mut rewrite: impl FnMut(&DocumentAnalysis, &mut Vec<&'b Body>) -> Result<Vec<TextEdit>, NotMigrated>,
) -> Result<Vec<TextEdit>, NotMigrated> {
    let mut edits = Vec::new();
    let mut left: Vec<&Body> = bodies.iter().collect();
    for located in analysis.documents() {
        let Some(number) = inline else {
            let own = rewrite(located.document, &mut left)?;
            edits.extend(own.into_iter().map(|edit| TextEdit { span: edit.span.shift(located.offset), ..edit }));
            continue;
        };
        let tree = located.document.tree();
        for embedded in located.document.embedded().iter().filter(|one| one.number == number) {
            for inner in rewrite(&embedded.document, &mut left)? {
                let outer = embedded.edit(tree, &inner).ok_or(NotMigrated::NoBlock)?;
                edits.push(TextEdit { span: outer.span.shift(located.offset), ..outer });
            }
        }
    }
    if left.is_empty() { Ok(edits) } else { Err(NotMigrated::NoHeader) }
}

/// Takes the document with this value out of those that are left.
pub(super) fn take<'b>(left: &mut Vec<&'b Body>, value: &Value) -> Option<&'b Body> {
    let found = left.iter().position(|(body, _)| *body.value == *value)?;
    Some(left.remove(found))
}

/// A resource in v1alpha2 without what says nothing: the default of `replicas`, and objects with nothing in them.
fn plain(value: &Value) -> Value {
    let mut plain = value.clone();
    let Some(spec) = plain.get_mut("spec").and_then(Value::as_object_mut) else { return plain };
    let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
    if let Some(workload) = spec.get_mut("workload").and_then(Value::as_object_mut) {
        if workload.get("replicas").and_then(Value::as_i64) == Some(1) {
            workload.shift_remove("replicas");
        }
        if workload.get("overrides").is_some_and(is_empty) {
            workload.shift_remove("overrides");
        }
    }
    if spec.get("workload").is_some_and(is_empty) {
        spec.shift_remove("workload");
    }
    plain
}

/// The target of a patch in the newer version, where it names the older one.
fn target_version(analysis: &Analysis, entry: &Entry) -> Option<TextEdit> {
    let target = entry.patch.target.as_ref()?;
    if target.version != ApiVersion::V1Alpha1.name() {
        return None;
    }
    let path = entry.patch.path.key("target").key("version");
    let steps = place::steps(&Path::root(), &path);
    analysis.documents().find_map(|located| {
        let node = located.document.tree().find(&steps).filter(|node| node.value() == target.version)?;
        let edit = operations::scalar(node, ApiVersion::V1Alpha2.name());
        Some(TextEdit { span: edit.span.shift(located.offset), ..edit })
    })
}
