//! What `check` proposes is done first: a field that stands at a wrong place has one in the new version, and an address
//! without the path under which such servers answer gets it.

use super::outcome::{Migrated, NotMigrated};
use crate::ide::types::{Diagnostic, Severity};
use crate::ide::{Analysis, analyse, fix};
use llsd_generator::api::ApiVersion;
use llsd_generator::check::Rule;
use llsd_generator::check::rules::{endpoint, header, misplaced, schema};
use llsd_generator::fold::is_quickstart;
use llsd_yaml::edit;

/// How often fixes are applied, because one may lay bare the next mistake.
const ROUNDS: usize = 8;

/// Rules about the shape of a resource whose fixes lose nothing and make nothing up.
const SHAPE: [&Rule; 4] =
    [&misplaced::MISPLACED_FIELD, &schema::UNKNOWN_FIELD, &header::WRONG_GROUP, &header::UNKNOWN_VERSION];

/// Fields of the draft that the migration itself knows.
const DRAFT: [&str; 4] =
    ["spec.server.providers", "spec.server.resources", "spec.server.storage", "spec.server.disabled"];

/// What is mended before a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mend {
    /// The shape alone: patches may set the addresses.
    Shape,
    /// The addresses of variables, too.
    ShapeAndAddresses,
}

/// Runs a migration on the text with document number `document` mended; its edits are those of the text as it stands.
pub(super) fn prepared(
    analysis: &Analysis,
    (document, mend): (usize, Mend),
    migrate: impl FnOnce(&Analysis) -> Result<Migrated, NotMigrated>,
) -> Result<Migrated, NotMigrated> {
    let mut mended: Option<Analysis> = None;
    let mut titles = Vec::new();
    for _ in 0..ROUNDS {
        let now = mended.as_ref().unwrap_or(analysis);
        let mut found = of_shape(now, document);
        if mend == Mend::ShapeAndAddresses {
            found.extend(of_addresses(now, document));
        }
        let edits = fix::all(&found);
        if edits.is_empty() {
            break;
        }
        let preferred = found.iter().filter_map(|one| Some((one, one.fixes.iter().find(|fix| fix.preferred)?)));
        let done = preferred.filter(|(_, fix)| fix.edits.iter().all(|edit| edits.contains(edit)));
        titles.extend(done.map(|(one, fix)| match one.code == endpoint::NO_PATH.id {
            true => format!("{} to {}, where models are found", fix.title, one.path),
            false => fix.title.clone(),
        }));
        let next = edit::apply(&now.text(), &edits);
        mended = Some(analyse(next.into(), Some(now), now.workspace()));
    }
    let Some(mended) = mended else { return migrate(analysis) };
    let migrated = migrate(&mended)?;
    let text = edit::apply(&mended.text(), &migrated.edits);
    Ok(Migrated { edits: fix::difference(&analysis.text(), &text), prepared: titles, ..migrated })
}

fn of_shape(analysis: &Analysis, document: usize) -> Vec<Diagnostic> {
    let Some(located) = analysis.document(document) else { return Vec::new() };
    // what a draft says in `spec.server` has places of its own
    let is_draft = located.document.resources().iter().any(|resource| is_quickstart(&resource.value));
    let of_shape = |found: &Diagnostic| {
        let of_draft = is_draft && DRAFT.iter().any(|field| found.path.starts_with(field));
        found.document == document
            && found.severity == Severity::Error
            && SHAPE.iter().any(|rule| rule.id == found.code)
            && !of_draft
    };
    let mut found: Vec<Diagnostic> = analysis.diagnostics().into_iter().filter(of_shape).collect();
    // where there is one place for a field, whoever asks for the new version wants it there
    for only in found.iter_mut().filter(|found| found.code == misplaced::MISPLACED_FIELD.id) {
        if let [fix] = only.fixes.as_mut_slice() {
            fix.preferred = true;
        }
    }
    found
}

/// Addresses without their path in what a document has of the older version.
fn of_addresses(analysis: &Analysis, document: usize) -> Vec<Diagnostic> {
    let Some(located) = analysis.document(document) else { return Vec::new() };
    if !located.document.resources().iter().any(|resource| resource.version == ApiVersion::V1Alpha1) {
        return Vec::new();
    }
    let of_address = |found: &Diagnostic| found.document == document && found.code == endpoint::NO_PATH.id;
    analysis.diagnostics().into_iter().filter(of_address).collect()
}
