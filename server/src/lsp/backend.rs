//! The protocol's methods, each handed to its file in `handlers`.

use super::builds::Builds;
use super::capabilities::Client as Capabilities;
use super::cluster::Access;
use super::configuration::Configuration;
use super::files::ClosedFiles;
use super::guard::{Exit, internal, message};
use super::outgoing::Outgoing;
use super::progress::RunningWork;
use super::workspace_files::Names;
use super::{computing, convert, handlers};
use crate::documents::Snapshot;
use crate::ide::{Analysis, Stop};
use crate::schedule::CancelOnDrop;
use crate::session::Session;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{self as lsp, Url};
use tower_lsp::{Client, LanguageServer, async_trait};

/// What handlers and workers share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The way to the client.
    pub client: Client,
    /// The same way, for messages that are written here.
    pub outgoing: Outgoing,
    /// The open documents, and what all files contribute to each other.
    pub session: Session,
    /// Which files mention which names.
    pub names: Names,
    /// What the client can do; set once by `initialize`.
    pub capabilities: OnceLock<Capabilities>,
    /// The semantic tokens sent last, for answers that are a difference.
    pub tokens: handlers::semantic_tokens::LastTokens,
    /// Documentation of what was offered last.
    pub offered: handlers::completion::CompletionDocs,
    /// The configs shown last, for when none can be generated.
    pub previews: handlers::preview::LastPreviews,
    /// The settings of each folder, and the projects that files belong to.
    pub configuration: Configuration,
    /// Files that are not open.
    pub files: ClosedFiles,
    /// What builders make of the files, where the user wants that.
    pub builds: Builds,
    /// The status of resources in the cluster, where the user wants that.
    pub cluster: Access,
    /// Long work that the client shows.
    pub progress: RunningWork,
    /// The end of the session.
    pub exit: Arc<Exit>,
    folders: Mutex<Vec<Url>>,
    published: Mutex<HashSet<Arc<str>>>,
    watched: AtomicBool,
}

impl Shared {
    /// What the client can do. Before `initialize`: the least.
    pub(super) fn client_capabilities(&self) -> &Capabilities {
        static LEAST: OnceLock<Capabilities> = OnceLock::new();
        self.capabilities.get().unwrap_or_else(|| LEAST.get_or_init(Capabilities::default))
    }

    /// The analysis of a version of a document, as the settings want it. `None`: stopped.
    pub(super) fn analysis(&self, snapshot: &Snapshot, stop: Stop<'_>) -> Option<Arc<Analysis>> {
        let settings = self.configuration.of(&snapshot.name);
        self.session.analysis(snapshot, settings.assumed(), stop)
    }

    /// Takes note of the names in a file on disk, or that there are none. An open document is known better.
    pub(super) fn learn_names(&self, file: &str, analysis: Option<&Analysis>) {
        if self.session.snapshot(file).is_none() {
            match analysis {
                Some(analysis) => self.names.learn(file, analysis),
                None => self.names.with(|index| index.remove(file)),
            }
        }
    }

    /// The workspace folders as the client named them last.
    pub(super) fn folders(&self) -> Vec<Url> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of new and removed workspace folders.
    pub(super) fn change_folders(&self, added: &[Url], removed: &[Url]) {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        folders.retain(|folder| !removed.contains(folder));
        let new: Vec<_> = added.iter().filter(|folder| !folders.contains(folder)).cloned().collect();
        folders.extend(new);
    }

    /// The URI of a file or document, as the client spells it.
    pub(super) fn uri(&self, name: &str) -> Option<Url> {
        let open = self.session.snapshot(name).map(|snapshot| Arc::clone(&snapshot.uri));
        Url::parse(open.as_deref().unwrap_or(name)).ok()
    }

    /// Notes that files are watched now. True if they were before.
    pub(super) fn mark_watched(&self) -> bool {
        self.watched.swap(true, Ordering::AcqRel)
    }

    /// Has a client that asks for diagnostics ask again. Nobody waits for its answer.
    pub(super) fn refresh_diagnostics(&self) {
        let client = self.client.clone();
        if self.client_capabilities().pulls && self.client_capabilities().refreshes_diagnostics {
            tokio::spawn(async move { client.workspace_diagnostic_refresh().await });
        }
    }

