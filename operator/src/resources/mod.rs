//! The child objects of a resource, as pure functions of what was found out about it.
//!
//! [`children`] gives the complete objects to apply, in the order in which to apply them; one file builds one kind.
//! Nothing here talks to a cluster. The same input gives the same bytes.

mod account;
pub mod ca_bundle;
mod claim;
pub mod config;
mod deployment;
pub mod derived;
pub mod external;
mod ingress;
mod kind;
mod live;
mod metadata;
mod network_policy;
pub mod ogx;
mod scaling;
pub mod service;
mod v1alpha1_only;

pub use deployment::SCRIPT;
pub use kind::Kind;
pub use live::LiveDeployment;
pub use metadata::owner_reference;
pub use ogx::OgxOnly;
pub use v1alpha1_only::V1Alpha1Only;

use crate::served::Served;
use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::LlamaStackDistributionSpec;
use llsd_generator::generate::EnvVar;
use serde_json::Value;
use std::collections::BTreeMap;

/// Says who made an object; the stores of children select by it.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Says what an object belongs to.
pub const PART_OF: &str = "app.kubernetes.io/part-of";
/// Asks the operator to watch an object, ConfigMaps of the user included.
pub const WATCH: (&str, &str) = ("llamastack.io/watch", "true");
/// Names the resource that an object belongs to.
pub const INSTANCE: &str = "app.kubernetes.io/instance";
/// Tells the ConfigMaps of one resource apart.
pub const COMPONENT: &str = "app.kubernetes.io/component";
/// The ConfigMap with trusted certificates that Open Data Hub puts into namespaces.
pub const ODH_BUNDLE: &str = "odh-trusted-ca-bundle";
/// The ClusterRole that OpenShift grants the `anyuid` security context constraint with.
pub const ANYUID_ROLE: &str = "system:openshift:scc:anyuid";

/// The resource that owns the children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The kind of the resource, which decides labels, paths and names of its children.
    pub served: &'static Served,
    /// `metadata.name` of the resource: the names of all children begin with it.
    pub name: String,
    /// Its namespace, and so that of all children.
    pub namespace: String,
    /// Its UID, which owner references are compared by.
    pub uid: String,
}

/// Switches of the operator that change children: see [`OperatorConfig::flags`](crate::operator_config::OperatorConfig).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureFlags {
    /// Whether resources get a NetworkPolicy.
    pub network_policy: bool,
    /// Namespaces of what leads from outside the cluster to exposed servers, beside those that OpenShift labels so.
    pub router_namespaces: Vec<String>,
    /// Whether new Deployments are made to pass the Pod Security Standard `restricted`.
    pub restricted_pods: bool,
    /// Whether the pods of this namespace may run as any user on OpenShift.
    pub anyuid: bool,
}

/// Where the server's configuration comes from.
#[derive(Clone, Copy, Debug)]
pub enum Config<'a> {
    /// The image brings its configuration: nothing is mounted.
    Image,
    /// A ConfigMap of the user.
    Override {
        /// Its name, in the resource's namespace.
        config_map: &'a str,
        /// `metadata.resourceVersion` of the ConfigMap.
        resource_version: &'a str,
        /// A digest of its `data` and `binaryData`: see [`content_digest`].
        digest: &'a str,
    },
    /// The operator generated the configuration, and mounts it from a ConfigMap of its own.
    Generated {
        /// The whole `config.yaml`.
        text: &'a str,
        /// SHA-256 of `text`, lower-case hex.
        hash: &'a str,
        /// The variables that it reads secrets from.
        env: &'a [EnvVar],
    },
}

/// The certificate authorities for the server.
#[derive(Clone, Copy, Debug)]
pub struct CaBundle<'a> {
    /// The PEM text, as assembled from its sources.
    pub pem: &'a str,
    /// Whether the resource asks for it; otherwise it is there only because of [`ODH_BUNDLE`].
    pub explicit: bool,
    /// The `ca-bundle.crt` of the live ConfigMap `<cr>-ca-bundle`, if the resource owns it.
    pub live: Option<&'a str>,
}

/// A Secret that the operator makes from one of the user's.
#[derive(Clone, Debug)]
pub struct Derived {
    /// Its name: `<cr>-storage-sql` or `<cr>-storage-kv`.
    pub name: String,
    /// Its values by key, in plain text. `Debug` shows them: do not log this.
    pub data: BTreeMap<&'static str, String>,
}

