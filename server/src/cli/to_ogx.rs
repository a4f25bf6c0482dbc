//! `llsd migrate --to ogx`.

use super::input::Source;
use super::project::Project;
use super::{FINDINGS, complain};
use crate::ide::{self, Renamed, ToOgx, ToOgxOptions};
use llsd_generator::check::ReferenceKind;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What came of the files.
pub(super) struct Outcome {
    /// The files that had a resource to migrate.
    pub(super) files: Vec<Arc<str>>,
    /// What the process ends with, as far as these files go: 0, or 1 where something is lost or left.
    pub(super) code: u8,
    /// Each resource, as it was called and is called.
    pub(super) renamed: Vec<Renamed>,
    /// Objects that have to carry the label and are in none of the files.
    pub(super) elsewhere: BTreeSet<(ReferenceKind, ide::ObjectKey)>,
    /// ConfigMaps whose configs were rewritten with the resources.
    pub(super) configs: BTreeSet<ide::ObjectKey>,
}

/// Rewrites the resources of all named files, with the configs that they mount, and gives the objects that they name
/// their label. What is not as it was is said on standard error.
pub(super) fn migrate(
    project: &mut Project,
    sources: &[Source],
    options: &ToOgxOptions,
    allow_changes: bool,
) -> Outcome {
    let files: Vec<Arc<str>> = project.named().into_iter().filter(|file| has_one(project, file)).collect();
    let mut outcome =
        Outcome { files, code: 0, renamed: Vec::new(), elsewhere: BTreeSet::new(), configs: BTreeSet::new() };
    if outcome.files.is_empty() {
        match sources {
            [one] => complain(&format!("{one} has no LlamaStackDistribution; nothing to migrate")),
            _ => complain(&"there is no LlamaStackDistribution; nothing to migrate"),
        }
    }
    // patches come with what they patch
    let (patches, resources): (Vec<_>, Vec<_>) =
        outcome.files.clone().into_iter().partition(|file| project.is_patch(file));
    for file in resources.into_iter().chain(patches) {
        if !has_one(project, &file) {
            continue;
        }
        let shown = project.shown(&file);
        let before = project.clone();
        match of_file(project, &file, options) {
            Ok(all) => {
                for migrated in all {
                    migrated.lines().iter().for_each(|line| complain(&format!("{shown}: {line}")));
                    if !allow_changes && !migrated.means_the_same() {
                        outcome.code = FINDINGS;
                    }
                    outcome.elsewhere.extend(migrated.concerned.elsewhere);
                    outcome.configs.extend(migrated.concerned.configs);
                    outcome.renamed.extend(migrated.renamed);
                }
            }
            Err(why) => {
                *project = before;
                complain(&format!("{shown}: not migrated: {why}"));
                outcome.code = FINDINGS;
            }
        }
    }
    left(project, &mut outcome);
    outcome
}

/// Says what the files do not do, or must not be done yet.
fn left(project: &Project, outcome: &mut Outcome) {
    if let Some(query) = outcome.files.first().and_then(|file| project.about(file)) {
        for object in &outcome.configs {
            for name in ide::old_readers(&query, object) {
                complain(&ide::read_by(&name, object));
                outcome.code = FINDINGS;
            }
        }
    }
    if !outcome.files.is_empty() {
        for file in project.files() {
            let Some(analysis) = project.analysis_of(file) else { continue };
            for (line, message) in ide::left_of_ogx(analysis, &outcome.renamed) {
                complain(&format!("note: {}:{line}: {message}", project.shown(file)));
            }
        }
    }
    outcome.elsewhere.iter().for_each(|object| complain(&ide::unwatched(object)));
}

/// Whether a file has a resource to migrate.
fn has_one(project: &Project, file: &Arc<str>) -> bool {
    project.analysis_of(file).is_some_and(|known| !ide::documents_for_ogx(known).is_empty())
}

/// Migrates the documents of a file, the last one first: what stands before it keeps its place. What kustomizations patch
/// is migrated as a whole.
fn of_file(project: &mut Project, file: &Arc<str>, options: &ToOgxOptions) -> Result<Vec<ToOgx>, ide::NotMigrated> {
    if project.analysis_of(file).is_some_and(|known| known.workspace().is_bound(file)) {
        let query = project.about(file).ok_or(ide::NotMigrated::NoResource)?;
        let migrated = ide::to_ogx_with_patches(&query, options, &|file| project.may_change(std::iter::once(file)))?;
        project.apply(file, &migrated.edits, &migrated.others, None);
        return Ok(vec![migrated]);
    }
    let documents = project.analysis_of(file).map(ide::documents_for_ogx).unwrap_or_default();
    let mut all = Vec::new();
    for document in documents.into_iter().rev() {
        let query = project.about(file).ok_or(ide::NotMigrated::NoResource)?;
        let may_change = |file: &Arc<str>| project.may_change(std::iter::once(file));
        let migrated = ide::to_ogx(&query, document, options, &may_change)?;
        project.apply(file, &migrated.edits, &migrated.others, None);
        all.push(migrated);
    }
    all.reverse();
    Ok(all)
}
