//! TLS connections, with a certificate that may change at any time.

use super::certificates::Serving;
use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
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

    /// The certificate that new connections get, and its authority; `None` until there is one.
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

/// Connections at once. Each takes some ten kilobytes; the API server opens one for each request under way.
const CONNECTIONS: usize = 256;

/// The open connections, in the order in which they came.
#[derive(Debug, Default)]
struct Open {
    all: Mutex<BTreeMap<u64, State>>,
}

#[derive(Debug)]
struct State {
    busy: bool,
    cut: CancellationToken,
}

impl Open {
    /// Takes in one more. Where there are too many, the oldest goes that is not being answered: callers that mean it send
    /// at once. `None` if all are being answered.
    fn admit(self: &Arc<Self>, number: u64) -> Option<(Connection, CancellationToken)> {
        let mut all = self.lock();
        if all.len() >= CONNECTIONS {
            let oldest = all.iter().find(|(_, state)| !state.busy).map(|(number, _)| *number)?;
            if let Some(state) = all.remove(&oldest) {
                state.cut.cancel();
            }
        }
        let cut = CancellationToken::new();
        all.insert(number, State { busy: false, cut: cut.clone() });
        drop(all);
        Some((Connection { open: Arc::clone(self), number }, cut))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, State>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection that a request came by.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    open: Arc<Open>,
    number: u64,
}

impl Connection {
    /// From now until the answer is dropped, the connection is not cut to make room.
    pub(super) fn busy(&self) -> Busy<'_> {
        self.set(true);
        Busy(self)
    }

    /// Cuts the oldest connection that is not being answered, if it is not this one.
    pub(super) fn make_room(&self) {
        let all = self.open.lock();
        if let Some((_, state)) = all.iter().find(|(number, state)| !state.busy && **number != self.number) {
            state.cut.cancel();
        }
    }

    fn set(&self, busy: bool) {
        if let Some(state) = self.open.lock().get_mut(&self.number) {
            state.busy = busy;
        }
    }
}

/// A connection that is being answered.
pub(super) struct Busy<'c>(&'c Connection);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Takes connections until `stop`, then waits for the answers that are under way.
pub(super) async fn accept(listener: TcpListener, config: Arc<ServerConfig>, routes: Router, stop: &CancellationToken) {
    let acceptor = TlsAcceptor::from(config);
    let connections = TaskTracker::new();
    let open = Arc::new(Open::default());
    for number in 0.. {
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match stream {
            Ok((stream, _)) => {
                // One too many is closed by being dropped.
                let Some((here, cut)) = open.admit(number) else { continue };
                let (acceptor, routes, stop, open) =
                    (acceptor.clone(), routes.clone(), stop.clone(), Arc::clone(&open));
                connections.spawn(async move {
                    tokio::select! {
                        () = connection(stream, acceptor, routes, here, stop) => {}
                        () = cut.cancelled() => tracing::debug!("an idle webhook connection was cut to make room"),
                    }
                    open.lock().remove(&number);
                });
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

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    routes: Router,
    here: Connection,
    stop: CancellationToken,
) {
    let stream = match tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(%error, "a webhook connection ended in the TLS handshake");
            return;
        }
        Err(_) => return,
    };
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let mut request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(here.clone());
        routes.clone().call(request)
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
