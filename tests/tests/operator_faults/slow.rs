//! Answers that come late or not at all, and others who write to the same objects.

use crate::operator_faults::fleet::{Fleet, cluster, operator};
use crate::operator_faults::proxy::Proxy;
use llsd_tests::cluster::Request;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn slow_answers_cut_connections_and_conflicts_are_outlived() {
    let lent = cluster();
    let cluster = lent.cluster();
    let fleet = Fleet::new(cluster, "slow", 10);
    let proxy = Proxy::start(cluster);
    let through = [("KUBECONFIG", proxy.kubeconfig())];
    let operator = operator(cluster, &[], &through);
    let pid = operator.pid().to_owned();

    proxy.delay(Duration::from_millis(150));
    fleet.write(8400);
    fleet.converges(8400);

    // Answers are lost: what was written is not known to have been.
    proxy.delay(Duration::from_millis(20));
    fleet.write(8500);
    for _ in 0..15 {
        thread::sleep(Duration::from_millis(150));
        proxy.cut();
    }
    proxy.refuse(true);
    proxy.cut();
    fleet.write(8600);
    thread::sleep(Duration::from_secs(2));
    proxy.refuse(false);
    proxy.delay(Duration::ZERO);
    fleet.converges(8600);

    // Somebody else writes to the resources and to their children all the time.
    let stop = Arc::new(AtomicBool::new(false));
    let (others, ended) = (fleet.clone(), Arc::clone(&stop));
    let disturbing = thread::spawn(move || {
        let mut count = 0;
        while !ended.load(Ordering::Relaxed) {
            count += 1;
            let touch = json!({"metadata": {"annotations": {"example.com/count": count.to_string()}}});
            let scale = json!({"spec": {"replicas": 7}});
            for name in others.names() {
                let of = |plural: &str| others.namespace.path(plural, &name);
                let _ = cluster.try_send(Request::merge(of("llamastackdistributions"), &touch));
                let _ =
                    cluster.try_send(Request::merge(of("deployments"), if count % 2 == 0 { &touch } else { &scale }));
            }
        }
    });
    for port in 8610..8620 {
        fleet.write(port);
    }
    stop.store(true, Ordering::Relaxed);
    disturbing.join().unwrap();
    fleet.converges(8619);
    let replicas = |name: &str| fleet.namespace.get("deployments", name)["spec"]["replicas"].clone();
    llsd_tests::operator::wait_until("the number of replicas is ours again", || {
        fleet.names().all(|name| replicas(&name) == 1)
    });
    assert_eq!(operator.pid(), pid);
    operator.signal("CONT");
    fleet.is_quiet(operator, &[], &through);
}
