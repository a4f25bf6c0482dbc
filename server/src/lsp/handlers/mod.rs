//! One file per method. Standard methods are wired in `backend.rs`, our own ones here.

use super::backend::Backend;
use tower_lsp::LspServiceBuilder;

pub(super) mod code_action;
pub(super) mod code_lens;
pub(super) mod completion;
pub(super) mod configuration;
pub(super) mod definition;
pub(super) mod diagnostic;
pub(super) mod did_change;
pub(super) mod did_close;
pub(super) mod did_open;
pub(super) mod did_save;
pub(super) mod document_link;
pub(super) mod document_symbol;
mod edits;
pub(super) mod execute_command;
pub(super) mod file_operations;
pub(super) mod folding_range;
pub(super) mod formatting;
pub(super) mod hover;
pub(super) mod initialize;
pub(super) mod inlay_hint;
pub(super) mod linked_editing;
#[cfg(debug_assertions)]
pub(super) mod panic;
pub(super) mod preview;
pub(super) mod preview_diff;
pub(super) mod progress_cancel;
pub(super) mod references;
pub(super) mod rename;
pub(super) mod selection_range;
pub(super) mod semantic_tokens;
pub(super) mod set_trace;
pub(super) mod version;
pub(super) mod virtual_text;
pub(super) mod watched_files;
pub(super) mod workspace_folders;
pub(super) mod workspace_symbol;

/// The methods that the protocol does not have.
pub(super) fn own(service: LspServiceBuilder<Backend>) -> LspServiceBuilder<Backend> {
    // These two belong to the protocol; the library leaves them out.
    let service = service
        .custom_method("$/setTrace", set_trace::handle)
        .custom_method("window/workDoneProgress/cancel", progress_cancel::handle);
    #[cfg(debug_assertions)]
    let service = service.custom_method("llsd/panic", panic::handle);
    service
        .custom_method("llsd/preview", preview::handle)
        .custom_method("llsd/previewDiff", preview_diff::handle)
        .custom_method("llsd/version", version::handle)
        .custom_method("llsd/document", virtual_text::handle)
        .custom_method("workspace/textDocumentContent", virtual_text::handle)
}
