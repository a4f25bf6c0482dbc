//! APIs that are both disabled and given providers. Source: contract section 2. The CRD says so too; this rule knows
//! which entry to remove.

use super::super::subject::{Report, Subject};
use crate::api::v1alpha2::{api_field, api_name};
use crate::generate::GenerateError;

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    let providers = subject.providers();
    for (path, _) in subject.items(&Subject::spec("disabled")) {
        let Some(written) = subject.text(&path).map(str::to_owned) else { continue };
        let api = api_name(&written);
        let Some(entry) = providers.iter().find(|entry| entry.api == api) else { continue };
        let field = api_field(&api);
        let mut finding = GenerateError::DisabledConflict { path: path.clone(), api, field, written }.finding();
        // where the CRD's rule has it, so that it stays there when a fault elsewhere keeps that rule from running
        finding.path = entry.path.parent().unwrap_or_default();
        report.add(finding.with_related(path, "The API is disabled here"));
    }
}
