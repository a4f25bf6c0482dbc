//! Where pods run: topology spread over nodes and zones.

use super::super::{Desired, INSTANCE, scaling};
use serde_json::{Map, Value, json};

/// What pods are spread over, the widest first.
const SPREAD: [&str; 3] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"];

pub(super) fn add(desired: &Desired<'_>, pod: &mut Map<String, Value>) {
    let workload = desired.spec.workload.as_ref();
    let own = workload.and_then(|workload| workload.topology_spread_constraints.as_deref()).unwrap_or_default();
    let several = scaling::replicas(desired) > 1;
    let siblings = json!({"matchLabels": {INSTANCE: desired.owner.name}});
    if !own.is_empty() {
        pod.insert("topologySpreadConstraints".to_owned(), json!(own));
    } else if several {
        let constraint = |key| {
            json!({
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": siblings,
            })
        };
        pod.insert("topologySpreadConstraints".to_owned(), SPREAD.into_iter().map(constraint).collect());
    }
    if several {
        let term = json!({"topologyKey": "kubernetes.io/hostname", "labelSelector": siblings});
        let preferred = json!([{"weight": 100, "podAffinityTerm": term}]);
        pod.insert(
            "affinity".to_owned(),
            json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}),
        );
    }
}
