//! `$/setTrace`: how much the client is told of the messages that arrive.

use crate::lsp::backend::Backend;
use tower_lsp::lsp_types::SetTraceParams;

/// From now on the client wants to be told more, or less, of what arrives.
pub(in crate::lsp) async fn handle(backend: &Backend, params: SetTraceParams) {
    backend.shared.exit.trace(params.value);
}
