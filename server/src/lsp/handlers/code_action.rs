//! `textDocument/codeAction` and `codeAction/resolve`: fixes, refactorings and migrations at a place.

use super::edits;
use crate::documents::Snapshot;
use crate::ide::{self, Analysis, MigrationOffer, MigrationTarget, Query, TextId};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::workspace_files::QueryFiles;
use crate::lsp::{convert, publish};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    self as lsp, CodeAction, CodeActionDisabled, CodeActionKind, CodeActionOrCommand, CodeActionParams,
    CodeActionResponse, NumberOrString, Url,
};

/// Our part of `source.fixAll`, so that editors can run it alone.
pub(in crate::lsp) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.llsd");

/// Rewrites as v1alpha2, so that clients know them from other rewrites.
pub(in crate::lsp) const MIGRATE: CodeActionKind = CodeActionKind::new("refactor.rewrite.llsd.migrate");

/// Rewrites as `OGXServer`. Not below [`MIGRATE`]: clients that ask for that want the next version of the resource.
pub(in crate::lsp) const TO_OGX: CodeActionKind = CodeActionKind::new("refactor.rewrite.llsd.ogx");

/// Rewrites a config for another version of the server.
pub(in crate::lsp) const CONFIG: CodeActionKind = CodeActionKind::new("refactor.rewrite.llsd.config");

/// What a migration needs to be made later.
#[derive(Debug, Serialize, Deserialize)]
struct Later {
    uri: Url,
    version: i32,
    target: MigrationTarget,
    document: usize,
    resource: usize,
    fold: bool,
    remove: bool,
    deletes: bool,
}

/// Fixes and rewrites for a range, and `source.fixAll` for the file.
pub(in crate::lsp) async fn handle(backend: &Backend, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
    let uri = params.text_document.uri.clone();
    let query =
        move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| actions(shared, snapshot, analysis, &params);
    backend.ask(&uri, "textDocument/codeAction", query).await
}

/// Makes the change of a migration that was offered, and tells what it does not keep. One of another version of the
/// document gets none.
pub(in crate::lsp) async fn resolve(backend: &Backend, mut action: CodeAction) -> Result<CodeAction> {
    let Some(Ok(later)) = action.data.clone().map(serde_json::from_value::<Later>) else { return Ok(action) };
    let uri = later.uri.clone();
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let Later { uri, version, target, document, resource, fold, remove, deletes } = later;
        let (title, refused) = Default::default();
        let offer = MigrationOffer { title, target, document, resource, fold, remove, deletes, refused };
        let library = QueryFiles::new(shared);
        let about = about(snapshot, analysis, &library);
        let migrated = (snapshot.version == version).then(|| ide::accept_migration(&about, &offer))?;
        Some(
            migrated
                .map(|migrated| (edits::of_files(shared, snapshot, &uri, change(&migrated)), migrated.noteworthy())),
        )
    };
    match backend.ask(&uri, "codeAction/resolve", query).await?.flatten() {
        Some(Ok((edit, report))) => {
            // for clients that show it together with the change, before that is made
            action.data = Some(serde_json::json!({ "told": report }));
            edits::tell(&backend.shared, report);
            action.edit = Some(edit);
            Ok(action)
        }
        Some(Err(why)) => Err(edits::refused(format!("Nothing was migrated: {why}"))),
        None => Err(edits::refused("The document has changed since: ask again")),
    }
}

fn about<'a>(snapshot: &Snapshot, analysis: &'a Analysis, library: &'a QueryFiles<'_>) -> Query<'a> {
    let place = TextId::File(Arc::clone(&snapshot.name));
    Query { place, analysis: Some(analysis), library, generated: false }
}

fn change(migrated: &ide::Migrated) -> edits::Change<'_> {
    edits::Change { own: &migrated.edits, others: &migrated.others, deletes: migrated.deletes.as_deref() }
}

