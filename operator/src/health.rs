//! Plain HTTP for the kubelet and for Prometheus: `/healthz`, `/readyz` and `/metrics`.

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Says whether the process is ready, and if not, why.
pub type Check = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// The format that Prometheus reads.
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

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
    run(bind, Router::new().route("/healthz", get(async || "ok")).route("/readyz", get(readyz)), end).await
}

/// Serves `/metrics`, which is what `text` gives, until `end`.
///
/// # Errors
/// The address cannot be listened on.
pub async fn serve_metrics(
    bind: SocketAddr,
    text: Arc<dyn Fn() -> String + Send + Sync>,
    end: CancellationToken,
) -> io::Result<()> {
    let metrics = move || {
        let text = text();
        async { ([(CONTENT_TYPE, METRICS_TYPE)], text) }
    };
    run(bind, Router::new().route("/metrics", get(metrics)), end).await
}

async fn run(bind: SocketAddr, router: Router, end: CancellationToken) -> io::Result<()> {
    let listener = TcpListener::bind(bind).await?;
    axum::serve(listener, router).with_graceful_shutdown(async move { end.cancelled().await }).await
}
