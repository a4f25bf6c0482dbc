//! `window/workDoneProgress/cancel`: the user does not want to wait.

use crate::lsp::backend::Backend;
use tower_lsp::lsp_types::WorkDoneProgressCancelParams;

/// Stops the work that the client shows.
pub(in crate::lsp) async fn handle(backend: &Backend, params: WorkDoneProgressCancelParams) {
    backend.shared.progress.cancel(&params.token);
}
