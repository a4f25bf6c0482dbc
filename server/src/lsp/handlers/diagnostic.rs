//! `textDocument/diagnostic` and `workspace/diagnostic`: diagnostics for clients that ask instead of being told.

use crate::lsp::backend::{Backend, Shared};
use crate::lsp::{convert, files, publish};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    self as lsp, Diagnostic, DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult,
    FullDocumentDiagnosticReport, RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport, Url, WorkspaceDiagnosticParams, WorkspaceDiagnosticReport,
    WorkspaceDiagnosticReportResult, WorkspaceDocumentDiagnosticReport,
};

/// Everything wrong with the document, or that it is the same as when the client last asked.
pub(in crate::lsp) async fn handle(
    backend: &Backend,
    params: DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult> {
    let uri = params.text_document.uri;
    let found = backend.ask(&uri, "textDocument/diagnostic", publish::diagnostics).await?;
    let items = found.unwrap_or_default();
    let id = result_id(&items);
    let report = if params.previous_result_id.as_ref() == Some(&id) {
        DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id: id },
        })
    } else {
        DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id: Some(id), items },
        })
    };
    Ok(DocumentDiagnosticReportResult::Report(report))
}

/// Everything wrong with open documents and with the files of the workspace.
pub(in crate::lsp) async fn workspace(
    backend: &Backend,
    params: WorkspaceDiagnosticParams,
) -> Result<WorkspaceDiagnosticReportResult> {
    let known: HashMap<String, String> =
        params.previous_result_ids.into_iter().map(|known| (convert::name(&known.uri), known.value)).collect();
    let mut items = Vec::new();
    for snapshot in backend.shared.session.snapshots() {
        let Ok(uri) = Url::parse(&snapshot.uri) else { continue };
        let version = i64::from(snapshot.version);
        let Some(found) = backend.ask_of(snapshot, "workspace/diagnostic", publish::diagnostics).await? else {
            continue;
        };
        let before = known.get(&convert::name(&uri));
        if before.is_some() || !found.is_empty() {
            items.push(report(uri, Some(version), found, before));
        }
    }
    let seen = backend.shared.files.all();
    let forgotten = known.keys().filter(|name| !seen.contains_key(name.as_str()));
    let forgotten: Vec<_> = forgotten.map(|name| (Arc::from(name.as_str()), files::ClosedFile::default())).collect();
    for (name, seen) in seen.into_iter().chain(forgotten) {
        let Ok(uri) = Url::parse(&name) else { continue };
        let before = known.get(&*name);
        if is_open(&backend.shared, &name) || (before.is_none() && seen.diagnostics.is_empty()) {
            continue;
        }
        items.push(report(uri, None, seen.diagnostics.to_vec(), before));
    }
    Ok(WorkspaceDiagnosticReportResult::Report(WorkspaceDiagnosticReport { items }))
}

fn is_open(shared: &Shared, name: &str) -> bool {
    shared.session.snapshot(name).is_some()
}

fn report(
    uri: Url,
    version: Option<i64>,
    items: Vec<Diagnostic>,
    before: Option<&String>,
) -> WorkspaceDocumentDiagnosticReport {
    let id = result_id(&items);
    if before == Some(&id) {
        return WorkspaceDocumentDiagnosticReport::Unchanged(lsp::WorkspaceUnchangedDocumentDiagnosticReport {
            uri,
            version,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id: id },
        });
    }
    WorkspaceDocumentDiagnosticReport::Full(lsp::WorkspaceFullDocumentDiagnosticReport {
        uri,
        version,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id: Some(id), items },
    })
}

/// The same for the same diagnostics, whatever happened in between.
fn result_id(items: &[Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(items).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
