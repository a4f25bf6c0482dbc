//! Something between the operator and the API server that is slow and drops connections.

use llsd_tests::cluster::Cluster;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes bytes on, each piece after a delay.
pub(crate) struct Proxy {
    delay: Arc<AtomicU64>,
    refuses: Arc<AtomicBool>,
    cut: watch::Sender<u32>,
    kubeconfig: PathBuf,
}

impl Proxy {
    /// Stands before the cluster's API server.
    pub(crate) fn start(cluster: &Cluster) -> Self {
        let text = std::fs::read_to_string(cluster.operator_kubeconfig()).unwrap();
        let server = text.split_once("https://").unwrap().1.split('"').next().unwrap().to_owned();
        let target: SocketAddr = server.parse().unwrap();
        let listener = cluster.runtime().block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let kubeconfig = cluster.folder().join("proxy.kubeconfig");
        std::fs::write(&kubeconfig, text.replace(&server, &address)).unwrap();
        let proxy = Self { delay: Arc::default(), refuses: Arc::default(), cut: watch::Sender::new(0), kubeconfig };
        let (delay, refuses, cut) = (Arc::clone(&proxy.delay), Arc::clone(&proxy.refuses), proxy.cut.subscribe());
        cluster.runtime().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if refuses.load(Ordering::Relaxed) {
                    continue;
                }
                tokio::spawn(pass(stream, target, Arc::clone(&delay), cut.clone()));
            }
        });
        proxy
    }

    /// The kubeconfig that leads through here.
    pub(crate) fn kubeconfig(&self) -> &str {
        self.kubeconfig.to_str().unwrap()
    }

    /// Delays every piece from now on.
    pub(crate) fn delay(&self, time: Duration) {
        self.delay.store(time.as_millis() as u64, Ordering::Relaxed);
    }

    /// Closes all connections, with whatever is under way on them.
    pub(crate) fn cut(&self) {
        self.cut.send_modify(|count| *count += 1);
    }

    /// Whether new connections are closed at once.
    pub(crate) fn refuse(&self, refuses: bool) {
        self.refuses.store(refuses, Ordering::Relaxed);
    }
}

async fn pass(stream: TcpStream, target: SocketAddr, delay: Arc<AtomicU64>, mut cut: watch::Receiver<u32>) {
    let Ok(server) = TcpStream::connect(target).await else { return };
    let (from_client, to_client) = stream.into_split();
    let (from_server, to_server) = server.into_split();
    cut.mark_unchanged();
    tokio::select! {
        () = copy(from_client, to_server, &delay) => {}
        () = copy(from_server, to_client, &delay) => {}
        _ = cut.changed() => {}
    }
}

async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, delay: &AtomicU64) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let time = Duration::from_millis(delay.load(Ordering::Relaxed));
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
