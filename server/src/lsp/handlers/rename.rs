//! `textDocument/prepareRename` and `textDocument/rename`: a new name at all places.

use super::edits;
use crate::ide::{self, FileEdits, RenameRefused, TextId};
use crate::lsp::backend::Backend;
use crate::lsp::navigate::{self, NavigationRequest};
use std::collections::HashMap;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, PrepareRenameResponse, RenameParams,
    TextDocumentEdit, TextDocumentPositionParams, TextEdit, Url, WorkspaceEdit,
};

/// The name that would be changed.
pub(in crate::lsp) async fn prepare(
    backend: &Backend,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>> {
    let uri = params.text_document.uri;
    let found = navigate::ask(backend, &uri, "textDocument/prepareRename", move |asked| {
        let (span, placeholder) = ide::prepare_rename(&asked.query, asked.offset(params.position))?;
        Ok(PrepareRenameResponse::RangeWithPlaceholder { range: asked.range(span), placeholder })
    });
    match found.await? {
        // an editor says so itself where there is no name
        None | Some(Err(RenameRefused::NoName)) => Ok(None),
        Some(answer) => answer.map(Some).map_err(|refused: RenameRefused| edits::refused(refused.to_string())),
    }
}

/// The changes that give a thing another name, in every file that speaks of it.
pub(in crate::lsp) async fn rename(backend: &Backend, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
    let at = params.text_document_position;
    let name = params.new_name;
    let shared = Arc::clone(&backend.shared);
    let edit = navigate::ask(backend, &at.text_document.uri, "textDocument/rename", move |asked| {
        let changes = ide::rename(&asked.query, asked.offset(at.position), &name)?;
        let versioned = shared.client_capabilities().versioned_edits;
        let version = |file: &str| shared.session.snapshot(file).map(|snapshot| snapshot.version);
        Ok(workspace_edit(asked, &changes, versioned, version))
    });
    edit.await?.transpose().map_err(|refused: RenameRefused| edits::refused(refused.to_string()))
}

fn workspace_edit(
    asked: &mut NavigationRequest<'_>,
    changes: &[FileEdits],
    versioned: bool,
    version: impl Fn(&str) -> Option<i32>,
) -> WorkspaceEdit {
    let mut files: Vec<(Url, Option<i32>, Vec<TextEdit>)> = Vec::new();
    for change in changes {
        let Some(uri) = asked.places.uri(&change.file) else { continue };
        let place = TextId::File(change.file.clone());
        let edits = change.edits.iter().map(|edit| TextEdit {
            range: asked.places.range(&place, || change.text.clone(), edit.span),
            new_text: edit.new_text.clone(),
        });
        files.push((uri, version(&change.file), edits.collect()));
    }
    if !versioned {
        let changes: HashMap<_, _> = files.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let edit = |(uri, version, edits): (Url, Option<i32>, Vec<TextEdit>)| TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
        edits: edits.into_iter().map(OneOf::Left).collect(),
    };
    let edits = files.into_iter().map(edit).collect();
    WorkspaceEdit { document_changes: Some(DocumentChanges::Edits(edits)), ..WorkspaceEdit::default() }
}
