//! What client and server can do for each other, decided once at `initialize`.

use super::convert::Encoding;
use super::handlers::{code_action, execute_command, semantic_tokens};
use tower_lsp::lsp_types::{self as lsp, OneOf, ServerCapabilities};

/// The client's side, as far as answers depend on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    /// The unit in which positions are counted.
    pub encoding: Encoding,
    /// Whether the client asks for the documentation of an offer when it shows it.
    pub resolves_documentation: bool,
    /// Whether completions may hold placeholders.
    pub snippets: bool,
    /// Whether a completion can say that its later lines are to be indented like the line of the cursor.
    pub adjusts_indentation: bool,
    /// Whether the outline may be a tree.
    pub nested_symbols: bool,
    /// Whether code actions may be more than commands.
    pub action_literals: bool,
    /// Whether diagnostics may name other places.
    pub related: bool,
    /// Whether the client asks for diagnostics itself, so that none are pushed.
    pub pulls: bool,
    /// Whether the client accepts to watch files for the server.
    pub watches: bool,
    /// Whether the client applies changes that the server asks for.
    pub applies_edits: bool,
    /// Whether the client asks for the change of a code action when it is chosen.
    pub resolves_actions: bool,
    /// Whether the client shows code actions that cannot be done, with the reason.
    pub disabled_actions: bool,
    /// Whether changes may name the version of the document that they are for.
    pub versioned_edits: bool,
    /// Whether changes may ask for the user's consent.
    pub annotated_edits: bool,
    /// Whether changes may delete files.
    pub deletes_files: bool,
    /// Commands that the client runs itself, from `initializationOptions.commands`. Others are never sent to it.
    pub commands: Vec<String>,
    /// Whether watched files may be described relative to a folder.
    pub relative_patterns: bool,
    /// Whether the client answers questions about settings.
    pub configuration: bool,
    /// Whether the client lets the server say for which changes of settings it wants to be told.
    pub registers_configuration: bool,
    /// Whether the client shows the progress of long work.
    pub progress: bool,
    /// Whether the client asks for diagnostics again when told so.
    pub refreshes_diagnostics: bool,
    /// Whether the client asks for inlay hints again when told so.
    pub refreshes_hints: bool,
    /// Whether the client can show texts that are in no file, see [`super::virtual_document`].
    pub virtual_documents: bool,
    /// Whether the user has not said that the folders may be trusted: nothing is run for them then.
    pub untrusted: bool,
    /// Whether the client asks what would be renamed before it asks for a name.
    pub prepares_rename: bool,
}

impl Client {
    /// Reads what the client said of itself. Clients that both ask for diagnostics and show pushed ones would show
    /// each twice, so asking has to be chosen: `initializationOptions: {"diagnostics": "pull"}`.
    pub(super) fn new(params: &lsp::InitializeParams) -> Self {
        let lsp::ClientCapabilities { general, text_document, workspace, window, .. } = &params.capabilities;
        let offered = general.as_ref().and_then(|general| general.position_encodings.as_deref());
        let text_document = text_document.as_ref();
        let workspace = workspace.as_ref();
        let options = params.initialization_options.as_ref();
        let wants_pull = options.and_then(|options| options.get("diagnostics")).is_some_and(|how| how == "pull");
        Self {
            encoding: Encoding::negotiate(offered),
            resolves_documentation: text_document
                .and_then(|text| text.completion.as_ref()?.completion_item.as_ref()?.resolve_support.as_ref())
                .is_some_and(|support| support.properties.iter().any(|property| property == "documentation")),
            snippets: text_document
                .and_then(|text| text.completion.as_ref()?.completion_item.as_ref()?.snippet_support)
                .unwrap_or(false),
            adjusts_indentation: text_document
                .and_then(|text| text.completion.as_ref()?.completion_item.as_ref()?.insert_text_mode_support.as_ref())
                .is_some_and(|support| support.value_set.contains(&lsp::InsertTextMode::ADJUST_INDENTATION)),
            nested_symbols: text_document
                .and_then(|text| text.document_symbol.as_ref()?.hierarchical_document_symbol_support)
                .unwrap_or(false),
            action_literals: text_document
                .and_then(|text| text.code_action.as_ref()?.code_action_literal_support.as_ref())
                .is_some(),
            related: text_document
                .and_then(|text| text.publish_diagnostics.as_ref()?.related_information)
                .unwrap_or(false),
            pulls: wants_pull && text_document.is_some_and(|text| text.diagnostic.is_some()),
            virtual_documents: options.and_then(|options| options.get("virtualDocuments")?.as_bool()).unwrap_or(false),
            untrusted: options.and_then(|options| options.get("untrusted")?.as_bool()).unwrap_or(false),
            prepares_rename: text_document.and_then(|text| text.rename.as_ref()?.prepare_support).unwrap_or(false),
            watches: workspace
                .and_then(|workspace| workspace.did_change_watched_files.as_ref()?.dynamic_registration)
                .unwrap_or(false),
            applies_edits: workspace.and_then(|workspace| workspace.apply_edit).unwrap_or(false),
            resolves_actions: text_document
                .and_then(|text| text.code_action.as_ref())
                .filter(|action| action.data_support == Some(true))
                .and_then(|action| action.resolve_support.as_ref())
                .is_some_and(|support| support.properties.iter().any(|property| property == "edit")),
            disabled_actions: text_document
                .and_then(|text| text.code_action.as_ref()?.disabled_support)
                .unwrap_or(false),
            versioned_edits: workspace
                .and_then(|workspace| workspace.workspace_edit.as_ref()?.document_changes)
                .unwrap_or(false),
            annotated_edits: workspace
                .and_then(|workspace| workspace.workspace_edit.as_ref()?.change_annotation_support.as_ref())
                .is_some(),
            deletes_files: workspace
                .and_then(|workspace| workspace.workspace_edit.as_ref())
                .filter(|edit| edit.document_changes == Some(true))
                .and_then(|edit| edit.resource_operations.as_ref())
                .is_some_and(|all| all.contains(&lsp::ResourceOperationKind::Delete)),
            commands: options
                .and_then(|options| options.get("commands")?.as_array())
                .into_iter()
                .flatten()
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect(),
            relative_patterns: workspace
                .and_then(|workspace| workspace.did_change_watched_files.as_ref()?.relative_pattern_support)
                .unwrap_or(false),
            configuration: workspace.and_then(|workspace| workspace.configuration).unwrap_or(false),
            registers_configuration: workspace
                .and_then(|workspace| workspace.did_change_configuration.as_ref()?.dynamic_registration)
                .unwrap_or(false),
            progress: window.as_ref().and_then(|window| window.work_done_progress).unwrap_or(false),
            refreshes_diagnostics: workspace
                .and_then(|workspace| workspace.diagnostic.as_ref()?.refresh_support)
                .unwrap_or(false),
            refreshes_hints: workspace
                .and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support)
                .unwrap_or(false),
        }
    }
}

