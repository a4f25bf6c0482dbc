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
        let related = entry.path.parent().unwrap_or_default();
        let field = api_field(&api);
        let finding = GenerateError::DisabledConflict { path, api, field, written }.finding();
        report.add(finding.with_related(related, "The API's providers"));
    }
}
