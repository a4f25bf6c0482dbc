//! What is sent to the API server: the difference between two statuses.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Map, Value, json};

/// The merge patch that turns one status into another; `None` if they do not differ. The time of the last write is
/// not a difference, and is set when there is one.
#[must_use]
pub fn patch(before: &Value, after: &Value, uid: &str, now: &Time) -> Option<Value> {
    let mut difference = difference(before, after)?;
    difference["version"]["lastUpdated"] = json!(now);
    Some(json!({"metadata": {"uid": uid}, "status": difference}))
}

/// The merge patch from one value to another. `json-patch` applies such patches, and makes none.
fn difference(before: &Value, after: &Value) -> Option<Value> {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let mut patch = Map::new();
            for (key, value) in new {
                match old.get(key) {
                    Some(known) => patch.extend(difference(known, value).map(|inner| (key.clone(), inner))),
                    None if value.is_null() => {}
                    None => {
                        patch.insert(key.clone(), value.clone());
                    }
                }
            }
            patch.extend(old.keys().filter(|key| !new.contains_key(*key)).map(|key| (key.clone(), Value::Null)));
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        (before, after) => (before != after).then(|| after.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llsd_generator::api::status::{Phase, Status};

    #[test]
    fn a_status_that_is_the_same_is_not_written() {
        let now = Time("2026-01-01T00:00:00Z".parse().unwrap());
        let status = Status { phase: Some(Phase::Ready), route_url: Some(String::new()), ..Status::default() };
        let before = json!({"phase": "Ready", "routeURL": "", "version": null});
        assert_eq!(difference(&before, &json!({"phase": "Ready", "routeURL": ""})), Some(json!({"version": null})));
        assert_eq!(patch(&json!({"phase": "Ready", "routeURL": ""}), &json!(status), "u", &now), None);
        let patch =
            patch(&json!({"phase": "Failed", "routeURL": "x", "serviceURL": "y"}), &json!(status), "u", &now).unwrap();
        assert_eq!(patch["status"]["phase"], "Ready");
        assert!(
            patch["status"]["serviceURL"].is_null() && patch["status"].as_object().unwrap().contains_key("serviceURL")
        );
    }
}