/// The server's side, a line or block per feature.
pub(super) fn server(client: &Client) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(lsp::TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
            save: Some(lsp::TextDocumentSyncSaveOptions::SaveOptions(lsp::SaveOptions { include_text: Some(false) })),
            ..lsp::TextDocumentSyncOptions::default()
        })),
        completion_provider: Some(lsp::CompletionOptions {
            // Keys and values are words; these start one, in block and in flow style. No character commits an offer:
            // any of them may be part of a value.
            trigger_characters: Some([" ", ":", "-", "\"", "'", "\n", "{", "[", ","].map(str::to_owned).to_vec()),
            resolve_provider: Some(true),
            ..lsp::CompletionOptions::default()
        }),
        hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
        code_action_provider: client.action_literals.then(|| {
            lsp::CodeActionProviderCapability::Options(lsp::CodeActionOptions {
                code_action_kinds: Some(vec![
                    lsp::CodeActionKind::QUICKFIX,
                    code_action::MIGRATE,
                    code_action::TO_OGX,
                    code_action::CONFIG,
                    code_action::FIX_ALL,
                ]),
                resolve_provider: client.resolves_actions.then_some(true),
                ..lsp::CodeActionOptions::default()
            })
        }),
        definition_provider: Some(OneOf::Left(true)),
        implementation_provider: Some(lsp::ImplementationProviderCapability::Simple(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(if client.prepares_rename {
            OneOf::Right(lsp::RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
            })
        } else {
            OneOf::Left(true)
        }),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        document_link_provider: Some(lsp::DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        }),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        document_on_type_formatting_provider: Some(lsp::DocumentOnTypeFormattingOptions {
            first_trigger_character: "\n".to_owned(),
            more_trigger_character: None,
        }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(lsp::CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: client.applies_edits.then(|| lsp::ExecuteCommandOptions {
            commands: vec![execute_command::MIGRATE.to_owned()],
            ..lsp::ExecuteCommandOptions::default()
        }),
        semantic_tokens_provider: Some(lsp::SemanticTokensServerCapabilities::SemanticTokensOptions(
            lsp::SemanticTokensOptions {
                legend: semantic_tokens::legend(),
                range: Some(true),
                full: Some(lsp::SemanticTokensFullOptions::Delta { delta: Some(true) }),
                ..lsp::SemanticTokensOptions::default()
            },
        )),
        folding_range_provider: Some(lsp::FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(lsp::SelectionRangeProviderCapability::Simple(true)),
        linked_editing_range_provider: Some(lsp::LinkedEditingRangeServerCapabilities::Simple(true)),
        diagnostic_provider: client.pulls.then(|| {
            lsp::DiagnosticServerCapabilities::Options(lsp::DiagnosticOptions {
                identifier: Some("llsd".to_owned()),
                // A Secret edited in one file changes what another one's reference is worth.
                inter_file_dependencies: true,
                workspace_diagnostics: true,
                ..lsp::DiagnosticOptions::default()
            })
        }),
        workspace: Some(lsp::WorkspaceServerCapabilities {
            workspace_folders: Some(lsp::WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: Some(file_operations()),
        }),
        ..ServerCapabilities::default()
    }
}

/// The files and folders of which a client tells that its user created, renamed or deleted them.
fn file_operations() -> lsp::WorkspaceFileOperationsServerCapabilities {
    let filter = |glob: &str, kind| lsp::FileOperationFilter {
        scheme: Some("file".to_owned()),
        pattern: lsp::FileOperationPattern { glob: glob.to_owned(), matches: Some(kind), options: None },
    };
    let options = || lsp::FileOperationRegistrationOptions {
        filters: vec![
            filter("**/*.{yaml,yml}", lsp::FileOperationPatternKind::File),
            filter("**", lsp::FileOperationPatternKind::Folder),
        ],
    };
    lsp::WorkspaceFileOperationsServerCapabilities {
        did_create: Some(options()),
        did_rename: Some(options()),
        will_rename: Some(options()),
        did_delete: Some(options()),
        ..lsp::WorkspaceFileOperationsServerCapabilities::default()
    }
}
