//! Resources that kustomizations patch, rewritten as `OGXServer`s together with the patches, or not at all.
//!
//! A patch is worked out from what it does: the resource in front of it and the one behind it, both rewritten, differ by
//! the new patch. Whether all of it is right is found out afterwards: what every kustomization builds of the new texts has
//! to be what the old one's result is rewritten as.

use super::moves::Moves;
use super::ogx::{Named, Renamed, ToOgx, is_old, of_resource, refused};
use super::together::{Body, of_text, sources, take};
use super::together_ogx::Together;
use super::{NotMigrated, check_shape, comments, operations, write};
use crate::ide::document::DocumentAnalysis;
use crate::ide::file_names::{folder_of, way};
use crate::ide::names::{Query, TextId};
use crate::ide::overlay::{Entry, Group, Made};
use crate::ide::types::TextEdit;
use crate::ide::{Analysis, Workspace, place};
use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::check::Facts;
use llsd_generator::fold::Unmoved;
use llsd_generator::kustomize::{Operations, Pointer, apply, merge_between, operations_between};
use llsd_generator::ogx::migrate::{self, Migration, Options, Told};
use llsd_generator::path::Path;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The rewrite of every `LlamaStackDistribution` of the asked file, which kustomizations patch, together with the patches
/// and with what else these patch. Files for which `may_change` says no stay as they are.
///
/// # Errors
/// One of them cannot be rewritten, or what a kustomization builds would be another `OGXServer`: then all of them stay.
pub fn of_group(
    query: &Query<'_>,
    options: &Options,
    may_change: &dyn Fn(&Arc<str>) -> bool,
) -> Result<ToOgx, NotMigrated> {
    let (TextId::File(own), Some(analysis)) = (&query.place, query.analysis) else {
        return Err(NotMigrated::NoResource);
    };
    let workspace = analysis.workspace();
    let group =
        workspace.group(own).map_err(|(by, apart)| NotMigrated::Apart { by: way(folder_of(own), &by), apart })?;
    Patched { own, workspace, group: &group, options, facts: Arc::default() }.rewritten(query, may_change)
}

/// A kustomization, and what it builds.
type Built = (Arc<str>, Vec<Made>);

struct Patched<'q> {
    own: &'q Arc<str>,
    workspace: &'q Workspace,
    group: &'q Group,
    options: &'q Options,
    /// What is known of the surroundings of the resources.
    facts: Arc<Facts>,
}

