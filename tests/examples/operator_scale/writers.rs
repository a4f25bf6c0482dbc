//! Users who write resources all the time. Nothing of it is stored, but all of it is converted and judged.

use llsd_tests::cluster::{Answer, Cluster, Request};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Between two writes of a good resource.
const PAUSE: Duration = Duration::from_millis(100);

/// Ends what looks at the flag, also when the one who holds this panics.
pub(crate) struct End<'f>(pub(crate) &'f AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Writes a good resource until `ended`, from the first time on that it is taken: the webhooks answer then. Milliseconds
/// that each write took, in ascending order.
pub(crate) fn good(cluster: &Cluster, ended: &AtomicBool) -> Vec<f64> {
    let spec = json!({"server": {"distribution": {"name": "starter"}}});
    let write = || written(cluster, "v1alpha1", &spec);
    while !ended.load(Ordering::Relaxed) && !write().accepted() {
        thread::sleep(PAUSE);
    }
    let mut taken = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let answer = write();
        assert!(answer.accepted(), "a good resource was refused: {} {}", answer.status, answer.message());
        taken.push(begun.elapsed().as_secs_f64() * 1000.0);
        thread::sleep(PAUSE);
    }
    taken.sort_by(f64::total_cmp);
    taken
}

/// Writes a resource that takes as long to judge as one may, as fast as that goes, until `ended`.
pub(crate) fn heavy(cluster: &Cluster, ended: &AtomicBool) {
    let unknown = (0..9_500).map(|at| (format!("unknown_{at}"), json!(at))).collect();
    let provider = json!({"provider": "vllm", "endpoint": "http://x/v1", "settings": Value::Object(unknown)});
    let spec = json!({"distribution": {"name": "starter"}, "providers": {"inference": [provider]}});
    while !ended.load(Ordering::Relaxed) {
        let _ = written(cluster, "v1alpha2", &spec);
    }
}

fn written(cluster: &Cluster, version: &str, spec: &Value) -> Answer {
    let path = format!("/apis/llamastack.io/{version}/namespaces/bench-0/llamastackdistributions");
    let object = json!({
        "apiVersion": format!("llamastack.io/{version}"),
        "kind": "LlamaStackDistribution",
        "metadata": {"name": format!("written-{version}")},
        "spec": spec,
    });
    cluster.send(Request::post(path, &object).dry())
}
