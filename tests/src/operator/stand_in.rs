//! What a test cluster lacks: kubelets and a provisioner of volumes.

use crate::cluster::{Cluster, Request};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Makes pods ready and claims bound, everywhere but in namespaces that are held back.
#[derive(Clone, Default)]
pub struct StandIn {
    held: Arc<Mutex<HashSet<String>>>,
}

impl StandIn {
    /// Starts one for the cluster; it works until the process ends.
    #[must_use]
    pub fn start(cluster: &'static Cluster) -> Self {
        let stand_in = Self::default();
        let worker = stand_in.clone();
        thread::spawn(move || {
            loop {
                worker.run_pods(cluster);
                worker.bind_claims(cluster);
                thread::sleep(Duration::from_millis(100));
            }
        });
        stand_in
    }

    /// From now on, pods and claims of the namespace wait.
    pub fn hold(&self, namespace: &str) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(namespace.to_owned());
    }

    /// Pods and claims of the namespace need not wait any longer.
    pub fn release(&self, namespace: &str) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(namespace);
    }

    fn is_held(&self, object: &Value) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        object["metadata"]["namespace"].as_str().is_some_and(|namespace| held.contains(namespace))
    }

    /// A pod that is patched so needs no node to count as ready.
    fn run_pods(&self, cluster: &Cluster) {
        let ready = json!({"status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "ContainersReady", "status": "True"},
        ]}});
        let pods = cluster.send(Request::get("/api/v1/pods?fieldSelector=status.phase%3DPending&resourceVersion=0"));
        let patches = items(&pods.body)
            .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null() && !self.is_held(pod))
            .map(|pod| Request::merge(format!("{}/status", place(pod, "pods")), &ready));
        cluster.send_all(patches.collect());
    }

    /// The controller manager binds a claim to a volume that names it.
    fn bind_claims(&self, cluster: &Cluster) {
        let claims = cluster.send(Request::get("/api/v1/persistentvolumeclaims?resourceVersion=0"));
        let volumes = items(&claims.body)
            .filter(|claim| claim["status"]["phase"] == "Pending" && claim["spec"]["volumeName"].is_null())
            .filter(|claim| !self.is_held(claim))
            .map(|claim| {
                let (name, namespace) = (&claim["metadata"]["name"], &claim["metadata"]["namespace"]);
                let volume = json!({
                    "apiVersion": "v1",
                    "kind": "PersistentVolume",
                    "metadata": {"name": format!("for-{}", claim["metadata"]["uid"].as_str().unwrap_or_default())},
                    "spec": {
                        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
                        "accessModes": ["ReadWriteOnce"],
                        "persistentVolumeReclaimPolicy": "Retain",
                        "storageClassName": "",
                        "hostPath": {"path": "/nowhere"},
                        "claimRef": {"namespace": namespace, "name": name},
                    },
                });
                // One that is there already is refused, which is as good.
                Request::post("/api/v1/persistentvolumes", &volume)
            });
        cluster.send_all(volumes.collect());
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list["items"].as_array().into_iter().flatten()
}

fn place(object: &Value, plural: &str) -> String {
    let part = |key: &str| object["metadata"][key].as_str().unwrap_or_default().to_owned();
    format!("/api/v1/namespaces/{}/{plural}/{}", part("namespace"), part("name"))
}
