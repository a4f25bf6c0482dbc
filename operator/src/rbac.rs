//! What the operator may do, next to the code that needs it. `llsd-operator manifests` prints it, and a test compares it
//! with the files of `deploy/rbac/`.

use crate::lease;
use crate::resources::Kind;
use crate::webhooks::SECRET_NAME;
use llsd_generator::api::CRD_NAME;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What the names of all objects of an installation begin with. They are those of the Go operator, so that an
/// installation of it is upgraded in place.
pub const PREFIX: &str = "llama-stack-k8s-operator";
/// The namespace of an installation, unless it is changed.
pub const NAMESPACE: &str = "llama-stack-k8s-operator-system";
/// The name of the `ValidatingWebhookConfiguration`.
pub const WEBHOOK_CONFIGURATION: &str = "llama-stack-k8s-operator-validating-webhook-configuration";
/// The Service in front of the webhooks.
pub const WEBHOOK_SERVICE: &str = "llama-stack-k8s-operator-webhook-service";

const READ: [&str; 3] = ["get", "list", "watch"];

/// One rule of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    group: &'static str,
    resources: Vec<&'static str>,
    /// Only objects of these names; any if empty.
    names: Vec<&'static str>,
    verbs: Vec<&'static str>,
}

fn rule(group: &'static str, resources: &[&'static str], verbs: &[&'static str]) -> Rule {
    Rule { group, resources: resources.to_vec(), names: Vec::new(), verbs: verbs.to_vec() }
}

impl Rule {
    fn named(mut self, name: &'static str) -> Self {
        self.names.push(name);
        self
    }

    fn to_json(&self) -> Value {
        let mut rule = json!({"apiGroups": [self.group], "resources": self.resources});
        if !self.names.is_empty() {
            rule["resourceNames"] = json!(self.names);
        }
        rule["verbs"] = json!(self.verbs);
        rule
    }
}

/// Reconciling resources, in the namespaces that the rules are granted in.
fn reconcile() -> Vec<Rule> {
    let mut rules = vec![
        rule("llamastack.io", &["llamastackdistributions"], &READ),
        rule("llamastack.io", &["llamastackdistributions/status"], &["patch"]),
        // Without it nobody may write owner references that block deletion, where that admission check is on.
        rule("llamastack.io", &["llamastackdistributions/finalizers"], &["update"]),
    ];
    let mut resources: BTreeMap<(&str, Vec<&str>), Vec<&str>> = BTreeMap::new();
    for kind in Kind::ALL {
        let group = resources.entry((kind.gvk().0, verbs(kind))).or_default();
        if !group.contains(&kind.plural()) {
            group.push(kind.plural());
        }
    }
    rules.extend(resources.into_iter().map(|((group, verbs), plurals)| rule(group, &plurals, &verbs)));
    rules.extend([
        // A generated configuration stays while pods of an older ReplicaSet mount it.
        rule("apps", &["replicasets"], &["list"]),
        // How far the init containers of external providers are.
        rule("", &["pods"], &["list"]),
        rule("events.k8s.io", &["events"], &["create", "patch"]),
    ]);
    rules
}

/// Reconciling `OGXServer` resources, beside what [`reconcile`] grants. Adopting a volume takes it from its old owner.
fn ogx_servers() -> Vec<Rule> {
    vec![
        rule("ogx.io", &["ogxservers"], &READ),
        rule("ogx.io", &["ogxservers/status"], &["patch"]),
        rule("ogx.io", &["ogxservers/finalizers"], &["update"]),
        rule("", &["persistentvolumeclaims"], &["patch"]),
    ]
}

/// Whether the API server converts between the versions is part of the definition of the resource.
fn definition() -> Vec<Rule> {
    vec![rule("apiextensions.k8s.io", &["customresourcedefinitions"], &["get"]).named(CRD_NAME)]
}

/// Whoever grants a role must have what it grants. Not part of any overlay: an administrator adds it who lets servers
/// run as any user.
fn anyuid() -> Vec<Rule> {
    vec![rule("security.openshift.io", &["securitycontextconstraints"], &["use"]).named("anyuid")]
}

/// Asking the API server who a reader of the metrics is, and whether they may.
fn metrics_auth() -> Vec<Rule> {
    vec![
        rule("authentication.k8s.io", &["tokenreviews"], &["create"]),
        rule("authorization.k8s.io", &["subjectaccessreviews"], &["create"]),
    ]
}

/// Children are found by watching, created, applied by patch, and deleted when they are not wanted any more. A volume
/// claim holds data: it is only ever created.
fn verbs(kind: Kind) -> Vec<&'static str> {
    let own: &[&str] = match kind {
        Kind::PersistentVolumeClaim => &["create"],
        _ => &["create", "patch", "delete"],
    };
    READ.iter().chain(own).copied().collect()
}

