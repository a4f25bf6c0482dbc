//! Callers who are not the API server: anybody in the cluster reaches the endpoint.

use crate::operator_webhooks::hooks::{collection, connected, good, object, server};
use llsd_operator::webhooks::{CONVERT_PATH, VALIDATE_PATH};
use llsd_tests::cluster::{CRDS, Request};
use serde_json::json;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::client::TlsStream;

/// The endpoint's address, and whom to trust there.
fn endpoint() -> (SocketAddr, Vec<u8>) {
    use base64::Engine as _;
    let crd = good(server().send(Request::get(format!("{CRDS}/llamastackdistributions.llamastack.io"))));
    let client = &crd["spec"]["conversion"]["webhook"]["clientConfig"];
    let url: http::Uri = client["url"].as_str().unwrap().parse().unwrap();
    let bundle = base64::engine::general_purpose::STANDARD.decode(client["caBundle"].as_str().unwrap()).unwrap();
    (url.authority().unwrap().as_str().parse().unwrap(), bundle)
}

/// A connection on which the head of a review to be converted was sent, and `body` of a body of `length` bytes.
async fn begun(address: SocketAddr, bundle: &[u8], length: usize, body: &[u8]) -> TlsStream<TcpStream> {
    sent(address, bundle, CONVERT_PATH, length, body).await
}

async fn sent(address: SocketAddr, bundle: &[u8], path: &str, length: usize, body: &[u8]) -> TlsStream<TcpStream> {
    let mut stream = connected(address, "127.0.0.1", bundle).await.unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    // One that was cut meanwhile makes room, which is what this is about.
    let _ = stream.write_all(body).await;
    let _ = stream.flush().await;
    stream
}

async fn answer(mut stream: TlsStream<TcpStream>) -> String {
    let mut text = vec![0; 4096];
    let length = stream.read(&mut text).await.unwrap_or_default();
    String::from_utf8_lossy(&text[..length]).into_owned()
}

#[test]
fn callers_that_say_nothing_keep_nobody_waiting() {
    let (address, bundle) = endpoint();
    let runtime = server().runtime();
    let held = runtime.block_on(async {
        let mut held = Vec::new();
        // More than may be connected at once, and more bytes than may be held at once.
        for _ in 0..280 {
            held.push(begun(address, &bundle, 1, b"").await);
        }
        for _ in 0..8 {
            held.push(begun(address, &bundle, 8 << 20, &vec![b' '; 4 << 20]).await);
        }
        held
    });
    writes_are_taken("while-held");
    drop(held);
}

/// The API server gives up after ten seconds.
fn writes_are_taken(name: &str) {
    for version in ["v1alpha1", "v1alpha2"] {
        let spec = match version {
            "v1alpha1" => json!({"server": {"distribution": {"name": "starter"}}}),
            _ => json!({"distribution": {"name": "starter"}}),
        };
        good(server().send(Request::post(collection(version), &object(version, name, spec)).dry()));
    }
}

#[test]
fn callers_who_have_large_resources_judged_keep_nobody_waiting() {
    let (address, bundle) = endpoint();
    let large = |settings: usize| {
        let settings: serde_json::Map<_, _> = (0..settings).map(|at| (format!("unknown_{at}"), json!(at))).collect();
        let provider = json!({"provider": "vllm", "endpoint": "http://x/v1", "settings": settings});
        let spec = json!({"distribution": {"name": "starter"}, "providers": {"inference": [provider]}});
        let request =
            json!({"uid": "1", "operation": "CREATE", "object": object("v1alpha2", "large", spec), "namespace": "x"});
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).to_string()
    };
    let (larger, large) = (large(9_500), large(2_000));
    let held = server().runtime().block_on(async {
        let mut held = Vec::new();
        // More bytes than may be held at once, and more than may be connected at once: each takes a while.
        for body in std::iter::repeat_n(&larger, 100).chain(std::iter::repeat_n(&large, 280)) {
            held.push(sent(address, &bundle, VALIDATE_PATH, body.len(), body.as_bytes()).await);
        }
        held
    });
    writes_are_taken("beside-large");
    // Some were cut to make room; the others are judged one after another, and who leaves is waited for no longer.
    let judged = server().runtime().block_on(async {
        let mut answers: JoinSet<String> = held.into_iter().map(answer).collect();
        while let Some(text) = answers.join_next().await {
            if text.unwrap().starts_with("HTTP/1.1 200") {
                return true;
            }
        }
        false
    });
    assert!(judged, "no large resource was judged");
}

#[test]
fn a_review_that_would_take_all_memory_is_not_read() {
    let (address, bundle) = endpoint();
    let runtime = server().runtime();
    let zeros = format!("{{\"a\":[0{}]}}", ",0".repeat(4_000_000));
    let answers = runtime.block_on(async {
        let many = begun(address, &bundle, zeros.len(), zeros.as_bytes()).await;
        let long = begun(address, &bundle, 9 << 20, &vec![b' '; 9 << 20]).await;
        let deep = begun(address, &bundle, 100_000, &vec![b'['; 100_000]).await;
        (answer(many).await, answer(long).await, answer(deep).await)
    });
    // It is no review, which shows without reading what it holds.
    assert!(answers.0.starts_with("HTTP/1.1 400") && answers.0.contains("expected a ConversionReview"), "{answers:?}");
    assert!(answers.1.is_empty() || answers.1.starts_with("HTTP/1.1 413"), "{answers:?}");
    assert!(answers.2.starts_with("HTTP/1.1 400"), "{answers:?}");
    let spec = json!({"distribution": {"name": "starter"}});
    good(server().send(Request::post(collection("v1alpha2"), &object("v1alpha2", "after", spec)).dry()));
}
