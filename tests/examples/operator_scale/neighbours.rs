//! What is around an operator and means it ill: registries, and callers of the webhooks.

use futures_util::future::join_all;
use llsd_tests::cluster::Cluster;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinHandle;

/// A registry that says nothing, never ends, leads back to itself or fails at length, by the name of the image.
pub(crate) fn registry() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || speak(stream, address));
        }
    });
    address
}

fn speak(mut stream: TcpStream, own: SocketAddr) {
    let mut head = [0; 2048];
    let length = stream.read(&mut head).unwrap_or_default();
    let asked = String::from_utf8_lossy(&head[..length]);
    if asked.contains("/endless/") {
        let mut chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        while stream.write_all(&chunk).is_ok() {
            chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
        }
    } else if asked.contains("/elsewhere/") {
        let answer = format!("HTTP/1.1 302 Found\r\nLocation: http://{own}/v2/\r\nContent-Length: 0\r\n\r\n");
        let _ = stream.write_all(answer.as_bytes());
    } else if asked.contains("/broken/") {
        let body = "x".repeat(1 << 20);
        let answer = format!("HTTP/1.1 500 No\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let _ = stream.write_all(answer.as_bytes());
    } else {
        thread::sleep(Duration::from_secs(60));
    }
}

/// Connections that are held open until this is dropped, and opened again when they are cut.
pub(crate) struct Idle(JoinHandle<()>);

impl Drop for Idle {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// So many callers of `address` that say nothing.
pub(crate) fn idle(cluster: &Cluster, address: SocketAddr, count: usize) -> Idle {
    let callers = (0..count).map(move |_| async move {
        loop {
            if let Ok(mut stream) = tokio::net::TcpStream::connect(address).await {
                let _ = stream.read_u8().await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    Idle(cluster.runtime().spawn(async move {
        join_all(callers).await;
    }))
}
