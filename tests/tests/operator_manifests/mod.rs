//! What the operator applies, and what installs it, judged by a real API server.

mod bundle;
mod chart;
mod children;
mod go_back;
mod install;
mod installed;
mod on_top;
mod pods;
mod runs;
mod surface;
mod taken_over;
mod to_ogx;

use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use llsd_tests::cluster::{Cluster, Request};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A file of this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// The API server, with the namespaces of the recorded manifests.
pub(crate) fn server() -> &'static Cluster {
    static PREPARED: OnceLock<()> = OnceLock::new();
    let cluster = Cluster::shared();
    PREPARED.get_or_init(|| {
        for name in ["team", "team-a"] {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            let answer = cluster.send(Request::post("/api/v1/namespaces", &namespace));
            assert!(answer.accepted(), "{}", answer.message());
        }
    });
    cluster
}

/// The server's answer to a server-side apply that stores nothing.
pub(crate) fn dry_apply(resource: &ApiResource, object: &Value) -> Result<Value, String> {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let api: Api<DynamicObject> = Api::namespaced_with(server().client(), &text("namespace"), resource);
    let mut how = PatchParams::apply("test").dry_run();
    how.field_validation = Some(kube::api::ValidationDirective::Strict);
    let answer = server().runtime().block_on(api.patch(&text("name"), &how, &Patch::Apply(object)));
    answer.map(|found| json!(found)).map_err(|error| error.to_string())
}
