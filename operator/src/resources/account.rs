//! Who the pods run as: the service account, and on OpenShift the right to run as any user.

use super::metadata::{child, labels};
use super::{ANYUID_ROLE, Child, Desired, Kind};
use serde_json::json;

/// The service account of the pods: the user's, or the operator's.
pub(super) fn name(desired: &Desired<'_>) -> String {
    let overrides = desired.spec.workload.as_ref().and_then(|workload| workload.overrides.as_ref());
    overrides
        .and_then(|overrides| overrides.service_account_name.clone())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| Kind::ServiceAccount.name(&desired.owner.name))
}

/// Made even where the user names another: it costs nothing, and a change back needs no order of things.
pub(super) fn build(desired: &Desired<'_>) -> Child {
    child(Kind::ServiceAccount, desired.owner, labels([]), json!({}))
}

/// Only where the role exists: elsewhere there are no security context constraints.
pub(super) fn role_binding(desired: &Desired<'_>) -> Option<Child> {
    let parts = json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ANYUID_ROLE},
        "subjects": [{
            "kind": "ServiceAccount",
            "name": name(desired),
            "namespace": desired.owner.namespace,
        }],
    });
    desired.openshift_scc.then(|| child(Kind::RoleBinding, desired.owner, labels([]), parts))
}
