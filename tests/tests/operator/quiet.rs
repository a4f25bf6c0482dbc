//! An operator that has nothing to do does nothing, and one that has does no more than it must: by the audit log.

use crate::operator::setup::{Own, bare, minimal, own, start_bare, with_vllm};
use llsd_tests::operator::{Audit, Entry, Operator, wait_until};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

const RESOURCES: usize = 10;

/// Ten resources of different kinds, all ready.
fn several(name: &str) -> Own {
    let own = own(name);
    let namespace = &own.namespace;
    namespace.secret("key", json!({"key": "value"}));
    namespace.config_map("mine", json!({"config.yaml": "version: 2\n"}));
    for number in 0..RESOURCES {
        let spec = match number % 4 {
            0 => minimal(),
            1 => with_vllm("http://vllm:8000/v1"),
            2 => crate::operator::setup::with_key("key"),
            _ => json!({
                "distribution": {"name": "starter"},
                "overrideConfig": {"configMapName": "mine"},
                "networking": {"expose": {}},
                "workload": {"replicas": 2, "storage": {}, "autoscaling": {"maxReplicas": 4}},
            }),
        };
        namespace.resource("llamastackdistributions", &format!("quiet-{number}"), spec);
    }
    for number in 0..RESOURCES {
        let name = format!("quiet-{number}");
        if namespace.get("llamastackdistributions", &name)["spec"]["workload"]["autoscaling"].is_object() {
            // The autoscaler takes some seconds to notice that one replica is too few.
            namespace.wait("deployments", &name, "is scaled", |now| now["spec"]["replicas"] == 2);
        }
        namespace.ready(&name);
    }
    let _ = Audit::from_now(bare().cluster).settled(name);
    own
}

fn reconciles(operator: &Operator) -> f64 {
    operator.metric("llsd_operator_reconciles_total")
}

/// All requests about objects of the namespace, watches left out.
fn requests(audit: &Audit, namespace: &str) -> Vec<Entry> {
    audit.entries().into_iter().filter(|entry| entry.namespace == namespace && entry.verb != "watch").collect()
}

#[test]
fn a_reconcile_that_finds_nothing_to_do_asks_for_nothing() {
    let own = several("quiet-again");
    let audit = Audit::from_now(bare().cluster);
    let before = reconciles(&own.operator);
    for number in 0..RESOURCES {
        let touch = json!({"metadata": {"labels": {"touched": "yes"}}});
        own.namespace.merge("llamastackdistributions", &format!("quiet-{number}"), &touch);
    }
    // The change of a child has its owner looked at.
    let touch = json!({"metadata": {"annotations": {"example.com/touched": "yes"}}});
    for number in 0..RESOURCES {
        own.namespace.merge("deployments", &format!("quiet-{number}"), &touch);
    }
    wait_until("every resource is looked at again", || reconciles(&own.operator) >= before + RESOURCES as f64);
    thread::sleep(Duration::from_secs(2));
    assert_eq!(requests(&audit, "quiet-again"), []);
}

#[test]
fn a_restart_with_nothing_to_do_writes_nothing() {
    let mut own = several("quiet-restart");
    assert!(own.operator.terminate().success(), "{}", own.operator.log());
    let audit = Audit::from_now(bare().cluster);
    let operator = start_bare(&own.system, "quiet-restart", &[]);
    wait_until("every resource is looked at", || reconciles(&operator) >= RESOURCES as f64);
    assert_eq!(audit.settled("quiet-restart"), []);
}

#[test]
fn waiting_costs_no_request() {
    let own = several("quiet-idle");
    // Three that wait: for a Secret, for a ConfigMap, and for better times.
    own.namespace.resource("llamastackdistributions", "waits-secret", crate::operator::setup::with_key("missing"));
    let config = json!({"distribution": {"name": "starter"}, "overrideConfig": {"configMapName": "missing"}});
    own.namespace.resource("llamastackdistributions", "waits-config", config);
    own.namespace.resource("llamastackdistributions", "waits-name", json!({"distribution": {"name": "no-such-thing"}}));
    for name in ["waits-secret", "waits-config", "waits-name"] {
        own.namespace.wait_for(name, "has failed", |object| object["status"]["phase"] == "Failed");
    }
    let _ = Audit::from_now(bare().cluster).settled("quiet-idle");
    let audit = Audit::from_now(bare().cluster);
    thread::sleep(Duration::from_secs(10));
    assert_eq!(requests(&audit, "quiet-idle"), []);
}

#[test]
fn a_change_takes_three_writes_at_most() {
    let own = several("quiet-change");
    let audit = Audit::from_now(bare().cluster);
    let env = json!({"workload": {"overrides": {"env": [{"name": "CHANGED", "value": "yes"}]}}});
    for number in 0..RESOURCES {
        own.namespace.change(&format!("quiet-{number}"), env.clone());
    }
    for number in 0..RESOURCES {
        let name = format!("quiet-{number}");
        own.namespace.wait("deployments", &name, "has the variable", |now| {
            !crate::operator::setup::variable(now, "CHANGED").is_null()
        });
        own.namespace.ready(&name);
    }
    let writes = audit.settled("quiet-change");
    // Those of several replicas, whose pods are replaced all at once, tell how far they have got too.
    for number in (0..RESOURCES).filter(|number| number % 4 != 3) {
        let name = format!("quiet-{number}");
        let own: Vec<_> = writes.iter().filter(|entry| entry.name == name).collect();
        // One of the Deployment; the status when the rollout begins, and when it is done.
        assert!(own.len() <= 3, "{own:#?}");
        assert_eq!(own.iter().filter(|entry| entry.resource == "deployments").count(), 1, "{own:#?}");
    }
}

#[test]
fn what_nobody_refers_to_concerns_nobody() {
    let own = several("quiet-foreign");
    let audit = Audit::from_now(bare().cluster);
    let before = reconciles(&own.operator);
    for number in 0..20 {
        own.namespace.config_map(&format!("foreign-{number}"), json!({"key": "value"}));
        own.namespace.secret(&format!("foreign-{number}"), json!({"key": "value"}));
        let change: Value = json!({"data": {"more": "bW9yZQ=="}});
        own.namespace.merge("secrets", &format!("foreign-{number}"), &change);
    }
    thread::sleep(Duration::from_secs(2));
    assert_eq!(requests(&audit, "quiet-foreign"), []);
    assert_eq!(reconciles(&own.operator), before, "nobody was woken");
}
