//! The lease, lost in the middle of the work.

use crate::operator_faults::fleet::{Fleet, cluster, operator};
use llsd_tests::operator::{Audit, Operator};

#[test]
fn a_leader_that_was_asleep_does_no_more_harm() {
    let lent = cluster();
    let cluster = lent.cluster();
    let fleet = Fleet::new(cluster, "leader", 10);
    let mut first = operator(cluster, &["--leader-elect"], &[]);
    fleet.write(8400);
    // In the middle of the work, it stops; and what is asked for changes.
    first.signal("STOP");
    let second = Operator::start(cluster, "default", &["--enable-webhooks=false", "--leader-elect"]);
    fleet.write(8500);
    fleet.converges(8500);
    // The second one has nothing more to do: what is written from here on is the first one's.
    let _ = Audit::from_now(cluster).settled(fleet.namespace.name());
    let audit = Audit::from_now(cluster);
    first.signal("CONT");
    // It may not know that it is no leader any more; it must not work on as if it were.
    first.wait_end();
    let writes = audit.settled(fleet.namespace.name());
    fleet.converges(8500);
    assert_eq!(writes, [], "nothing was left to do");
    drop(first);
    fleet.is_quiet(second, &[], &[]);
}
