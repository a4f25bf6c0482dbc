//! Who the pods run as: the service account, and on OpenShift the right to run as any user.

use super::metadata::{child, labels};
use super::{ANYUID_ROLE, Child, Desired, Kind, deployment};
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
    child(Kind::ServiceAccount, desired.owner, labels(desired.owner, []), json!({}))
}

/// Whether the pods run as the account that the operator makes for them.
pub(super) fn is_own(desired: &Desired<'_>) -> bool {
    name(desired) == Kind::ServiceAccount.name(&desired.owner.name)
}

/// The right to run as any user, on OpenShift, for namespaces that an administrator named. Only for the account that the
/// operator makes: one that the user names, such as `default`, would carry it to pods that have nothing to do with the
/// resource.
///
/// Pods that an older operator made for a namespace without that word need the binding that they have until they are
/// made anew: it is left alone.
pub(super) fn role_binding(desired: &Desired<'_>) -> Option<Child> {
    let kept = is_own(desired) && deployment::needs_old_binding(desired);
    let allowed = desired.openshift && desired.flags.anyuid;
    if !kept && !allowed {
        return None;
    }
    let parts = json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ANYUID_ROLE},
        "subjects": [{
            "kind": "ServiceAccount",
            "name": Kind::ServiceAccount.name(&desired.owner.name),
            "namespace": desired.owner.namespace,
        }],
    });
    Some(Child { is_left_alone: kept, ..child(Kind::RoleBinding, desired.owner, labels(desired.owner, []), parts) })
}
