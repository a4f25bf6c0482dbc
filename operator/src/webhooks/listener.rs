//! TLS connections, with a certificate that may change at any time.

use super::certificates::Serving;
use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service as _;

/// For the handshake, and for the head of each request. The API server gives a webhook ten seconds in all.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long requests that are under way at the end have.
const LAST_ANSWERS: Duration = Duration::from_secs(8);

/// The certificate that new connections are shown; none until there is one.
#[derive(Debug, Default)]
pub(super) struct Identity(RwLock<Option<Serving>>);

impl Identity {
    /// Shows `serving` to every connection from now on.
    pub(super) fn set(&self, serving: Serving) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(serving);
    }

    /// What is shown now.
    pub(super) fn get(&self) -> Option<Serving> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ResolvesServerCert for Identity {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.get().map(|serving| serving.key)
    }
}

/// TLS 1.2 and 1.3 with the certificate of `identity`.
pub(super) fn config(identity: Arc<Identity>) -> Result<Arc<ServerConfig>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(identity);
    Ok(Arc::new(config))
}

/// Takes connections until `stop`, then waits for the answers that are under way.
pub(super) async fn accept(listener: TcpListener, config: Arc<ServerConfig>, routes: Router, stop: &CancellationToken) {
    let acceptor = TlsAcceptor::from(config);
    let connections = TaskTracker::new();
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match stream {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, acceptor.clone(), routes.clone(), stop.clone()));
            }
            Err(error) => {
                // Out of file descriptors, most likely: the next attempt would fail at once, too.
                tracing::warn!(%error, "a webhook connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(LAST_ANSWERS, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "webhook connections are cut: they did not end in time");
    }
}

async fn connection(stream: TcpStream, acceptor: TlsAcceptor, routes: Router, stop: CancellationToken) {
    let stream = match tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(%error, "a webhook connection ended in the TLS handshake");
            return;
        }
        Err(_) => return,
    };
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        routes.clone().call(request.map(axum::body::Body::new))
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a webhook connection broke");
    }
}
