//! CPU and memory of the server container.

use super::super::Desired;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use llsd_generator::quantity;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The memory that is asked for where the resource does not say.
const DEFAULT_MEMORY: &str = "1Gi";

/// Requests have defaults: a CPU for each worker, and [`DEFAULT_MEMORY`]. Limits have none, unless the number of
/// workers is set: then they are the requests. A default never exceeds the user's limit, which the API server would
/// refuse.
pub(super) fn resources(desired: &Desired<'_>) -> Value {
    let workload = desired.spec.workload.as_ref();
    let own = workload.and_then(|workload| workload.resources.clone()).unwrap_or_default();
    let workers = workload.and_then(|workload| workload.workers).filter(|workers| *workers > 0);
    let (mut requests, mut limits) = (own.requests.unwrap_or_default(), own.limits.unwrap_or_default());
    for (name, default) in [("cpu", workers.unwrap_or(1).to_string()), ("memory", DEFAULT_MEMORY.to_owned())] {
        let limit = set(&limits, name).cloned();
        if set(&requests, name).is_none() {
            let default = Quantity(default);
            let capped = limit.clone().filter(|limit| compare(limit, &default) == Some(Ordering::Less));
            requests.insert(name.to_owned(), capped.unwrap_or(default));
        }
        if limit.is_none() {
            limits.remove(name);
            if workers.is_some()
                && let Some(request) = requests.get(name)
            {
                limits.insert(name.to_owned(), request.clone());
            }
        }
    }
    let mut resources = json!({ "requests": requests });
    if !limits.is_empty() {
        resources["limits"] = json!(limits);
    }
    if let Some(claims) = own.claims.filter(|claims| !claims.is_empty()) {
        resources["claims"] = json!(claims);
    }
    resources
}

/// A value that is there and not zero.
fn set<'a>(values: &'a BTreeMap<String, Quantity>, name: &str) -> Option<&'a Quantity> {
    values.get(name).filter(|value| compare(value, &Quantity("0".to_owned())) != Some(Ordering::Equal))
}

/// Compares two quantities; `None` if one of them is none.
fn compare(one: &Quantity, other: &Quantity) -> Option<Ordering> {
    let amount = |text: &str| text.parse::<quantity::Quantity>().ok();
    Some(amount(&one.0)?.cmp(&amount(&other.0)?))
}
