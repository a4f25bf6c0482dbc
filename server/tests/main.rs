//! One program for all tests that use the crate as others do: each further program would be linked once more.

#![allow(clippy::unwrap_used, reason = "tests")]

mod cli;
mod ide;
mod lsp_across;
mod lsp_completion;
mod lsp_edit;
mod lsp_features;
mod lsp_hostile;
mod lsp_navigation;
mod lsp_protocol;
mod lsp_session;
mod lsp_trust;
mod lsp_workspace;
mod support;
