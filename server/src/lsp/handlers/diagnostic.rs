//! `textDocument/diagnostic`: diagnostics for clients that ask instead of being told.

use crate::lsp::backend::Backend;
use crate::lsp::publish;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult, FullDocumentDiagnosticReport,
    RelatedFullDocumentDiagnosticReport,
};

/// Everything wrong with the document.
pub(in crate::lsp) async fn handle(
    backend: &Backend,
    params: DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult> {
    let uri = params.text_document.uri;
    let found = backend.ask(&uri, "textDocument/diagnostic", publish::diagnostics).await?;
    let full = FullDocumentDiagnosticReport { result_id: None, items: found.unwrap_or_default() };
    let report = RelatedFullDocumentDiagnosticReport { related_documents: None, full_document_diagnostic_report: full };
    Ok(DocumentDiagnosticReportResult::Report(DocumentDiagnosticReport::Full(report)))
}