/// In the operator's own namespace.
fn leader() -> Vec<Rule> {
    vec![
        // A name cannot be given for what does not exist yet.
        rule("coordination.k8s.io", &["leases"], &["create"]),
        rule("coordination.k8s.io", &["leases"], &["get", "update"]).named(lease::NAME),
    ]
}

/// The webhook's own certificate: made known to the API server.
fn certificates() -> Vec<Rule> {
    let verbs = ["get", "list", "watch", "patch"];
    vec![
        rule("apiextensions.k8s.io", &["customresourcedefinitions"], &verbs).named(CRD_NAME),
        rule("admissionregistration.k8s.io", &["validatingwebhookconfigurations"], &verbs).named(WEBHOOK_CONFIGURATION),
    ]
}

/// The webhook's own certificate: kept in the operator's own namespace.
fn certificate_secret() -> Vec<Rule> {
    vec![
        // A name cannot be given for what does not exist yet.
        rule("", &["secrets"], &["create"]),
        rule("", &["secrets"], &["get", "list", "watch", "update", "patch"]).named(SECRET_NAME),
    ]
}

/// The files of `deploy/rbac/` that are made from this code: their names and what is in them.
#[must_use]
pub fn manifests() -> Vec<(&'static str, String)> {
    let all = [definition(), reconcile()].concat();
    vec![
        (
            "role.yaml",
            documents([cluster_role("manager-role", &all), binding("manager-rolebinding", "manager-role", false)]),
        ),
        (
            "own/role.yaml",
            documents([
                role("leader-election-role", &leader()),
                binding("leader-election-rolebinding", "leader-election-role", true),
            ]),
        ),
        (
            "certificates/role.yaml",
            documents([
                cluster_role("webhook-certificates-role", &certificates()),
                binding("webhook-certificates-rolebinding", "webhook-certificates-role", false),
                role("webhook-certificate-secret-role", &certificate_secret()),
                binding("webhook-certificate-secret-rolebinding", "webhook-certificate-secret-role", true),
            ]),
        ),
        (
            "metrics/role.yaml",
            documents([
                cluster_role("metrics-auth-role", &metrics_auth()),
                binding("metrics-auth-rolebinding", "metrics-auth-role", false),
                metrics_reader(),
            ]),
        ),
        (
            "namespace/role.yaml",
            documents([role("manager-role", &reconcile()), binding("manager-rolebinding", "manager-role", true)]),
        ),
        (
            "ogx/role.yaml",
            documents([cluster_role("ogx-role", &ogx_servers()), binding("ogx-rolebinding", "ogx-role", false)]),
        ),
        (
            "namespace-ogx/role.yaml",
            documents([role("ogx-role", &ogx_servers()), binding("ogx-rolebinding", "ogx-role", true)]),
        ),
        (
            "anyuid/role.yaml",
            documents([cluster_role("anyuid-role", &anyuid()), binding("anyuid-rolebinding", "anyuid-role", false)]),
        ),
    ]
}

/// What a reader of the metrics is granted. Nobody is, until an administrator binds it.
fn metrics_reader() -> Value {
    let rules = json!([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]);
    object("ClusterRole", "metrics-reader", false, json!({ "rules": rules }))
}

fn cluster_role(name: &str, rules: &[Rule]) -> Value {
    object("ClusterRole", name, false, json!({"rules": rules.iter().map(Rule::to_json).collect::<Vec<_>>()}))
}

fn role(name: &str, rules: &[Rule]) -> Value {
    object("Role", name, true, json!({"rules": rules.iter().map(Rule::to_json).collect::<Vec<_>>()}))
}

fn binding(name: &str, role: &str, namespaced: bool) -> Value {
    let (kind, role_kind) = if namespaced { ("RoleBinding", "Role") } else { ("ClusterRoleBinding", "ClusterRole") };
    let parts = json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": format!("{PREFIX}-{role}")},
        "subjects": [
            {"kind": "ServiceAccount", "name": format!("{PREFIX}-controller-manager"), "namespace": NAMESPACE},
        ],
    });
    object(kind, name, namespaced, parts)
}

fn object(kind: &str, name: &str, namespaced: bool, parts: Value) -> Value {
    let mut metadata = json!({"name": format!("{PREFIX}-{name}")});
    if namespaced {
        metadata["namespace"] = json!(NAMESPACE);
    }
    metadata["labels"] = json!({"app.kubernetes.io/name": PREFIX});
    let mut object = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
    });
    if let (Some(object), Value::Object(parts)) = (object.as_object_mut(), parts) {
        object.extend(parts);
    }
    object
}

fn documents<const N: usize>(objects: [Value; N]) -> String {
    let documents: Vec<_> = objects.iter().filter_map(|object| serde_yaml::to_string(object).ok()).collect();
    format!("# Made by `llsd-operator manifests`; a test keeps it so.\n{}", documents.join("---\n"))
}
