//! How many pods there are: replicas, the autoscaler, and the disruption budget.

use super::metadata::{child, labels, selector};
use super::{BuildError, Child, Desired, INSTANCE, Kind};
use serde_json::{Value, json};

/// The CPU use to aim for where the resource names no target, in percent of the request.
const DEFAULT_CPU: i32 = 80;

/// The number of pods that the resource asks for, 1 where it does not say.
pub(super) fn replicas(desired: &Desired<'_>) -> i32 {
    desired.spec.workload.as_ref().and_then(|workload| workload.replicas).unwrap_or(1)
}

/// Whether the number of pods is the autoscaler's to decide.
pub(super) fn is_automatic(desired: &Desired<'_>) -> bool {
    bounds(desired).is_some()
}

/// The instance that autoscalers and budgets are labelled with. ogx-k8s-operator leaves the value empty; it is written as
/// there, so that nothing changes with the operator.
fn instance<'a>(desired: &Desired<'a>) -> &'a str {
    if desired.owner.served.is_ogx() { "" } else { &desired.owner.name }
}

struct Bounds {
    least: Option<i32>,
    greatest: i32,
    cpu: Option<i32>,
    memory: Option<i32>,
}

fn bounds(desired: &Desired<'_>) -> Option<Bounds> {
    if let Some(older) = &desired.v1alpha1_only.autoscaling {
        return Some(Bounds {
            least: older.min_replicas,
            greatest: older.max_replicas,
            cpu: older.target_cpu_utilization_percentage,
            memory: older.target_memory_utilization_percentage,
        });
    }
    let scaling = desired.spec.workload.as_ref()?.autoscaling.as_ref()?;
    Some(Bounds {
        least: scaling.min_replicas,
        greatest: scaling.max_replicas,
        cpu: scaling.target_cpu_utilization_percentage,
        memory: scaling.target_memory_utilization_percentage,
    })
}

pub(super) fn autoscaler(desired: &Desired<'_>) -> Result<Option<Child>, BuildError> {
    let Some(Bounds { least, greatest, cpu, memory }) = bounds(desired) else { return Ok(None) };
    if greatest < 1 {
        return Err(BuildError::Autoscaling(format!("maxReplicas is {greatest}, it must be at least 1")));
    }
    if let Some(least) = least.filter(|least| *least > greatest) {
        return Err(BuildError::Autoscaling(format!("minReplicas ({least}) is greater than maxReplicas ({greatest})")));
    }
    // The number of replicas is a floor too: autoscaling adds to what was asked for.
    let floor = replicas(desired).max(1);
    if floor > greatest {
        return Err(BuildError::Autoscaling(format!("replicas ({floor}) is greater than maxReplicas ({greatest})")));
    }
    let cpu = cpu.or_else(|| memory.is_none().then_some(DEFAULT_CPU));
    let metrics: Vec<Value> = [("cpu", cpu), ("memory", memory)]
        .into_iter()
        .filter_map(|(name, percent)| {
            let target = json!({"type": "Utilization", "averageUtilization": percent?});
            Some(json!({"type": "Resource", "resource": {"name": name, "target": target}}))
        })
        .collect();
    let spec = json!({
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": desired.owner.name},
        "minReplicas": least.unwrap_or(floor).max(floor),
        "maxReplicas": greatest,
        "metrics": metrics,
    });
    let labels = labels(desired.owner, [("app", desired.owner.served.app), (INSTANCE, instance(desired))]);
    Ok(Some(child(Kind::HorizontalPodAutoscaler, desired.owner, labels, json!({ "spec": spec }))))
}

/// With more than one pod, or where the resource asks for it. One pod must stay free to move by default: a budget that
/// keeps the only pod would stop the node from being drained.
pub(super) fn disruption_budget(desired: &Desired<'_>) -> Result<Option<Child>, BuildError> {
    let newer = desired.spec.workload.as_ref().and_then(|workload| workload.pod_disruption_budget.as_ref());
    let asked = match &desired.v1alpha1_only.disruption_budget {
        Some(older) => Some((older.min_available.clone(), older.max_unavailable.clone())),
        None => newer.map(|budget| (budget.min_available.clone(), budget.max_unavailable.clone())),
    };
    let (bound, value) = match asked {
        None if replicas(desired) <= 1 => return Ok(None),
        Some((Some(_), Some(_))) => return Err(BuildError::DisruptionBudget),
        Some((Some(least), None)) => ("minAvailable", json!(least)),
        Some((None, Some(most))) => ("maxUnavailable", json!(most)),
        None | Some((None, None)) => ("maxUnavailable", json!(1)),
    };
    let spec = json!({bound: value, "selector": {"matchLabels": selector(desired.owner)}});
    let labels = labels(desired.owner, [("app", desired.owner.served.app), (INSTANCE, instance(desired))]);
    Ok(Some(child(Kind::PodDisruptionBudget, desired.owner, labels, json!({ "spec": spec }))))
}
