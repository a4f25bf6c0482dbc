//! A text rewritten for another version of the resource, or of the server.

use llsd::ide::{self, Analysis, MigrateOptions, NotMigrated, Query, TextEdit, ToOgxOptions, Workspace};
use llsd_generator::catalog::Catalog;
use llsd_generator::ogx;
use llsd_yaml::edit::apply;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The whole text after a migration, and what is to be said of it.
struct Rewritten<'w> {
    analysis: Analysis,
    workspace: &'w Workspace,
    lines: Vec<String>,
    means_the_same: bool,
}

/// Rewrites all of the text that can be migrated to `to`, or nothing.
///
/// # Errors
/// The target is not known, there is nothing to migrate, or something cannot be.
pub(crate) fn migrate(analysis: &Analysis, workspace: &Workspace, to: &str) -> Result<Value, String> {
    let analysis = analysis.clone();
    let mut rewritten = Rewritten { analysis, workspace, lines: Vec::new(), means_the_same: true };
    let refused = |why: NotMigrated| format!("Not migrated: {why}");
    match to.split_once('@') {
        None if to == "v1alpha2" => rewritten.rewrite_as_v1alpha2().map_err(refused)?,
        Some(("ogx", version)) => {
            let known = ogx::versions_known().find(|known| *known == version).ok_or_else(|| unknown(to))?;
            rewritten.rewrite_as_ogx(known).map_err(refused)?;
        }
        Some(("config", version)) => {
            Catalog::for_version(version).ok_or_else(|| unknown(to))?;
            rewritten.rewrite_configs(version).map_err(refused)?;
        }
        _ => return Err(unknown(to)),
    }
    Ok(json!({
        "text": *rewritten.analysis.text(),
        "lines": rewritten.lines,
        "same": rewritten.means_the_same,
    }))
}

fn unknown(to: &str) -> String {
    format!("\"{to}\" is nothing to migrate to; the target is v1alpha2, ogx@VERSION or config@VERSION")
}

impl Rewritten<'_> {
    fn apply(&mut self, edits: &[TextEdit]) {
        let text = apply(&self.analysis.text(), edits);
        self.analysis = ide::analyse(text.into(), Some(&self.analysis), self.workspace);
    }

    /// Migrates the last document first: what stands before it keeps its place.
    fn rewrite_as_v1alpha2(&mut self) -> Result<(), NotMigrated> {
        let resources = self.analysis.resources().into_iter().filter(|one| one.version == "v1alpha1");
        let documents: BTreeSet<usize> = resources.map(|one| one.document).collect();
        if documents.is_empty() {
            return Err(NotMigrated::NoResource);
        }
        let mut all = Vec::new();
        for document in documents.into_iter().rev() {
            let query = Query::alone(&self.analysis);
            let migrated = ide::migrate(&query, document, MigrateOptions::default())?;
            self.apply(&migrated.edits);
            all.push(migrated);
        }
        for migrated in all.iter().rev() {
            self.lines.extend(migrated.lines().iter().map(ToString::to_string));
            self.means_the_same &= migrated.means_the_same();
        }
        Ok(())
    }

    fn rewrite_as_ogx(&mut self, version: &'static str) -> Result<(), NotMigrated> {
        let options = ToOgxOptions { version, same_name: false };
        let documents = ide::documents_for_ogx(&self.analysis);
        if documents.is_empty() {
            return Err(NotMigrated::NoResource);
        }
        let mut all = Vec::new();
        for document in documents.into_iter().rev() {
            let migrated = ide::to_ogx(&Query::alone(&self.analysis), document, &options, &|_| true)?;
            self.apply(&migrated.edits);
            all.push(migrated);
        }
        let mut elsewhere = BTreeSet::new();
        for migrated in all.into_iter().rev() {
            self.lines.extend(migrated.lines().iter().map(ToString::to_string));
            self.means_the_same &= migrated.means_the_same();
            elsewhere.extend(migrated.concerned.elsewhere);
        }
        self.lines.extend(elsewhere.iter().map(|object| ide::unwatched(object).to_string()));
        Ok(())
    }

    fn rewrite_configs(&mut self, version: &str) -> Result<(), NotMigrated> {
        let all = ide::migrate_configs(&self.analysis, version)?;
        if all.is_empty() {
            return Err(NotMigrated::NoResource);
        }
        for one in &all {
            self.lines.extend(one.migration.lines().iter().map(ToString::to_string));
            self.means_the_same &= one.migration.means_the_same();
        }
        let edits: Vec<TextEdit> = all.into_iter().flat_map(|one| one.edits).collect();
        self.apply(&edits);
        Ok(())
    }
}
