//! `textDocument/codeAction`.

use crate::documents::Snapshot;
use crate::ide::{self, ActionKind, Analysis};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::{convert, publish};
use std::collections::HashMap;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    self as lsp, CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, NumberOrString,
    WorkspaceEdit,
};

/// Fixes and rewrites for a range, and `source.fixAll` for the file.
pub(in crate::lsp) async fn handle(backend: &Backend, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
    let uri = params.text_document.uri.clone();
    let question =
        move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| actions(shared, snapshot, analysis, &params);
    backend.ask(&uri, "textDocument/codeAction", question).await
}

fn actions(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis, params: &CodeActionParams) -> CodeActionResponse {
    let encoding = shared.client_capabilities().encoding;
    let uri = &params.text_document.uri;
    let edit = |edits: &[ide::TextEdit]| {
        let edits = edits.iter().map(|edit| convert::text_edit(&snapshot.rope, edit, encoding)).collect();
        Some(WorkspaceEdit { changes: Some(HashMap::from([(uri.clone(), edits)])), ..WorkspaceEdit::default() })
    };
    let mut actions = Vec::new();
    let span = convert::span(&snapshot.rope, params.range, encoding);
    let shown = publish::diagnostics(shared, snapshot, analysis);
    for action in ide::code_actions(analysis, span) {
        let kind = match action.kind {
            ActionKind::QuickFix => CodeActionKind::QUICKFIX,
            ActionKind::Rewrite => CodeActionKind::REFACTOR_REWRITE,
        };
        if !is_wanted(params, &kind) {
            continue;
        }
        let mended = action.fixes.map(|(code, span)| {
            let range = convert::range(&snapshot.rope, span, encoding);
            shown.iter().filter(|shown| is(shown, code, range)).cloned().collect::<Vec<_>>()
        });
        actions.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: action.title,
            kind: Some(kind),
            diagnostics: mended.filter(|mended| !mended.is_empty()),
            edit: edit(&action.edits),
            is_preferred: action.preferred.then_some(true),
            ..CodeAction::default()
        }));
    }
    // Only on demand: in the menu of every line it would be noise.
    if asks_for(params, &CodeActionKind::SOURCE_FIX_ALL) {
        let edits = ide::fix_all(analysis);
        if !edits.is_empty() {
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: "Fix everything that has one obvious fix".to_owned(),
                kind: Some(CodeActionKind::SOURCE_FIX_ALL),
                edit: edit(&edits),
                ..CodeAction::default()
            }));
        }
    }
    actions
}

fn is(shown: &lsp::Diagnostic, code: &str, range: lsp::Range) -> bool {
    shown.range == range && matches!(&shown.code, Some(NumberOrString::String(found)) if found == code)
}

/// Without a filter the client wants all kinds; a kind stands for its sub-kinds.
fn is_wanted(params: &CodeActionParams, kind: &CodeActionKind) -> bool {
    params.context.only.is_none() || asks_for(params, kind)
}

fn asks_for(params: &CodeActionParams, kind: &CodeActionKind) -> bool {
    params.context.only.iter().flatten().any(|wanted| {
        let rest = kind.as_str().strip_prefix(wanted.as_str());
        rest.is_some_and(|rest| wanted.as_str().is_empty() || rest.is_empty() || rest.starts_with('.'))
    })
}