/// All that the builders may look at.
#[derive(Clone, Copy, Debug)]
pub struct Desired<'a> {
    /// The resource, for owner references and names.
    pub owner: &'a Owner,
    /// What the resource asks for; of an `OGXServer` the [`ogx::common`] part.
    pub spec: &'a LlamaStackDistributionSpec,
    /// What v1alpha2 cannot hold of a resource that was written as v1alpha1.
    pub v1alpha1_only: &'a V1Alpha1Only,
    /// What an `OGXServer` says beyond that; `None` for the other kind.
    pub ogx: Option<&'a OgxOnly>,
    /// The version that `overrideConfig` was written in: see `Stored::written_as`. Decides how a new Deployment starts the
    /// server; a live one keeps its way.
    pub written_as: ApiVersion,
    /// The resolved image of the server.
    pub image: &'a str,
    /// Where the configuration comes from.
    pub config: Config<'a>,
    /// Trusted certificate authorities; `None` if there are none at all.
    pub ca_bundle: Option<CaBundle<'a>>,
    /// A keyed digest over the content of every Secret that the pods read; a change of it restarts them. `None` leaves
    /// Secrets out, as for resources without generated configuration and without TLS.
    pub secrets_digest: Option<&'a str>,
    /// Derived Secrets to make: see [`Derived`].
    pub derived: &'a [Derived],
    /// Features that the operator's ConfigMap switches on or off.
    pub flags: &'a FeatureFlags,
    /// Where the operator runs; its pods may reach the server.
    pub operator_namespace: &'a str,
    /// The operator's image, for the init container that merges external providers.
    pub operator_image: Option<&'a str>,
    /// Whether the cluster is an OpenShift, which chooses the user of pods itself.
    pub openshift: bool,
    /// What the live Deployment decided earlier; `None` if there is none.
    pub live: Option<&'a LiveDeployment>,
}

/// One object that the resource owns, as it is applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// The kind, which decides about name, order and what a change means.
    pub kind: Kind,
    /// The complete body for a server-side apply, owner reference included.
    pub object: Value,
    /// Neither written nor deleted: one that exists stays as it is, and none is made.
    pub is_left_alone: bool,
}

impl Child {
    /// `metadata.name` of the object.
    #[must_use]
    pub fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }
}

/// Why there are no children to apply. The text is for the message of the condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Names of children would be no DNS labels.
    #[error("failed to make names of child objects: {0}")]
    Name(String),
    /// The port is out of range, which only v1alpha1 allows to be written.
    #[error("failed to validate port {0}: it must be between 1 and 65535")]
    Port(i64),
    /// A disruption budget has both bounds.
    #[error("failed to validate podDisruptionBudget: only one of minAvailable or maxUnavailable can be specified")]
    DisruptionBudget,
    /// The bounds of scaling contradict each other.
    #[error("failed to validate autoscaling: {0}")]
    Autoscaling(String),
    /// A label of `allowedFrom` is no label key.
    #[error("failed to validate allowedFrom.labels: {0}")]
    AllowedFrom(String),
    /// External providers are merged by the operator's own program.
    #[error(
        "failed to build the pod: external providers are merged by the operator's image, which is not known. Set the \
         operator's environment variable OPERATOR_IMAGE"
    )]
    OperatorImage,
    /// The list of external providers is too long to be handed over.
    #[error(
        "failed to build the pod: the external providers with their config are {length} bytes, the limit is {limit}"
    )]
    ExternalProviders {
        /// Bytes of the list as JSON.
        length: usize,
        /// Bytes that fit into an environment variable of a container.
        limit: usize,
    },
    /// The configuration is in another namespace, where pods cannot mount it.
    #[error(
        "failed to use ConfigMap {namespace}/{name}: a pod can only mount ConfigMaps of its own namespace. Copy it to \
         namespace {own} and remove configMapNamespace"
    )]
    ConfigNamespace {
        /// The namespace that was asked for.
        namespace: String,
        /// `metadata.name` of the ConfigMap.
        name: String,
        /// `metadata.namespace` of the resource.
        own: String,
    },
}

/// Everything to apply for a resource, in this order. Kinds of [`Kind::ALL`] that are not in the result are to be
/// deleted where the resource owns them and [`Kind::is_removable`] says so.
///
/// # Errors
/// What the resource asks for cannot be built; nothing of it must then be applied.
pub fn children(desired: &Desired<'_>) -> Result<Vec<Child>, BuildError> {
    metadata::check_name(desired.owner)?;
    check_config_namespace(desired)?;
    external::check(desired)?;
    let port = service::port(desired.spec, desired.v1alpha1_only)?;
    let mut children = Vec::new();
    children.extend(ca_bundle::build(desired));
    children.extend(config::build(desired));
    children.extend(config::derived(desired));
    children.extend(claim::build(desired));
    children.push(account::build(desired));
    children.push(service::build(desired, port));
    children.extend(network_policy::build(desired, port)?);
    children.push(deployment::build(desired, port));
    children.extend(scaling::autoscaler(desired)?);
    children.extend(scaling::disruption_budget(desired)?);
    children.extend(account::role_binding(desired));
    children.extend(ingress::build(desired, port));
    Ok(children)
}

/// v1alpha1 lets `userConfig` name another namespace, but pods mount only from their own: they would wait for ever.
fn check_config_namespace(desired: &Desired<'_>) -> Result<(), BuildError> {
    let own = &desired.owner.namespace;
    match (&desired.spec.override_config, &desired.v1alpha1_only.config_namespace) {
        (Some(config), Some(namespace)) if namespace != own => Err(BuildError::ConfigNamespace {
            namespace: namespace.clone(),
            name: config.config_map_name.clone(),
            own: own.clone(),
        }),
        _ => Ok(()),
    }
}

/// A digest of a ConfigMap's content, for [`Config::Override`]: 16 hex digits that change with any key or value, and
/// with nothing else.
#[must_use]
pub fn content_digest<'a>(data: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
    use sha2::{Digest, Sha256};
    let entries: BTreeMap<_, _> = data.into_iter().collect();
    let mut digest = Sha256::new();
    for (key, value) in entries {
        for part in [key.as_bytes(), value] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