impl Patched<'_> {
    /// A file as seen from the one that was asked about.
    fn shown(&self, file: &str) -> String {
        way(folder_of(self.own), file)
    }

    fn rewritten(mut self, query: &Query<'_>, may_change: &dyn Fn(&Arc<str>) -> bool) -> Result<ToOgx, NotMigrated> {
        let before = self.built()?;
        let mut together = Together::new(query, may_change)?;
        let analysis = |together: &Together<'_>, file: &Arc<str>| {
            together.analysis(file).ok_or_else(|| NotMigrated::Unread { file: way(folder_of(self.own), file) })
        };
        let mut all = ToOgx::default();
        let mut named = Vec::new();
        let mut texts: BTreeMap<Arc<str>, Vec<TextEdit>> = BTreeMap::new();
        for file in &self.group.resources {
            let analysis = analysis(&together, file)?;
            for located in analysis.documents() {
                for resource in located.document.resources().iter().filter(|one| is_old(one)) {
                    self.facts = Arc::clone(located.document.facts());
                    named.push(of_resource(located.document, resource, self.options, &mut all)?);
                    let edits = std::mem::take(&mut all.edits).into_iter();
                    let edits = edits.map(|edit| TextEdit { span: edit.span.shift(located.offset), ..edit });
                    texts.entry(Arc::clone(file)).or_default().extend(edits);
                }
            }
        }
        for ((file, inline), bodies) in sources(self.group) {
            let analysis = analysis(&together, &file)?;
            let edits = of_text(&analysis, inline, &bodies, |document, left| self.document(document, left, &mut all));
            let edits = edits.map_err(|why| NotMigrated::Patch { file: self.shown(&file), why: Box::new(why) })?;
            texts.entry(file).or_default().extend(edits);
        }
        for entry in &self.group.entries {
            let edits = self.target(&analysis(&together, &entry.by)?, entry)?;
            texts.entry(Arc::clone(&entry.by)).or_default().extend(edits);
        }
        for (file, mut edits) in texts {
            edits.sort_by_key(|edit| edit.span.start);
            together.apply(&file, &edits);
        }
        let mut after = self.workspace.clone();
        for (file, now) in together.changed() {
            after.set(file, now.objects());
        }
        for (by, was) in &before {
            self.compared(by, was, &after, &mut all, &mut named)?;
        }
        named.dedup();
        for one in named {
            one.take_along(&mut together, &mut all.concerned)?;
        }
        (all.edits, all.others) = together.finish();
        let foreign: Vec<String> =
            all.others.iter().filter(|one| !may_change(&one.file)).map(|one| self.shown(&one.file)).collect();
        if !foreign.is_empty() {
            return Err(NotMigrated::Foreign(foreign));
        }
        all.concerned.told.sort_by_key(|one| one.class);
        Ok(all)
    }

    /// What every kustomization builds of the resources now.
    fn built(&self) -> Result<Vec<Built>, NotMigrated> {
        let mut built = Vec::new();
        for by in self.workspace.built_by() {
            if !self.workspace.made(&by).iter().any(|made| self.is_own(made)) {
                continue;
            }
            // what cannot be built as it is cannot be compared
            let made = self.workspace.followed(&by).ok_or_else(|| NotMigrated::NotBuilt { by: self.shown(&by) })?;
            built.push((by, made));
        }
        Ok(built)
    }

    fn is_own(&self, made: &Made) -> bool {
        made.comes_from(|file| self.group.resources.contains(file))
    }

    fn migrated(&self, old: &Value) -> Result<Migration, NotMigrated> {
        migrate::migrate(old, &BTreeSet::new(), &self.facts, self.options).map_err(refused)
    }

    /// What is to change in one document of a patch. Takes it out of `left`.
    fn document(
        &self,
        document: &DocumentAnalysis,
        left: &mut Vec<&Body>,
        all: &mut ToOgx,
    ) -> Result<Vec<TextEdit>, NotMigrated> {
        let tree = document.tree();
        if let Some((written, _)) = document.operations() {
            let Some((_, values)) = take(left, &written.iter().cloned().collect()) else { return Ok(Vec::new()) };
            let met = values.iter().map(|old| Ok((old.clone(), self.migrated(old)?.value)));
            let mut met = met.collect::<Result<Vec<_>, NotMigrated>>()?;
            return operations::rewritten(tree, written, |number, one| self.operation(number, one, &mut met));
        }
        let mut edits = Vec::new();
        for resource in document.resources().iter().filter(|one| is_old(one)) {
            let Some((_, values)) = take(left, &resource.value) else { continue };
            let root = check_shape(document, resource)?;
            let (value, moves) = self.merge_patch(&resource.value, values)?;
            let written = write::resource(tree, root, resource, &value, &Moves::new(moves), None);
            all.homeless.extend(written.homeless);
            edits.push(TextEdit { span: comments::whole(tree, root), new_text: written.text });
        }
        Ok(edits)
    }

    /// The operations that do what one operation does. `met` has every resource in front of it, old and new, and is
    /// brought behind it.
    fn operation(&self, number: usize, written: &Value, met: &mut [(Value, Value)]) -> Result<Vec<Value>, NotMigrated> {
        let broken = || NotMigrated::Unmoved(Unmoved::Operation(number));
        let one = Operations::read(&json!([written])).ok_or_else(broken)?;
        let mut known: Option<Vec<Value>> = None;
        for (old, new) in met {
            let after = one.apply(old).map_err(|_| broken())?;
            let migrated = self.migrated(&after)?;
            let made = match written["op"] == "test" {
                true => tested(written, old, &migrated).into_iter().collect(),
                false => operations_between(new, &migrated.value),
            };
            if *known.get_or_insert_with(|| made.clone()) != made {
                return Err(not_alike(written["path"].as_str().unwrap_or_default()));
            }
            (*old, *new) = (after, migrated.value);
        }
        known.filter(|made| !made.is_empty()).ok_or(NotMigrated::WithoutEffect { operation: number })
    }

    /// The strategic merge patch that does what `patch` does to all of these resources, and where its fields went.
    fn merge_patch(&self, patch: &Value, met: &[Value]) -> Result<(Value, Vec<(Path, Path)>), NotMigrated> {
        let mut known: Option<(Value, Vec<(Path, Path)>)> = None;
        for old in met {
            let before = self.migrated(old)?;
            let after = apply(old, patch).map_err(|error| NotMigrated::Convert(error.to_string()))?;
            let (between, moves) = match after {
                Some(after) => {
                    let after = self.migrated(&after)?;
                    (merge_between(&before.value, &after.value), after.moves)
                }
                None => (json!({"$patch": "delete"}), Vec::new()),
            };
            let made = headed(patch, old, &before.value, between);
            if known.get_or_insert_with(|| (made.clone(), moves)).0 != made {
                return Err(not_alike("/spec"));
            }
        }
        known.ok_or(NotMigrated::NoHeader)
    }

    /// The target of a patch, which names the old kind.
    fn target(&self, analysis: &Analysis, entry: &Entry) -> Result<Vec<TextEdit>, NotMigrated> {
        let Some(target) = &entry.patch.target else { return Ok(Vec::new()) };
        let (old, new) = (Kind::LlamaStackDistribution, Kind::OgxServer);
        let mut name = None;
        for met in entry.bodies.iter().flat_map(|(_, met)| met).filter(|met| met["metadata"]["name"] == *target.name) {
            name = self.migrated(met)?.value["metadata"]["name"].as_str().map(str::to_owned);
        }
        let is_version = old.versions().iter().any(|version| version.name() == target.version);
        let changes = [
            ("group", (target.group == old.group()).then(|| new.group().to_owned())),
            ("version", is_version.then(|| ApiVersion::OgxV1Beta1.name().to_owned())),
            ("kind", (target.kind == old.name()).then(|| new.name().to_owned())),
            ("name", name),
        ];
        let mut edits = Vec::new();
        for (field, text) in changes.into_iter().filter_map(|(field, text)| Some((field, text?))) {
            let steps = place::steps(&Path::root(), &entry.patch.path.key("target").key(field));
            for located in analysis.documents() {
                if let Some(node) = located.document.tree().find(&steps) {
                    let edit = operations::scalar(node, &text);
                    edits.push(TextEdit { span: edit.span.shift(located.offset), ..edit });
                }
            }
        }
        Ok(edits)
    }

    /// Has what a kustomization builds of the new texts told where it loses something, and refused where it is another
    /// `OGXServer` than the one that the old result is rewritten as.
    fn compared(
        &self,
        by: &Arc<str>,
        was: &[Made],
        after: &Workspace,
        all: &mut ToOgx,
        named: &mut Vec<Named>,
    ) -> Result<(), NotMigrated> {
        let other = |place: Option<String>| NotMigrated::Built { by: self.shown(by), place };
        let is = after.followed(by).filter(|is| is.len() == was.len()).ok_or_else(|| other(None))?;
        for (was, is) in was.iter().zip(&is) {
            let version = ApiVersion::of(&was.value).filter(|one| one.kind() == Kind::LlamaStackDistribution);
            let Some(version) = version.filter(|_| self.is_own(was)) else {
                if was.value != is.value {
                    return Err(other(None));
                }
                continue;
            };
            let made = self.migrated(&was.value)?;
            if let Some(first) = operations_between(&made.value, &is.value).first() {
                let place = first["path"].as_str().unwrap_or_default();
                return Err(other(Some(format!("{place} of {} \"{}\"", Kind::OgxServer.name(), is.key.1))));
            }
            let is_told = |one: &Told| all.concerned.told.iter().any(|told| told.message == one.message);
            let new: Vec<Told> = made.told.iter().filter(|one| !is_told(one)).cloned().collect();
            all.concerned
                .told
                .extend(new.into_iter().map(|one| Told { place: format!("{}: {}", self.shown(by), one.place), ..one }));
            let (namespace, old) = was.key.clone();
            if !all.renamed.iter().any(|one| one.namespace == namespace && one.old == old) {
                all.renamed.push(Renamed::of(&made.value, namespace.clone(), old));
            }
            named.push(Named::of(made, version, namespace));
        }
        Ok(())
    }
}

