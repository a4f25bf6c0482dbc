//! The configs of a file rewritten for another version of the server, comments and formatting kept.

use super::NotMigrated;
use crate::ide::Analysis;
use crate::ide::types::TextEdit;
use llsd_generator::config::ConfigMigration;

/// A config rewritten for another version.
#[derive(Clone, Debug, PartialEq)]
pub struct MigratedConfig {
    /// The change of the file.
    pub edits: Vec<TextEdit>,
    /// What becomes of it, with places of the config.
    pub migration: ConfigMigration,
}

/// Rewrites one config of a document for version `to`, which has a catalog; both numbers count from 0.
///
/// # Errors
/// There is none of that number, or it cannot be rewritten.
pub(crate) fn of_one(
    analysis: &Analysis,
    document: usize,
    number: usize,
    to: &str,
) -> Result<MigratedConfig, NotMigrated> {
    let located = analysis.document(document).ok_or(NotMigrated::NoResource)?;
    let (document, from) = (located.document, located.document.facts().llama_stack_version.as_deref());
    let config = document.configs().get(number).ok_or(NotMigrated::NoResource)?;
    let (migration, mut edits) = config.migrated(document.tree().text(), from, to)?;
    edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
    Ok(MigratedConfig { edits, migration })
}

/// The configs of the server in the file, each rewritten for version `to` of it, comments kept. Nothing comes back if
/// there are none.
///
/// # Errors
/// One of them cannot be rewritten: then all of them stay.
pub fn of_file(analysis: &Analysis, to: &str) -> Result<Vec<MigratedConfig>, NotMigrated> {
    let mut all = Vec::new();
    for located in analysis.documents() {
        let (document, from) = (located.document, located.document.facts().llama_stack_version.as_deref());
        for config in document.configs() {
            let (migration, mut edits) = config.migrated(document.tree().text(), from, to)?;
            edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
            all.push(MigratedConfig { edits, migration });
        }
    }
    Ok(all)
}