    /// Has the client ask for inlay hints again. Nobody waits for its answer.
    pub(super) fn refresh_hints(&self) {
        let client = self.client.clone();
        if self.client_capabilities().refreshes_hints {
            tokio::spawn(async move { client.inlay_hint_refresh().await });
        }
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
    pub(super) fn new(client: Client, outgoing: Outgoing, exit: Arc<Exit>) -> Self {
        let shared = Shared {
            client,
            outgoing,
            session: Session::default(),
            names: Names::default(),
            capabilities: OnceLock::new(),
            configuration: Configuration::default(),
            files: ClosedFiles::default(),
            builds: Builds::default(),
            cluster: Access::default(),
            progress: RunningWork::default(),
            exit,
            folders: Mutex::default(),
            tokens: Default::default(),
            offered: Default::default(),
            previews: Default::default(),
            published: Mutex::default(),
            watched: AtomicBool::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Asks a question about the version of `uri` that is current when this is first polled, off the request loop.
    /// None for a document that is not open.
    pub(super) async fn ask<T, F>(&self, uri: &Url, what: &'static str, query: F) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Shared, &Snapshot, &Analysis) -> T + Send + 'static,
    {
        let Some(snapshot) = self.shared.session.snapshot(&convert::name(uri)) else { return Ok(None) };
        self.ask_of(snapshot, what, query).await
    }

    /// Asks a question about one version of a document, off the request loop. A request that is cancelled stops the
    /// work that it began. None: cancelled.
    pub(super) async fn ask_of<T, F>(&self, snapshot: Arc<Snapshot>, what: &'static str, query: F) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Shared, &Snapshot, &Analysis) -> T + Send + 'static,
    {
        let answer = self.run(what, move |shared, stop| {
            let analysis = shared.analysis(&snapshot, stop)?;
            (!stop()).then(|| query(shared, &snapshot, &analysis))
        });
        Ok(answer.await?.flatten())
    }

    /// Does what takes CPU time off the request loop. `job` may ask whether anybody still waits for it. None: nobody
    /// did when its turn came.
    pub(super) async fn run<T, F>(&self, what: &'static str, job: F) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Shared, Stop<'_>) -> T + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        let cancel = CancelOnDrop::default();
        let asked = cancel.0.clone();
        let job = move || (!asked.is_cancelled()).then(|| job(&shared, &|| asked.is_cancelled()));
        match computing::spawn(job).await {
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

    async fn did_save(&self, params: lsp::DidSaveTextDocumentParams) {
        handlers::did_save::handle(self, &params);
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        handlers::did_close::handle(self, params);
    }

    async fn did_change_configuration(&self, params: lsp::DidChangeConfigurationParams) {
        handlers::configuration::handle(self, params);
    }

    async fn did_create_files(&self, params: lsp::CreateFilesParams) {
        handlers::file_operations::created(self, params);
    }

    async fn will_rename_files(&self, params: lsp::RenameFilesParams) -> Result<Option<lsp::WorkspaceEdit>> {
        handlers::file_operations::renaming(self, params).await
    }

    async fn did_rename_files(&self, params: lsp::RenameFilesParams) {
        handlers::file_operations::renamed(self, params);
    }

    async fn did_delete_files(&self, params: lsp::DeleteFilesParams) {
        handlers::file_operations::deleted(self, params);
    }

    async fn workspace_diagnostic(
        &self,
        params: lsp::WorkspaceDiagnosticParams,
    ) -> Result<lsp::WorkspaceDiagnosticReportResult> {
        handlers::diagnostic::workspace(self, params).await
    }

    async fn did_change_watched_files(&self, params: lsp::DidChangeWatchedFilesParams) {
        handlers::watched_files::handle(self, params);
    }

    async fn did_change_workspace_folders(&self, params: lsp::DidChangeWorkspaceFoldersParams) {
        handlers::workspace_folders::handle(self, params);
    }

    async fn completion_resolve(&self, item: lsp::CompletionItem) -> Result<lsp::CompletionItem> {
        Ok(handlers::completion::resolve(self, item))
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

    async fn goto_definition(&self, params: lsp::GotoDefinitionParams) -> Result<Option<lsp::GotoDefinitionResponse>> {
        handlers::definition::definition(self, params).await
    }

    async fn goto_implementation(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        handlers::definition::implementation(self, params).await
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        handlers::references::references(self, params).await
    }

    async fn document_highlight(
        &self,
        params: lsp::DocumentHighlightParams,
    ) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
        handlers::references::highlight(self, params).await
    }

    async fn prepare_rename(
        &self,
        params: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        handlers::rename::prepare(self, params).await
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        handlers::rename::rename(self, params).await
    }

    async fn symbol(&self, params: lsp::WorkspaceSymbolParams) -> Result<Option<Vec<lsp::SymbolInformation>>> {
        handlers::workspace_symbol::handle(self, params).await
    }

    async fn document_link(&self, params: lsp::DocumentLinkParams) -> Result<Option<Vec<lsp::DocumentLink>>> {
        handlers::document_link::handle(self, params).await
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

    async fn code_action_resolve(&self, action: lsp::CodeAction) -> Result<lsp::CodeAction> {
        handlers::code_action::resolve(self, action).await
    }
}