/// The test of the same value where `old` has its place now. `None`: it is not there.
fn tested(written: &Value, old: &Value, now: &Migration) -> Option<Value> {
    let place = Pointer::parse(written["path"].as_str()?)?.path_in(old)?;
    let above = now.moves.iter().filter(|(from, _)| place.starts_with(from));
    let to = match above.max_by_key(|(from, _)| from.segments().len()) {
        Some((from, to)) => to.join(&place.segments()[from.segments().len()..].iter().cloned().collect()),
        None => place,
    };
    let is_there = to.find(&now.value) == written.get("value");
    is_there.then(|| json!({"op": "test", "path": Pointer::of(&to).to_string(), "value": written["value"]}))
}

fn not_alike(pointer: &str) -> NotMigrated {
    NotMigrated::Unmoved(Unmoved::NotAlike(pointer.to_owned()))
}

/// A patch with the header of the new kind. It finds its resource by the name that it says, in whichever state of it.
fn headed(patch: &Value, old: &Value, new: &Value, between: Value) -> Value {
    let mut made = json!({"apiVersion": ApiVersion::OgxV1Beta1.api_version(), "kind": Kind::OgxServer.name()});
    if let Some(metadata) = patch.get("metadata") {
        made["metadata"] = json!({});
        for field in ["name", "namespace"] {
            if let Some(value) = metadata.get(field) {
                let is_own = old["metadata"][field] == *value;
                made["metadata"][field] = if is_own { new["metadata"][field].clone() } else { value.clone() };
            }
        }
    }
    for (field, value) in between.as_object().into_iter().flatten() {
        match (field.as_str(), value.as_object()) {
            ("metadata", Some(fields)) => {
                for (name, value) in fields {
                    made["metadata"][name.as_str()] = value.clone();
                }
            }
            _ => made[field.as_str()] = value.clone(),
        }
    }
    made
}
