//! HTTP for the kubelet and for Prometheus, within bounds: every pod of the cluster may be able to connect.

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

/// Connections at the same time. One more cuts the oldest, so that nobody who only holds connections keeps the kubelet
/// out.
const CONNECTIONS: usize = 32;
/// From the first byte of a connection to the last one of its answer. A scrape asks the API server twice in between.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long answers that are under way at the end have.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// Bytes of a request's head, of which a token is the longest part.
const HEAD: usize = 32 << 10;

/// Listens on `bind`. The unspecified address of IPv6 takes connections over IPv4 too; where the system has no IPv6, that
/// of IPv4 takes its place.
///
/// # Errors
/// The address cannot be listened on.
pub async fn listen(bind: SocketAddr) -> io::Result<TcpListener> {
    match TcpListener::bind(bind).await {
        // Taken is taken, on either.
        Err(error) if bind.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) && error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, bind.port()))).await
        }
        bound => bound,
    }
}

/// Answers by `routes` until `end`, one request for each connection. Speaks TLS where `tls` says how.
///
/// # Errors
/// The address cannot be listened on.
pub async fn serve(
    bind: SocketAddr,
    routes: Router,
    tls: Option<Arc<ServerConfig>>,
    end: CancellationToken,
) -> io::Result<()> {
    let listener = listen(bind).await?;
    let tls = tls.map(TlsAcceptor::from);
    let mut tasks = JoinSet::new();
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let accepted = tokio::select! {
            () = end.cancelled() => break,
            Some(_) = tasks.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                open.retain(|task| !task.is_finished());
                if open.len() >= CONNECTIONS
                    && let Some(oldest) = open.pop_front()
                {
                    oldest.abort();
                }
                open.push_back(tasks.spawn(connection(stream, tls.clone(), routes.clone())));
            }
            Err(error) => {
                // Out of file descriptors, most likely: the next attempt would fail at once, too.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(LAST_ANSWERS, async { while tasks.join_next().await.is_some() {} }).await;
    Ok(())
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, routes: Router) {
    let answered = tokio::time::timeout(PATIENCE, async {
        match tls {
            None => answer(stream, routes).await,
            Some(tls) => match tls.accept(stream).await {
                Ok(stream) => answer(stream, routes).await,
                Err(error) => tracing::debug!(%error, "a connection ended in the TLS handshake"),
            },
        }
    });
    let _ = answered.await;
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, routes: Router) {
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        routes.clone().call(request.map(axum::body::Body::new))
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection broke");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A port that nobody listens on, over IPv4 and IPv6.
    async fn free_port() -> u16 {
        listen(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))).await.unwrap().local_addr().unwrap().port()
    }

    fn started(port: u16) -> CancellationToken {
        let end = CancellationToken::new();
        let routes = Router::new().route("/", get(async || "here"));
        tokio::spawn(serve(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)), routes, None, end.clone()));
        end
    }

    async fn connect(address: SocketAddr) -> TcpStream {
        loop {
            match TcpStream::connect(address).await {
                Ok(stream) => return stream,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    async fn ask(address: SocketAddr) -> String {
        let mut stream = connect(address).await;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_port_alone_is_served_over_both_protocols() {
        let port = free_port().await;
        let _end = started(port).drop_guard();
        assert!(ask(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.ends_with("here"));
        // Where the machine has no IPv6, there is nothing to ask.
        if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.is_ok() {
            assert!(ask(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await.ends_with("here"));
        }
    }

    #[tokio::test]
    async fn who_only_holds_connections_keeps_nobody_out() {
        let port = free_port().await;
        let _end = started(port).drop_guard();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut idle = Vec::new();
        for _ in 0..3 * CONNECTIONS {
            idle.push(connect(address).await);
        }
        assert!(ask(address).await.ends_with("here"));
        // The oldest were cut for it.
        assert_eq!(idle[0].read(&mut [0; 1]).await.unwrap_or_default(), 0);
    }

    #[tokio::test]
    async fn a_taken_port_is_an_error() {
        let taken = listen(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))).await.unwrap();
        let error = listen(taken.local_addr().unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
