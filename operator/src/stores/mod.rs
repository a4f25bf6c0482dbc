//! What is known of the cluster, kept up to date by watches, and as little of it as the reconcile needs.

pub mod children;
pub mod deployments;
pub mod references;
pub mod resources;
pub mod seen;
mod tombstones;
mod watch;

pub use children::{ChildRecord, Children};
pub use references::{Content, References};
pub use resources::{Resources, Stored};
pub use seen::Seen;
pub use watch::run;

use crate::operator_config::OperatorConfig;
use deployments::{ClaimState, DeploymentState, ServiceState, States};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::core::ObjectMeta;

/// A resource version as a number. They grow; Kubernetes says so since 1.35, and has always done so with etcd.
#[must_use]
pub fn version(metadata: &ObjectMeta) -> u128 {
    metadata.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or_default()
}

/// The UID of the owner that controls an object.
#[must_use]
pub fn controller(metadata: &ObjectMeta) -> Option<&str> {
    metadata
        .owner_references
        .iter()
        .flatten()
        .find(|owner| owner.controller == Some(true))
        .map(|owner| owner.uid.as_str())
}

/// Whether an entry of `managedFields` speaks of the main resource.
fn is_main(entry: &ManagedFieldsEntry) -> bool {
    entry.subresource.as_deref().unwrap_or_default().is_empty()
}

/// All that the watches have told, for reconciles to read without a request.
#[derive(Debug, Default)]
pub struct Stores {
    /// The resources themselves, as compact JSON.
    pub resources: Resources,
    /// What decides whether a child has to be written again.
    pub children: Children,
    /// The numbers of Deployments that status and rollout need.
    pub deployments: States<DeploymentState>,
    /// More of the volume claims.
    pub claims: States<ClaimState>,
    /// The addresses of the Services.
    pub services: States<ServiceState>,
    /// The hosts of the Ingresses; empty while there is none.
    pub ingresses: States<String>,
    /// Secrets and ConfigMaps that resources refer to, and no others.
    pub references: References,
    config: Mutex<Arc<OperatorConfig>>,
    unlisted: AtomicUsize,
    listed: Notify,
}

impl Stores {
    /// What the operator's ConfigMap says.
    #[must_use]
    pub fn config(&self) -> Arc<OperatorConfig> {
        Arc::clone(&self.config.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes over what the ConfigMap says, and tells whether that is news.
    pub fn set_config(&self, config: OperatorConfig) -> bool {
        let mut kept = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = **kept != config;
        if changed {
            *kept = Arc::new(config);
        }
        changed
    }

    /// One more kind of objects has to be listed before the work can begin.
    fn expect_list(&self) {
        self.unlisted.fetch_add(1, Ordering::SeqCst);
    }

    fn list_done(&self) {
        if self.unlisted.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.listed.notify_waiters();
        }
    }

    /// Waits until everything has been listed once. Before that an object that exists may look as if it did not.
    pub async fn complete(&self) {
        loop {
            let listed = self.listed.notified();
            if self.unlisted.load(Ordering::SeqCst) == 0 {
                return;
            }
            listed.await;
        }
    }
}
