//! Registries that are slow, gone, or do not know the image.

use crate::operator_oci::labels::{CONFIG, encoded};
use crate::operator_oci::registry::{Server, layer};
use llsd_operator::oci::{Limits, OciError, Registry};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// Takes connections and never says a word. Returns its address and how many there were.
async fn silent() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            held.push(stream);
        }
    });
    (address, count)
}

#[tokio::test]
async fn a_slow_registry_is_given_up_and_left_alone() {
    let (address, connections) = silent().await;
    let limits = Limits {
        time: Duration::from_millis(300),
        retry: (Duration::from_secs(3_600), Duration::from_secs(3_600)),
        ..Limits::default()
    };
    let registry = Arc::new(Registry::new(limits, vec![address.clone()], None));
    let image = format!("{address}/slow:1");
    // Many callers at once share one attempt, and the next ones do not even try.
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let (registry, image) = (Arc::clone(&registry), image.clone());
            tokio::spawn(async move { registry.config(&image, &[]).await })
        })
        .collect();
    for caller in callers {
        assert!(matches!(caller.await.unwrap(), Err(OciError::Timeout { .. })));
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    assert!(registry.retry_after(&image, &[]).await.unwrap() > Duration::from_secs(1_000));
}

#[tokio::test]
async fn what_was_known_stays_known_while_the_registry_is_gone() {
    let server = Server::open();
    let labels = json!({"io.llamastack.config.base64": encoded(CONFIG)});
    let (image, digest) = server.push("kept:1", labels, vec![layer(&[("a", b"x")], true)]).await;
    // A tag is looked up again each time here.
    let registry = Registry::new(Limits { tag: Duration::ZERO, ..Limits::default() }, server.insecure(), None);
    let before = registry.config(&image, &[]).await.unwrap();
    let other = format!("{}/other:1", server.address);
    assert!(matches!(registry.config(&other, &[]).await, Err(OciError::NotFound { .. })));

    let pinned = format!("{}@{digest}", image.trim_end_matches(":1"));
    assert_eq!(registry.config(&pinned, &[]).await.unwrap(), before);
    let insecure = server.insecure();
    drop(server);
    assert_eq!(registry.config(&image, &[]).await.unwrap(), before);
    assert_eq!(registry.config(&pinned, &[]).await.unwrap(), before);
    assert!(registry.retry_after(&image, &[]).await.is_some(), "it was asked, and will be again");
    assert!(registry.retry_after(&pinned, &[]).await.is_none(), "a digest needs no second question");
    let error = Registry::new(Limits::default(), insecure, None).config(&image, &[]).await.unwrap_err();
    assert!(matches!(error, OciError::Registry { .. }) && error.is_transient(), "{error:?}");
    assert!(error.to_string().to_lowercase().contains("connect"), "{error}");
}

#[tokio::test]
async fn a_moved_tag_is_noticed() {
    let server = Server::open();
    let registry = Registry::new(Limits { tag: Duration::ZERO, ..Limits::default() }, server.insecure(), None);
    let push = |text: &'static str| {
        let labels = json!({"io.llamastack.config.base64": encoded(text)});
        server.push("moved:1", labels, vec![layer(&[("a", b"x")], true)])
    };
    let (image, _) = push("one").await;
    assert_eq!(registry.config(&image, &[]).await.unwrap().unwrap().text, "one");
    push("two").await;
    assert_eq!(registry.config(&image, &[]).await.unwrap().unwrap().text, "two");
}

#[tokio::test]
async fn what_is_no_reference_is_said_to_be_none() {
    let registry = Registry::new(Limits::default(), Vec::new(), None);
    for image in ["", "UPPER/case", "a b", "x:y:z", "x@sha256:12"] {
        let error = registry.config(image, &[]).await.unwrap_err();
        assert!(matches!(error, OciError::Reference { .. }), "{image}: {error:?}");
    }
}
