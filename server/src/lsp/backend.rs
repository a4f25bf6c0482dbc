//! The protocol's methods, each handed to its file in `handlers`.

use super::capabilities::Client as Capabilities;
use super::guard::{internal, message};
use super::handlers;
use crate::documents::Snapshot;
use crate::ide::Analysis;
use crate::schedule::CancelOnDrop;
use crate::session::Session;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{self as lsp, Url};
use tower_lsp::{Client, LanguageServer, async_trait};

/// What handlers and workers share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The way to the client.
    pub client: Client,
    /// Documents and workspace.
    pub session: Session,
    /// What the client can do; set once by `initialize`.
    pub capabilities: OnceLock<Capabilities>,
    /// Workspace folders, to be looked through once the client is ready.
    pub folders: Mutex<Vec<Url>>,
    /// Tokens sent last.
    pub tokens: handlers::semantic_tokens::Sent,
    /// Configs shown last.
    pub previews: handlers::preview::Shown,
    published: Mutex<HashSet<Arc<str>>>,
}

impl Shared {
    /// What the client can do. Before `initialize`: the least.
    pub(super) fn client_capabilities(&self) -> &Capabilities {
        static LEAST: OnceLock<Capabilities> = OnceLock::new();
        self.capabilities.get().unwrap_or_else(|| LEAST.get_or_init(Capabilities::default))
    }

    /// Notes whether the client now shows diagnostics of a document. True if it did so before.
    pub(super) fn mark_published(&self, name: &Arc<str>, shown: bool) -> bool {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        if shown { !published.insert(Arc::clone(name)) } else { published.remove(name) }
    }
}

/// The server as `tower-lsp` sees it.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) shared: Arc<Shared>,
}

impl Backend {
    /// A server for one client.
    pub(super) fn new(client: Client) -> Self {
        let shared = Shared {
            client,
            session: Session::default(),
            capabilities: OnceLock::new(),
            folders: Mutex::default(),
            tokens: Default::default(),
            previews: Default::default(),
            published: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Asks a question about the version of `uri` that is current when this is first polled, off the request loop.
    /// None for a document that is not open.
    pub(super) async fn ask<T, F>(&self, uri: &Url, what: &'static str, question: F) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Shared, &Snapshot, &Analysis) -> T + Send + 'static,
    {
        let Some(snapshot) = self.shared.session.snapshot(uri.as_str()) else { return Ok(None) };
        let shared = Arc::clone(&self.shared);
        let cancel = CancelOnDrop::default();
        let asked = cancel.0.clone();
        let job = move || {
            let analysis = shared.session.analysis(&snapshot, &|| asked.is_cancelled())?;
            (!asked.is_cancelled()).then(|| question(&shared, &snapshot, &analysis))
        };
        match tokio::task::spawn_blocking(job).await {
            // None: cancelled, which means that nobody is here to be answered.
            Ok(answer) => Ok(answer),
            Err(error) => {
                if let Ok(panic) = error.try_into_panic() {
                    tracing::error!(what, panic = message(panic.as_ref()), "a request panicked");
                }
                Err(internal(what))
            }
        }
    }
}

/// One line per method. Types are written `lsp::Type`, so that a new method is one new block.
#[async_trait]
impl LanguageServer for Backend {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        Ok(handlers::initialize::handle(self, params))
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        handlers::initialize::ready(self);
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        handlers::did_open::handle(self, params);
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        handlers::did_change::handle(self, params);
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        handlers::did_close::handle(self, params).await;
    }

    async fn did_change_watched_files(&self, params: lsp::DidChangeWatchedFilesParams) {
        handlers::watched_files::handle(self, params);
    }

    async fn did_change_workspace_folders(&self, params: lsp::DidChangeWorkspaceFoldersParams) {
        handlers::workspace_folders::handle(self, params);
    }

    async fn completion(&self, params: lsp::CompletionParams) -> Result<Option<lsp::CompletionResponse>> {
        handlers::completion::handle(self, params).await
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        handlers::hover::handle(self, params).await
    }

    async fn code_action(&self, params: lsp::CodeActionParams) -> Result<Option<lsp::CodeActionResponse>> {
        handlers::code_action::handle(self, params).await
    }

    async fn document_symbol(&self, params: lsp::DocumentSymbolParams) -> Result<Option<lsp::DocumentSymbolResponse>> {
        handlers::document_symbol::handle(self, params).await
    }

    async fn diagnostic(&self, params: lsp::DocumentDiagnosticParams) -> Result<lsp::DocumentDiagnosticReportResult> {
        handlers::diagnostic::handle(self, params).await
    }

    async fn folding_range(&self, params: lsp::FoldingRangeParams) -> Result<Option<Vec<lsp::FoldingRange>>> {
        handlers::folding_range::handle(self, params).await
    }

    async fn selection_range(&self, params: lsp::SelectionRangeParams) -> Result<Option<Vec<lsp::SelectionRange>>> {
        handlers::selection_range::handle(self, params).await
    }

    async fn linked_editing_range(
        &self,
        params: lsp::LinkedEditingRangeParams,
    ) -> Result<Option<lsp::LinkedEditingRanges>> {
        handlers::linked_editing::handle(self, params).await
    }

    async fn formatting(&self, params: lsp::DocumentFormattingParams) -> Result<Option<Vec<lsp::TextEdit>>> {
        handlers::formatting::whole(self, params).await
    }

    async fn range_formatting(&self, params: lsp::DocumentRangeFormattingParams) -> Result<Option<Vec<lsp::TextEdit>>> {
        handlers::formatting::range(self, params).await
    }

    async fn on_type_formatting(
        &self,
        params: lsp::DocumentOnTypeFormattingParams,
    ) -> Result<Option<Vec<lsp::TextEdit>>> {
        handlers::formatting::on_type(self, params).await
    }

    async fn semantic_tokens_full(
        &self,
        params: lsp::SemanticTokensParams,
    ) -> Result<Option<lsp::SemanticTokensResult>> {
        handlers::semantic_tokens::full(self, params).await
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: lsp::SemanticTokensDeltaParams,
    ) -> Result<Option<lsp::SemanticTokensFullDeltaResult>> {
        handlers::semantic_tokens::delta(self, params).await
    }

    async fn semantic_tokens_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        handlers::semantic_tokens::range(self, params).await
    }

    async fn inlay_hint(&self, params: lsp::InlayHintParams) -> Result<Option<Vec<lsp::InlayHint>>> {
        handlers::inlay_hint::handle(self, params).await
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        handlers::code_lens::handle(self, params).await
    }

    async fn execute_command(&self, params: lsp::ExecuteCommandParams) -> Result<Option<serde_json::Value>> {
        handlers::execute_command::handle(self, params).await
    }
}
