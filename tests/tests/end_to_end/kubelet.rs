//! A small kubelet: the pods of a cluster run as processes of this machine, with the real llama-stack in place of an
//! image, and are probed. All share the machine's network, so that each needs a port of its own.

use super::pod::{Pod, text};
use super::run::Run;
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::llama_stack::Folder;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Runs pods until it is dropped.
pub(super) struct Kubelet {
    stop: Arc<AtomicBool>,
    worker: Option<JoinHandle<()>>,
    folder: Arc<Folder>,
}

impl Kubelet {
    pub(super) fn start(cluster: &'static Cluster) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let folder = Arc::new(Folder::new("kubelet").unwrap());
        let mut node = Node { cluster, folder: folder.clone(), pods: HashMap::new() };
        let stopped = stop.clone();
        let worker = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                node.provision();
                node.sync();
                thread::sleep(Duration::from_millis(200));
            }
        });
        Self { stop, worker: Some(worker), folder }
    }

    /// What the containers of all pods have written so far, with the pods' names, for the message of a failed test.
    pub(super) fn logs(&self) -> String {
        let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let pods = entries(self.folder.path().join("pods"));
        let containers =
            pods.flat_map(|pod| entries(pod.path().join("containers")).map(move |one| (pod.file_name(), one)));
        let logs = containers.map(|(pod, container)| {
            let log = std::fs::read_to_string(container.path().join("log")).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            format!("--- {} {}\n{}\n", pod.display(), container.file_name().display(), tail.join("\n"))
        });
        logs.collect()
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

/// The one node of the cluster: every pod runs on it.
struct Node {
    cluster: &'static Cluster,
    folder: Arc<Folder>,
    /// What runs, by `metadata.uid` of the pod.
    pods: HashMap<String, Run>,
}

impl Node {
    /// Makes a volume for each claim that has none.
    fn provision(&self) {
        let claims = self.cluster.send(Request::get("/api/v1/persistentvolumeclaims")).body;
        for claim in claims["items"].as_array().into_iter().flatten() {
            if claim["status"]["phase"] != "Pending" || !claim["spec"]["volumeName"].is_null() {
                continue;
            }
            let name = format!("for-{}", text(&claim["metadata"], "uid"));
            let volume = json!({
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": name},
                "spec": {
                    "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
                    "accessModes": ["ReadWriteOnce"],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "storageClassName": "",
                    "hostPath": {"path": self.folder.path().join("volumes").join(&name)},
                    "claimRef": {"namespace": claim["metadata"]["namespace"], "name": claim["metadata"]["name"]},
                },
            });
            // One that is there already is refused, which is as good.
            let _ = self.cluster.send(Request::post("/api/v1/persistentvolumes", &volume));
        }
    }

    /// Brings processes and pods together, in both directions.
    fn sync(&mut self) {
        let list = self.cluster.send(Request::get("/api/v1/pods")).body;
        let pods: Vec<&Value> = list["items"].as_array().into_iter().flatten().collect();
        // Pods of no node are gone as soon as they are deleted.
        self.pods.retain(|uid, _| pods.iter().any(|pod| pod["metadata"]["uid"] == uid.as_str()));
        let [volumes, images] = ["volumes", "images"].map(|name| self.folder.path().join(name));
        for object in pods {
            let name = text(&object["metadata"], "name");
            let folder = self.folder.path().join("pods").join(name);
            let pod = Pod { cluster: self.cluster, object, folder, volumes: &volumes, images: &images };
            let run = self.pods.entry(text(&object["metadata"], "uid").to_owned()).or_default();
            if let Some(status) = run.step(&pod) {
                let path = format!("/api/v1/namespaces/{}/pods/{name}/status", text(&object["metadata"], "namespace"));
                let _ = self.cluster.send(Request::merge(path, &status));
            }
        }
    }
}
