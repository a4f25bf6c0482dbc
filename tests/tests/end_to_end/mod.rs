//! From a resource to a server that answers: the operator on a real API server with the real controllers, pods as
//! processes of the real llama-stack, a model server behind it that gives fixed answers.

mod external;
mod image;
mod kubelet;
mod migrated;
mod ogx;
mod pod;
mod run;
mod served;
mod services;

use crate::operator_oci::registry;
use kubelet::Kubelet;
use llsd_generator::api::crd::crd;
use llsd_tests::cluster::{Cluster, Lent};
use llsd_tests::operator::{Namespace, Operator, free_address, grant};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A cluster with a kubelet and an operator. The tests that run at once share one; it goes with the last of them.
struct World {
    _operator: Operator,
    kubelet: Kubelet,
    /// Where tests push the images that pods pull; each pushes its own.
    registry: registry::Server,
    lent: Lent,
}

fn world() -> Arc<World> {
    static WORLD: Mutex<Weak<World>> = Mutex::new(Weak::new());
    let mut shared = WORLD.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let world = Arc::new(World::start());
        *shared = Arc::downgrade(&world);
        world
    })
}

impl World {
    fn start() -> Self {
        let lent = Cluster::with_controllers().lend();
        let cluster = lent.cluster();
        if let Err((_, answer)) = cluster.install_crds(std::slice::from_ref(crd())) {
            panic!("the API server refuses the CRD: {}", answer.message());
        }
        let system = Namespace::create(cluster, "operator-system");
        grant(cluster, system.name());
        let kubelet = Kubelet::start(cluster);
        let bind = free_address();
        let servers = services::start(cluster);
        let arguments = [
            format!("--webhook-bind-address={bind}"),
            format!("--webhook-url=https://{bind}"),
            "--server-probes=true".to_owned(),
            format!("--server-url-template=http://{servers}/{{namespace}}/{{name}}"),
        ];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let registry = registry::Server::open();
        let image = operator_image(&registry);
        let mut operator =
            Operator::start_with(cluster, system.name(), &arguments, &[("OPERATOR_IMAGE", image.as_str())]);
        operator.wait_ready();
        Self { _operator: operator, kubelet, registry, lent }
    }

    fn namespace(&self, name: &str) -> Namespace {
        Namespace::create(self.lent.cluster(), name)
    }

    /// Runs a scenario; if it fails, the servers' logs are shown with it.
    #[expect(clippy::print_stderr, reason = "what the servers said, beside the failure")]
    fn run(&self, scenario: impl FnOnce()) {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(scenario));
        if let Err(failure) = done {
            eprintln!("{}", self.kubelet.logs());
            std::panic::resume_unwind(failure);
        }
    }
}

/// Where the operator's own image is looked for.
fn operator_image(registry: &registry::Server) -> String {
    format!("{}/llsd-operator:test", registry.address)
}

/// What a server answers; a body is posted. `None` unless the status says that it went well.
fn ask(url: &str, body: Option<&Value>) -> Option<Value> {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--fail", "--insecure", "--max-time", "120", url]);
    if let Some(body) = body {
        curl.args(["--header", "content-type: application/json", "--data", &body.to_string()]);
    }
    let asked = curl.output().expect("curl runs");
    asked.status.success().then(|| serde_json::from_slice(&asked.stdout).expect("JSON"))
}

/// The ids of the models that a server lists.
fn models(url: &str) -> Vec<String> {
    let answer = ask(&format!("{url}/v1/models"), None).unwrap_or_default();
    let models = answer["data"].as_array().cloned().unwrap_or_default();
    models.iter().filter_map(|model| model["id"].as_str().map(str::to_owned)).collect()
}

/// What a server's model says to a greeting.
fn chat(url: &str, model: &str) -> String {
    let request = json!({"model": model, "messages": [{"role": "user", "content": "Good morning."}]});
    let answer = ask(&format!("{url}/v1/chat/completions"), Some(&request)).unwrap_or_default();
    answer["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
}
