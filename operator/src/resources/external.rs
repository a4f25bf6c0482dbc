//! What external providers add to the pod.

use super::Desired;
use serde_json::Value;

/// Parts of the pod that external providers need. All empty for a resource without any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Additions {
    /// Init containers, in order.
    pub init_containers: Vec<Value>,
    /// Volumes, after the operator's own and before the user's.
    pub volumes: Vec<Value>,
    /// Mounts of the server container, in the same place.
    pub volume_mounts: Vec<Value>,
    /// Variables of the server container, after the operator's own.
    pub env: Vec<Value>,
    /// The configuration that the server is to read, if it is another than the mounted one.
    pub config_path: Option<String>,
}

/// What the external providers of a resource add.
#[must_use]
pub fn additions(desired: &Desired<'_>) -> Additions {
    let _ = desired;
    Additions::default()
}