fn actions(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis, params: &CodeActionParams) -> CodeActionResponse {
    let client = shared.client_capabilities();
    let uri = &params.text_document.uri;
    let library = QueryFiles::new(shared);
    let about = about(snapshot, analysis, &library);
    let edit = |change: edits::Change<'_>| Some(edits::of_files(shared, snapshot, uri, change));
    let mut actions = Vec::new();
    let span = convert::span(&snapshot.rope, params.range, client.encoding);
    if is_wanted(params, &CodeActionKind::QUICKFIX) {
        let style = publish::DiagnosticStyle::of(shared, &snapshot.name, &snapshot.uri);
        let shown = publish::converted(&style, &snapshot.rope, analysis.diagnostics_around(span));
        let settings = shared.configuration.of(&snapshot.name);
        let is_on = |action: &ide::CodeAction| {
            action.fixes.is_none_or(|(code, _)| settings.severity.of(code, ide::Severity::Error).is_some())
        };
        for action in ide::quick_fixes(&about, span).into_iter().filter(is_on) {
            let mended = action.fixes.map(|(code, span)| {
                let range = convert::range(&snapshot.rope, span, client.encoding);
                shown.iter().filter(|shown| is(shown, code, range)).cloned().collect::<Vec<_>>()
            });
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: action.title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: mended.filter(|mended| !mended.is_empty()),
                edit: edit(edits::Change { own: &action.edits, others: &action.others, deletes: None }),
                is_preferred: action.preferred.then_some(true),
                ..CodeAction::default()
            }));
        }
    }
    if [MIGRATE, TO_OGX, CONFIG].iter().any(|kind| is_wanted(params, kind)) {
        let possible =
            |offer: &MigrationOffer| (client.deletes_files || !offer.deletes) && is_wanted(params, &kind_of(offer));
        for offer in ide::migration_offers(&about, span).into_iter().filter(possible) {
            let kind = Some(kind_of(&offer));
            let mut action = CodeAction { title: offer.title.clone(), kind, ..CodeAction::default() };
            if let Some(reason) = offer.refused {
                if client.disabled_actions {
                    action.disabled = Some(CodeActionDisabled { reason: format!("Not migrated: {reason}") });
                    actions.push(CodeActionOrCommand::CodeAction(action));
                }
                continue;
            }
            if client.resolves_actions {
                action.data = later(uri, snapshot.version, &offer);
            } else {
                let Ok(migrated) = ide::accept_migration(&about, &offer) else { continue };
                // nobody asks again before the change is made: the title has to tell what is lost
                if let Some(worst) = migrated.lines().first().filter(|_| !migrated.means_the_same()) {
                    action.title = format!("{} ({worst})", action.title);
                }
                action.edit = edit(change(&migrated));
            }
            actions.push(CodeActionOrCommand::CodeAction(action));
        }
    }
    // Only on demand: in the menu of every line it would be noise.
    if asks_for(params, &FIX_ALL) {
        let edits = ide::fix_everything(analysis);
        if !edits.is_empty() {
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: "Fix everything that has one obvious fix".to_owned(),
                kind: Some(FIX_ALL),
                edit: edit(edits::Change { own: &edits, ..edits::Change::default() }),
                ..CodeAction::default()
            }));
        }
    }
    actions
}

fn later(uri: &Url, version: i32, offer: &MigrationOffer) -> Option<serde_json::Value> {
    let MigrationOffer { document, resource, fold, remove, deletes, .. } = *offer;
    let (uri, target) = (uri.clone(), offer.target.clone());
    serde_json::to_value(Later { uri, version, target, document, resource, fold, remove, deletes }).ok()
}

fn kind_of(offer: &MigrationOffer) -> CodeActionKind {
    match offer.target {
        MigrationTarget::Newer => MIGRATE,
        MigrationTarget::Ogx { .. } => TO_OGX,
        MigrationTarget::Config { .. } => CONFIG,
    }
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
