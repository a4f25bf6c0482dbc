//! `llsd migrate --to VERSION`: configs of the server for another version of it.

use super::input;
use super::migrate::{self, Arguments};
use super::project::Project;
use super::{CLEAN, FAILURE, FINDINGS, complain};
use crate::ide;
use std::io;
use std::sync::Arc;

/// Prints or writes whole files with their configs rewritten for version `to`, which has a catalog.
pub(super) fn run(arguments: &Arguments, to: &str) -> io::Result<u8> {
    if let Some(option) = arguments.of_resources() {
        complain(&format!("{option} is for resources: use it with --to ogx"));
        return Ok(FAILURE);
    }
    let (sources, mut problems) = input::expand(&arguments.paths);
    let (mut project, unreadable) = Project::read(&sources);
    problems.extend(unreadable);
    problems.iter().for_each(|problem| complain(problem));
    let mut code = if problems.is_empty() { CLEAN } else { FAILURE };
    let has_configs = |file: &Arc<str>| project.analysis_of(file).is_some_and(|analysis| analysis.configs() > 0);
    let files: Vec<Arc<str>> = project.named().into_iter().filter(has_configs).collect();
    if files.is_empty() && problems.is_empty() {
        let place = match sources.as_slice() {
            [one] => format!("{one} has"),
            _ => "there is".to_owned(),
        };
        complain(&format!("{place} no config of the server; nothing to migrate"));
    }
    for file in &files {
        let shown = project.shown(file);
        let Some(analysis) = project.analysis_of(file) else { continue };
        match ide::migrate_configs(analysis, to) {
            Ok(all) => {
                for migrated in &all {
                    migrated.migration.lines().iter().for_each(|line| complain(&format!("{shown}: {line}")));
                }
                if !arguments.allow_changes && !all.iter().all(|one| one.migration.means_the_same()) {
                    code = code.max(FINDINGS);
                }
                let edits: Vec<_> = all.into_iter().flat_map(|migrated| migrated.edits).collect();
                project.apply(file, &edits, &[], None);
            }
            Err(why) => {
                complain(&format!("{shown}: not migrated: {why}"));
                code = code.max(FINDINGS);
            }
        }
    }
    let changed = project.changed();
    let files: Vec<Arc<str>> = files.into_iter().filter(|file| changed.contains(file)).collect();
    migrate::output(&project, &files, &sources, arguments, code)
}
