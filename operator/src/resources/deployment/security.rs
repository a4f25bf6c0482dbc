//! What the pods may do on their node, and whether they may speak to the API server.
//!
//! New Deployments pass the Pod Security Standard `restricted` and carry no token. One that was made by an older
//! operator keeps its way, because any other would restart its pods, and its image may need what it has.

use super::super::{Desired, account};
use serde_json::{Map, Value, json};

/// The group that owns the files of the volumes, and the user of llama-stack's images.
const ID: i64 = 1001;

/// How the pods are confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Confinement {
    /// `restricted`, with the group of llama-stack's images.
    Restricted,
    /// `restricted`, with ids that OpenShift assigns: it refuses others.
    Assigned,
    /// The group alone, and a token: what older operators made.
    Plain,
}

fn of(desired: &Desired<'_>) -> Confinement {
    let assigns = desired.openshift && !desired.flags.anyuid;
    let keeps = desired.live.is_some_and(|live| live.plain);
    match () {
        // Its binding to `anyuid` goes: with ids of its own no new pod would be let in.
        () if keeps && assigns && !account::is_own(desired) => Confinement::Assigned,
        () if keeps || !desired.flags.restricted_pods => Confinement::Plain,
        () if assigns => Confinement::Assigned,
        // Which user the images of ogx run as is not known.
        () if desired.owner.served.is_ogx() => Confinement::Plain,
        () => Confinement::Restricted,
    }
}

/// Whether the pods go on as an older operator made them, with ids that OpenShift lets in only by `anyuid`.
pub(in super::super) fn needs_old_binding(desired: &Desired<'_>) -> bool {
    desired.openshift && !desired.flags.anyuid && of(desired) == Confinement::Plain
}

/// The user of the operator's init containers, where nobody else chooses it.
pub(in super::super) fn init_user(desired: &Desired<'_>) -> Option<i64> {
    (of(desired) != Confinement::Assigned).then_some(ID)
}

/// Adds the security context and the service account token setting of the pod.
pub(super) fn add_to_pod(desired: &Desired<'_>, pod: &mut Map<String, Value>) {
    let overrides = desired.spec.workload.as_ref().and_then(|workload| workload.overrides.as_ref());
    let confinement = of(desired);
    let context = match overrides.and_then(|overrides| overrides.pod_security_context.as_ref()) {
        Some(own) => json!(own),
        None => match confinement {
            Confinement::Plain => json!({"fsGroup": ID}),
            Confinement::Restricted => {
                json!({"fsGroup": ID, "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}})
            }
            Confinement::Assigned => json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}}),
        },
    };
    pod.insert("securityContext".to_owned(), context);
    let token = overrides.and_then(|overrides| overrides.automount_service_account_token);
    if let Some(token) = token.or((confinement != Confinement::Plain).then_some(false)) {
        pod.insert("automountServiceAccountToken".to_owned(), json!(token));
    }
}

/// Adds the server container's part.
pub(super) fn add_to_container(desired: &Desired<'_>, container: &mut Map<String, Value>) {
    let overrides = desired.spec.workload.as_ref().and_then(|workload| workload.overrides.as_ref());
    let context = match overrides.and_then(|overrides| overrides.security_context.as_ref()) {
        Some(own) => json!(own),
        None if of(desired) == Confinement::Plain => return,
        None => json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}),
    };
    container.insert("securityContext".to_owned(), context);
}
