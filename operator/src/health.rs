//! `/healthz` and `/readyz`, for the kubelet.

use crate::serving;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Says whether the process is ready, and if not, why.
pub type Check = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// Serves `/healthz`, which says that the process runs, and `/readyz`, which says what `ready` says, until `end`.
///
/// # Errors
/// The address cannot be listened on.
pub async fn serve(bind: SocketAddr, ready: Check, end: CancellationToken) -> io::Result<()> {
    let readyz = move || {
        let answer = match ready() {
            Ok(()) => (StatusCode::OK, "ok".to_owned()),
            Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, reason),
        };
        async { answer }
    };
    let routes = Router::new().route("/healthz", get(async || "ok")).route("/readyz", get(readyz));
    serving::serve(bind, routes, None, end).await
}
