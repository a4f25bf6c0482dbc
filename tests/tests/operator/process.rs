//! The process: one leader, an end in order, health, metrics, logs.

use crate::operator::setup::{bare, minimal, own, start_bare};
use llsd_tests::operator::{Audit, Operator, wait_until};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, SystemTime};

const LEASE: &str = "54e06e98.llamastack.io";

/// The time as the API server writes it.
fn now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let time = time::OffsetDateTime::from_unix_timestamp(since.as_secs() as i64).unwrap();
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.000000Z",
        time.year(),
        u8::from(time.month()),
        time.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

fn holder(lease: &Value) -> &str {
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default()
}

#[test]
fn one_of_two_works_and_the_other_takes_over() {
    let system = bare().operator_namespace("process-two-system");
    let namespace = bare().namespace("process-two");
    let mut first = start_bare(&system, "process-two", &["--leader-elect"]);
    let lease = system.wait("leases", LEASE, "is held", |lease| !holder(lease).is_empty());
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 15);
    let second = start_bare(&system, "process-two", &["--leader-elect"]);
    namespace.resource("llamastackdistributions", "one", minimal());
    namespace.ready("one");
    assert_eq!(second.metric("llsd_operator_reconciles_total"), 0.0, "it waits");
    assert_eq!(second.metric("llsd_operator_leader"), 0.0);
    assert_eq!(first.metric("llsd_operator_leader"), 1.0);

    // One that ends in order gives the lease up: nobody waits for it to expire.
    let before = holder(&lease).to_owned();
    assert!(first.terminate().success(), "{}", first.log());
    let lease = system
        .wait("leases", LEASE, "is held by the other", |lease| !holder(lease).is_empty() && holder(lease) != before);
    assert!(lease["spec"]["leaseTransitions"].as_u64().unwrap() > 0);
    namespace.resource("llamastackdistributions", "two", minimal());
    namespace.ready("two");
    wait_until("it leads", || second.metric("llsd_operator_leader") == 1.0);
}

#[test]
fn an_operator_of_the_older_kind_keeps_it_waiting() {
    let system = bare().operator_namespace("process-older-system");
    let namespace = bare().namespace("process-older");
    let lease = json!({
        "metadata": {"name": LEASE},
        "spec": {
            "holderIdentity": "older_6c0d", "leaseDurationSeconds": 15, "leaseTransitions": 3,
            "acquireTime": now(), "renewTime": now(),
        },
    });
    system.post("leases", &lease);
    let operator = start_bare(&system, "process-older", &["--leader-elect"]);
    namespace.resource("llamastackdistributions", "waits", minimal());
    let audit = Audit::from_now(bare().cluster);
    for _ in 0..8 {
        system.merge("leases", LEASE, &json!({"spec": {"renewTime": now()}}));
        thread::sleep(Duration::from_secs(1));
    }
    assert_eq!(audit.writes("process-older"), []);
    assert_eq!(holder(&system.get("leases", LEASE)), "older_6c0d");
    // It is gone without a word.
    namespace.ready("waits");
    assert_ne!(holder(&system.get("leases", LEASE)), "older_6c0d");
    drop(operator);
}

#[test]
fn one_that_loses_the_lease_ends() {
    let system = bare().operator_namespace("process-lost-system");
    let namespace = bare().namespace("process-lost");
    let mut operator = start_bare(&system, "process-lost", &["--leader-elect"]);
    namespace.resource("llamastackdistributions", "before", minimal());
    namespace.ready("before");
    // As if it had slept for a while, and another one had taken over.
    let theirs = json!({"spec": {"holderIdentity": "another", "renewTime": now(), "leaseDurationSeconds": 600}});
    system.merge("leases", LEASE, &theirs);
    let status = operator.wait_end();
    assert!(!status.success(), "it says that it did not end in order");
    let audit = Audit::from_now(bare().cluster);
    namespace.resource("llamastackdistributions", "after", minimal());
    assert_eq!(audit.settled("process-lost"), []);
    assert_eq!(holder(&system.get("leases", LEASE)), "another", "it does not release what it does not hold");
}

#[test]
fn health_metrics_and_logs_tell_what_goes_on() {
    let mut own = own("process-tells");
    assert_eq!(own.operator.health("/healthz").0, 200);
    assert_eq!(own.operator.health("/readyz").0, 200);
    assert_eq!(own.operator.health("/elsewhere").0, 404);
    own.namespace.resource("llamastackdistributions", "good", crate::operator::setup::with_vllm("http://vllm:8000/v1"));
    own.namespace.resource("llamastackdistributions", "bad", crate::operator::setup::with_key("missing"));
    own.namespace.ready("good");
    own.namespace.wait_condition("bad", "SecretsResolved", "False", "SecretNotFound");
    let metric = |name: &str| own.operator.metric(name);
    assert!(metric("llsd_operator_reconciles_total") >= 2.0, "{}", own.operator.metrics());
    assert!(metric("llsd_operator_reconcile_errors_total") >= 1.0, "{}", own.operator.metrics());
    assert!(metric("llsd_operator_reconcile_duration_seconds_count") >= 2.0);
    assert_eq!(metric("llsd_operator_generated_configs_total"), 1.0);
    assert!(metric("llsd_operator_api_calls_total") >= 5.0);
    assert_eq!(metric("llsd_operator_resources"), 2.0);
    assert!(own.operator.metrics().contains("# TYPE llsd_operator_queue_length gauge"));

    assert!(own.operator.terminate().success());
    let log = own.operator.log();
    let lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    assert!(lines.iter().any(|line| line["namespace"] == "process-tells" && line["name"] == "good"), "{log}");
    assert!(lines.iter().all(|line| line["level"].is_string() && line["timestamp"].is_string()), "{log}");
}

#[test]
fn a_wrong_flag_is_explained() {
    let system = bare().operator_namespace("process-flags-system");
    let mut operator = Operator::start(bare().cluster, system.name(), &["--no-such-flag"]);
    assert_eq!(operator.wait_end().code(), Some(2));
    assert!(operator.log().contains("--no-such-flag"), "{}", operator.log());
}
