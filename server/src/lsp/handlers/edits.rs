//! Changes of a document in the protocol's terms.

use crate::documents::Snapshot;
use crate::ide::{FileEdits, TextEdit};
use crate::lsp::backend::Shared;
use crate::lsp::convert;
use ropey::Rope;
use std::borrow::Cow;
use std::collections::HashMap;
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::lsp_types::{
    self as lsp, AnnotatedTextEdit, ChangeAnnotation, DeleteFile, DeleteFileOptions, DocumentChangeOperation,
    DocumentChanges, MessageType, OneOf, OptionalVersionedTextDocumentIdentifier, ResourceOp, TextDocumentEdit, Url,
    WorkspaceEdit,
};

/// The protocol's code for a request that was understood and cannot be served.
const REQUEST_FAILED: i64 = -32803;

/// A change of the document that was asked about, and of others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change<'a> {
    /// Edits of the document that was asked about.
    pub(super) own: &'a [TextEdit],
    /// Edits of other files.
    pub(super) others: &'a [FileEdits],
    /// A file that goes away.
    pub(super) deletes: Option<&'a str>,
}

/// What a client may ask its user about before it changes other files.
const OTHER_FILES: &str = "llsd.otherFiles";

/// The edits of several files: of open ones for the version that was looked at, of others for what is on disk. Clients
/// that can ask their user first are told to do so for all but the document itself.
pub(super) fn of_files(shared: &Shared, snapshot: &Snapshot, uri: &Url, change: Change<'_>) -> WorkspaceEdit {
    let client = shared.client_capabilities();
    let converted = |rope: &Rope, edits: &[TextEdit]| -> Vec<lsp::TextEdit> {
        edits.iter().map(|edit| convert::text_edit(rope, edit, client.encoding)).collect()
    };
    let own = (uri.clone(), Some(snapshot.version), converted(&snapshot.rope, change.own));
    let other = |file: &FileEdits| {
        Some((
            shared.uri(&file.file)?,
            version_looked_at(shared, file),
            converted(&Rope::from_str(&file.text), &file.edits),
        ))
    };
    let files = std::iter::once(own).chain(change.others.iter().filter_map(other));
    let files = files.filter(|(_, _, edits)| !edits.is_empty());
    if !client.versioned_edits {
        let changes = files.map(|(uri, _, edits)| (uri, edits)).collect();
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let beyond = change.deletes.is_some() || !change.others.is_empty();
    let asks = client.annotated_edits && beyond;
    let edits = files.map(|(file, version, edits)| {
        let annotated = asks && file != *uri;
        let edit = |text_edit| match annotated {
            true => OneOf::Right(AnnotatedTextEdit { text_edit, annotation_id: OTHER_FILES.to_owned() }),
            false => OneOf::Left(text_edit),
        };
        let text_document = OptionalVersionedTextDocumentIdentifier { uri: file, version };
        TextDocumentEdit { text_document, edits: edits.into_iter().map(edit).collect() }
    });
    let deleted = change.deletes.and_then(|file| {
        let options = DeleteFileOptions {
            annotation_id: asks.then(|| OTHER_FILES.to_owned()),
            ignore_if_not_exists: Some(true),
            recursive: None,
        };
        Some(DocumentChangeOperation::Op(ResourceOp::Delete(DeleteFile {
            uri: shared.uri(file)?,
            options: Some(options),
        })))
    });
    let document_changes = match deleted {
        Some(deleted) => {
            DocumentChanges::Operations(edits.map(DocumentChangeOperation::Edit).chain([deleted]).collect())
        }
        None => DocumentChanges::Edits(edits.collect()),
    };
    let annotation = ChangeAnnotation {
        label: "Other files".to_owned(),
        needs_confirmation: Some(true),
        description: Some("The change reaches beyond the file it was asked for".to_owned()),
    };
    WorkspaceEdit {
        document_changes: Some(document_changes),
        change_annotations: asks.then(|| HashMap::from([(OTHER_FILES.to_owned(), annotation)])),
        ..WorkspaceEdit::default()
    }
}

/// The version of an open file that the edits are made for. If the file was changed since they were made, it is an earlier
/// one, which clients refuse: nothing is written over what is new.
fn version_looked_at(shared: &Shared, file: &FileEdits) -> Option<i32> {
    let open = shared.session.snapshot(&file.file)?;
    Some(if open.rope == *file.text { open.version } else { open.version.saturating_sub(1) })
}

/// The edits of files that the user did not ask about.
pub(super) fn of_others(shared: &Shared, files: &[FileEdits]) -> WorkspaceEdit {
    let client = shared.client_capabilities();
    let converted = files.iter().filter_map(|file| {
        let rope = Rope::from_str(&file.text);
        let edits = file.edits.iter().map(|edit| convert::text_edit(&rope, edit, client.encoding)).collect();
        Some((shared.uri(&file.file)?, version_looked_at(shared, file), edits))
    });
    if !client.versioned_edits {
        let changes = converted.map(|(uri, _, edits)| (uri, edits)).collect();
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let edits = converted.map(|(uri, version, edits): (Url, Option<i32>, Vec<lsp::TextEdit>)| TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
        edits: edits.into_iter().map(OneOf::Left).collect(),
    });
    WorkspaceEdit { document_changes: Some(DocumentChanges::Edits(edits.collect())), ..WorkspaceEdit::default() }
}

/// Lines of a report that are shown; a message is no place for more.
const SHOWN: usize = 12;

/// Tells the user what a change did beyond what was asked. Nobody waits for it.
pub(super) fn tell(shared: &Shared, mut lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    if lines.len() > SHOWN {
        let more = lines.len() - SHOWN;
        lines.truncate(SHOWN);
        lines.push(format!("and {more} more"));
    }
    let client = shared.client.clone();
    tokio::spawn(async move { client.show_message(MessageType::INFO, lines.join("\n")).await });
}

/// The answer to a request that cannot be served, in a sentence for the user.
pub(super) fn refused(message: impl Into<Cow<'static, str>>) -> Error {
    Error { code: ErrorCode::ServerError(REQUEST_FAILED), message: message.into(), data: None }
}
