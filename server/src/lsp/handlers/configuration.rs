//! `workspace/didChangeConfiguration`: asks for the settings anew.

use crate::lsp::backend::Backend;
use crate::lsp::configuration;
use tower_lsp::lsp_types::DidChangeConfigurationParams;

/// Puts new settings in force.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidChangeConfigurationParams) {
    configuration::reload(&backend.shared, params.settings);
}
