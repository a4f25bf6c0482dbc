//! Changes of a document in the protocol's terms.

use crate::documents::Snapshot;
use crate::ide::TextEdit;
use crate::lsp::backend::Shared;
use crate::lsp::convert;
use std::borrow::Cow;
use std::collections::HashMap;
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::lsp_types::{
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, Url, WorkspaceEdit,
};

/// The protocol's code for a request that was understood and cannot be served.
const REQUEST_FAILED: i64 = -32803;

/// The edits of one version of a document. Clients that know versions refuse them for any other one.
pub(super) fn of_document(shared: &Shared, snapshot: &Snapshot, uri: &Url, edits: &[TextEdit]) -> WorkspaceEdit {
    let client = shared.client_capabilities();
    let edits = edits.iter().map(|edit| convert::text_edit(&snapshot.rope, edit, client.encoding));
    if !client.versioned_edits {
        let changes = HashMap::from([(uri.clone(), edits.collect())]);
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let text_document = OptionalVersionedTextDocumentIdentifier { uri: uri.clone(), version: Some(snapshot.version) };
    let edit = TextDocumentEdit { text_document, edits: edits.map(OneOf::Left).collect() };
    WorkspaceEdit { document_changes: Some(DocumentChanges::Edits(vec![edit])), ..WorkspaceEdit::default() }
}

/// The answer to a request that cannot be served, in a sentence for the user.
pub(super) fn refused(message: impl Into<Cow<'static, str>>) -> Error {
    Error { code: ErrorCode::ServerError(REQUEST_FAILED), message: message.into(), data: None }
}
