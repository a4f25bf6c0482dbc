//! The claim of the volume that outlives the pods.

use super::metadata::{child, labels};
use super::{Child, Desired, Kind};
use serde_json::json;

/// The size of the volume where the resource does not say.
const DEFAULT_SIZE: &str = "10Gi";

pub(super) fn build(desired: &Desired<'_>) -> Option<Child> {
    let storage = desired.spec.workload.as_ref()?.storage.as_ref()?;
    if desired.ogx.is_some_and(|ogx| ogx.claim.is_some()) {
        return None;
    }
    let size = storage.size.as_ref().map_or(DEFAULT_SIZE, |size| &size.0);
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
    let mut child =
        child(Kind::PersistentVolumeClaim, desired.owner, labels(desired.owner, []), json!({ "spec": spec }));
    // The volume of an OGXServer outlives the resource.
    if desired.ogx.is_some()
        && let Some(metadata) = child.object["metadata"].as_object_mut()
    {
        metadata.shift_remove("ownerReferences");
    }
    Some(child)
}
