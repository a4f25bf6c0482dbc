//! One file per method.

pub(super) mod code_action;
pub(super) mod completion;
pub(super) mod diagnostic;
pub(super) mod did_change;
pub(super) mod did_close;
pub(super) mod did_open;
pub(super) mod document_symbol;
pub(super) mod hover;
pub(super) mod initialize;
pub(super) mod preview;
pub(super) mod watched_files;
pub(super) mod workspace_folders;
