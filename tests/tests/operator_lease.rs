//! The lease, on a real API server.

use llsd_operator::lease::{Held, NAME, Timing, acquire};
use llsd_tests::cluster::{Cluster, Request};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// As in a cluster, but that it is renewed more often. Nothing shorter: between the deadline and the duration there have
/// to be seconds that a machine under load may lose.
const TIMING: Timing =
    Timing { duration: Duration::from_secs(15), deadline: Duration::from_secs(10), retry: Duration::from_millis(300) };

fn path(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
}

fn namespace(name: &str) -> &'static Cluster {
    let cluster = Cluster::shared();
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    assert!(cluster.send(Request::post("/api/v1/namespaces", &object)).accepted());
    cluster
}

fn spec(cluster: &Cluster, namespace: &str) -> Value {
    cluster.send(Request::get(format!("{}/{NAME}", path(namespace)))).body["spec"].take()
}

async fn held(cluster: &Cluster, namespace: &str, identity: &str) -> Held {
    let end = CancellationToken::new();
    acquire(cluster.client(), namespace, identity, TIMING, &end).await.expect("the lease")
}

#[test]
fn the_first_makes_it_and_gives_it_up() {
    let cluster = namespace("lease-first");
    let first = cluster.runtime().block_on(held(cluster, "lease-first", "one"));
    let made = spec(cluster, "lease-first");
    assert_eq!(made["holderIdentity"], "one");
    assert_eq!(made["leaseDurationSeconds"], 15);
    assert_eq!(made["leaseTransitions"], 0);
    assert!(made["acquireTime"].is_string() && made["renewTime"].is_string());

    cluster.runtime().block_on(first.release());
    assert_eq!(spec(cluster, "lease-first")["holderIdentity"], "");
    let _second = cluster.runtime().block_on(held(cluster, "lease-first", "two"));
    assert_eq!(spec(cluster, "lease-first")["leaseTransitions"], 1);
}

#[test]
fn who_renews_keeps_it() {
    let cluster = namespace("lease-kept");
    let mut first = cluster.runtime().block_on(held(cluster, "lease-kept", "one"));
    let begun = spec(cluster, "lease-kept");
    cluster.runtime().block_on(async {
        tokio::select! {
            () = first.kept() => panic!("lost"),
            _ = held(cluster, "lease-kept", "two") => panic!("taken"),
            () = tokio::time::sleep(TIMING.duration + TIMING.duration / 5) => {}
        }
    });
    let now = spec(cluster, "lease-kept");
    assert_eq!(now["holderIdentity"], "one");
    assert_eq!(now["acquireTime"], begun["acquireTime"]);
    assert_ne!(now["renewTime"], begun["renewTime"]);
}

/// Also the Go operator's, whose clock may say anything.
#[test]
fn a_holder_that_is_gone_is_waited_for_and_then_succeeded() {
    let cluster = namespace("lease-gone");
    let theirs = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": NAME},
        "spec": {
            "holderIdentity": "controller-manager-5d9_6f1c",
            "leaseDurationSeconds": 2,
            "acquireTime": "2001-01-01T00:00:00.000000Z",
            "renewTime": "2001-01-01T00:00:00.000000Z",
            "leaseTransitions": 7,
        },
    });
    assert!(cluster.send(Request::post(path("lease-gone"), &theirs)).accepted());
    let begun = Instant::now();
    let _ours = cluster.runtime().block_on(held(cluster, "lease-gone", "one"));
    assert!(begun.elapsed() >= Duration::from_secs(2), "taken while its holder could still work");
    assert_eq!(spec(cluster, "lease-gone")["leaseTransitions"], 8);
}

#[test]
fn it_is_lost_when_another_writes_itself_into_it() {
    let cluster = namespace("lease-stolen");
    let mut first = cluster.runtime().block_on(held(cluster, "lease-stolen", "one"));
    let other = json!({"spec": {"holderIdentity": "other"}});
    assert!(cluster.send(Request::merge(format!("{}/{NAME}", path("lease-stolen")), &other)).accepted());
    cluster.runtime().block_on(first.kept());
    // Nothing is given up that belongs to another.
    cluster.runtime().block_on(first.release());
    assert_eq!(spec(cluster, "lease-stolen")["holderIdentity"], "other");
}

/// A label is no holder.
#[test]
fn other_changes_do_not_matter() {
    let cluster = namespace("lease-label");
    let mut first = cluster.runtime().block_on(held(cluster, "lease-label", "one"));
    let label = json!({"metadata": {"labels": {"seen": "yes"}}});
    assert!(cluster.send(Request::merge(format!("{}/{NAME}", path("lease-label")), &label)).accepted());
    let before = spec(cluster, "lease-label")["renewTime"].clone();
    cluster.runtime().block_on(async {
        tokio::select! {
            () = first.kept() => panic!("lost"),
            () = tokio::time::sleep(TIMING.deadline + TIMING.deadline / 5) => {}
        }
    });
    assert_ne!(spec(cluster, "lease-label")["renewTime"], before);
}

/// Whoever cannot renew has stopped before another may start.
#[test]
fn it_is_lost_in_time_when_the_server_does_not_answer() {
    let cluster = Cluster::own();
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lease"}});
    assert!(cluster.send(Request::post("/api/v1/namespaces", &object)).accepted());
    let mut first = cluster.runtime().block_on(held(&cluster, "lease", "one"));
    let process = std::fs::read_to_string(cluster.folder().join("apiserver.pid")).expect("a process id");
    let signal = |name: &str| {
        let status = std::process::Command::new("kill").args([name, process.trim()]).status().expect("kill runs");
        assert!(status.success());
    };
    signal("-STOP");
    let begun = Instant::now();
    cluster.runtime().block_on(first.kept());
    let took = begun.elapsed();
    signal("-CONT");
    assert!(took < TIMING.duration, "{took:?}: another could have taken it");
}
