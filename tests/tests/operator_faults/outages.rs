//! The API server and etcd, gone for a while.

use crate::operator_faults::fleet::{Fleet, cluster, operator};
use llsd_tests::operator::wait_until;
use std::thread;
use std::time::Duration;

/// How long etcd stands still.
fn pause() -> Duration {
    Duration::from_secs(if std::env::var_os("LLSD_LONG_FAULTS").is_some() { 60 } else { 8 })
}

#[test]
fn outages_of_the_api_server_and_of_etcd_are_outlived() {
    let lent = cluster();
    let cluster = lent.cluster();
    let fleet = Fleet::new(cluster, "outages", 10);
    let operator = operator(cluster, &[], &[]);
    let pid = operator.pid().to_owned();

    // Killed while the children are being made.
    fleet.write(8400);
    cluster.signal("apiserver", "KILL");
    thread::sleep(Duration::from_secs(1));
    cluster.start_again("apiserver");
    fleet.converges(8400);

    // etcd stands still while changes are under way: requests hang, and then go on.
    let writer = fleet.clone();
    let writing = thread::spawn(move || writer.try_write(8500));
    thread::sleep(Duration::from_millis(200));
    cluster.signal("etcd", "STOP");
    thread::sleep(pause());
    cluster.signal("etcd", "CONT");
    writing.join().unwrap();
    fleet.write(8500);
    fleet.converges(8500);

    // The operator hears nothing while much happens, and the server that comes back no longer has what it missed:
    // its watches are answered with 410.
    operator.signal("STOP");
    for port in 8600..8620 {
        fleet.write(port);
    }
    cluster.signal("apiserver", "KILL");
    cluster.start_again("apiserver");
    fleet.write(8700);
    operator.signal("CONT");
    fleet.converges(8700);

    wait_until("the operator is well", || operator.health("/readyz").0 == 200);
    assert_eq!(operator.pid(), pid, "it has not ended in between");
    operator.signal("CONT");
    fleet.is_quiet(operator, &[], &[]);
}
