//! A cluster with what `kubectl apply -k` of a kustomization installs there, and the operator as its Deployment would
//! start it: same account, arguments and variables, on addresses of loopback.

use crate::operator_manifests::repository;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llsd_operator::rbac::{PREFIX, WEBHOOK_CONFIGURATION};
use llsd_operator::webhooks::{CONVERT_PATH, VALIDATE_PATH};
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::{Operator, free_address, kubectl, kubectl_program};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";

/// What kustomize makes of a folder.
pub(crate) fn rendered(folder: &Path) -> Vec<Value> {
    // Kustomizations of tests refer to the product's from outside of it.
    let output = Command::new(kubectl_program())
        .args(["kustomize", "--load-restrictor=LoadRestrictionsNone"])
        .arg(folder)
        .output()
        .expect("kubectl");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    documents(&String::from_utf8(output.stdout).expect("text"))
}

/// The objects in a text.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).expect("YAML")).collect()
}

/// The folder of an overlay.
pub(crate) fn overlay(name: &str) -> PathBuf {
    repository("operator/deploy/overlays").join(name)
}

/// A kustomization on top of others: `text`, in which `{deploy}` stands for the product's folder.
pub(crate) fn on_top(cluster: &Path, text: &str) -> PathBuf {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let folder = cluster.join(format!("on-top-{}", MADE.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir_all(&folder).expect("a folder");
    let folder = folder.canonicalize().expect("a folder");
    let deploy = repository("operator/deploy").canonicalize().expect("the manifests");
    // Kustomize wants relative paths.
    let up = "../".repeat(folder.components().count() - 1);
    let deploy = format!("{up}{}", deploy.strip_prefix("/").expect("an absolute path").display());
    fs::write(folder.join("kustomization.yaml"), text.replace("{deploy}", &deploy)).expect("a file");
    folder
}

/// The object of this kind and name.
pub(crate) fn find<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("no {kind} {name}"))
}

/// The Deployment of the operator among the objects of an installation.
pub(crate) fn manager(objects: &[Value]) -> &Value {
    find(objects, "Deployment", &format!("{PREFIX}-controller-manager"))
}

/// The container of the operator among the objects of an installation.
pub(crate) fn container(objects: &[Value]) -> &Value {
    &manager(objects)["spec"]["template"]["spec"]["containers"][0]
}

/// An operator that was installed as a user would do it.
pub(crate) struct Installed {
    /// The API server with nothing but this installation.
    pub(crate) cluster: Cluster,
    /// The objects that kustomize built, as they were applied.
    pub(crate) objects: Vec<Value>,
    /// The namespace that the operator was installed in.
    pub(crate) namespace: String,
}

impl Installed {
    /// Installs what kustomize makes of a folder. `prepare` is applied before, for what an administrator brings.
    pub(crate) fn new(folder: &Path, prepare: &[Value]) -> Self {
        Self::on(Cluster::with_controllers(), folder, prepare)
    }

    /// As [`Installed::new`], in a cluster that is there.
    pub(crate) fn on(cluster: Cluster, folder: &Path, prepare: &[Value]) -> Self {
        Self::with(cluster, rendered(folder), prepare)
    }

    /// As [`Installed::on`], with objects that are rendered already.
    pub(crate) fn with(cluster: Cluster, objects: Vec<Value>, prepare: &[Value]) -> Self {
        apply(&cluster, prepare);
        apply(&cluster, &objects);
        Self::there(cluster, objects)
    }

    /// What somebody else has installed in a cluster.
    pub(crate) fn there(cluster: Cluster, objects: Vec<Value>) -> Self {
        let namespace = manager(&objects)["metadata"]["namespace"].as_str().expect("a namespace").to_owned();
        Self { cluster, objects, namespace }
    }

    /// The operator's arguments, as the manifest has them.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let arguments = container(&self.objects)["args"].as_array().cloned().unwrap_or_default();
        arguments.into_iter().map(|argument| argument.as_str().expect("text").to_owned()).collect()
    }

    /// A kubeconfig of the operator's service account.
    pub(crate) fn account(&self) -> PathBuf {
        let name =
            manager(&self.objects)["spec"]["template"]["spec"]["serviceAccountName"].as_str().expect("an account");
        let token = kubectl(&self.cluster, &["-n", &self.namespace, "create", "token", name], "").expect("a token");
        let admin = fs::read_to_string(self.cluster.folder().join("kubeconfig")).expect("the kubeconfig");
        let mut config: Value = serde_yaml::from_str(&admin).expect("YAML");
        config["users"][0]["user"] = json!({"token": token.trim()});
        let path = self.cluster.folder().join("account.kubeconfig");
        fs::write(&path, config.to_string()).expect("a file");
        path
    }

    /// Starts the operator and waits until it is ready.
    pub(crate) fn start(&self) -> Operator {
        let mut operator = self.launch();
        operator.wait_ready();
        operator
    }

    /// Starts the operator. What mounts a certificate is given one, which the API server is told of, as cert-manager and
    /// OpenShift do.
    pub(crate) fn launch(&self) -> Operator {
        let bind = free_address();
        let mut arguments = vec![format!("--webhook-bind-address={bind}")];
        let mut own_certificate = true;
        for argument in self.arguments() {
            let bound = ["--metrics-bind-address=", "--health-probe-bind-address="];
            if bound.iter().any(|flag| argument.starts_with(flag)) {
                // Those are the test's.
            } else if argument.starts_with("--webhook-cert-dir=") {
                arguments.push(format!("--webhook-cert-dir={}", self.mount_certificate(bind).display()));
                own_certificate = false;
            } else {
                arguments.push(argument);
            }
        }
        if own_certificate {
            arguments.push(format!("--webhook-url=https://{bind}"));
        }
        let account = self.account();
        let mut env = vec![("KUBECONFIG".to_owned(), account.to_str().expect("a path").to_owned())];
        for variable in container(&self.objects)["env"].as_array().expect("variables") {
            let name = variable["name"].as_str().expect("a name").to_owned();
            let value = match variable["valueFrom"]["fieldRef"]["fieldPath"].as_str() {
                Some("metadata.namespace") => self.namespace.clone(),
                Some(other) => panic!("{other} is not known here"),
                None => variable["value"].as_str().unwrap_or_default().to_owned(),
            };
            env.push((name, value));
        }
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let env: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        Operator::start_with(&self.cluster, &self.namespace, &arguments, &env)
    }

    /// Does what the one who fills the mounted Secret does.
    fn mount_certificate(&self, bind: SocketAddr) -> PathBuf {
        let made = rcgen::generate_simple_self_signed(vec![bind.ip().to_string()]).expect("a certificate");
        let folder = self.cluster.folder().join("mounted");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("tls.key"), made.signing_key.serialize_pem()).expect("a file");
        fs::write(folder.join("tls.crt"), made.cert.pem()).expect("a file");
        let client = |path: &str| json!({"url": format!("https://{bind}{path}"), "caBundle": STANDARD.encode(made.cert.pem()), "service": null});
        let conversion = json!({"spec": {"conversion": {"webhook": {"clientConfig": client(CONVERT_PATH)}}}});
        let crd = CRD.rsplit('/').next().expect("a name");
        kubectl(&self.cluster, &["patch", "crd", crd, "--type=merge", "-p", &conversion.to_string()], "")
            .expect("the CRD takes it");
        let path =
            format!("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{WEBHOOK_CONFIGURATION}");
        let mut webhooks = self.cluster.send(Request::get(path)).body["webhooks"].take();
        webhooks[0]["clientConfig"] = client(VALIDATE_PATH);
        let webhooks = json!({ "webhooks": webhooks });
        let patch = ["patch", "validatingwebhookconfiguration", WEBHOOK_CONFIGURATION, "--type=merge", "-p"];
        kubectl(&self.cluster, &[&patch[..], &[&webhooks.to_string()]].concat(), "").expect("the webhook takes it");
        folder
    }
}

/// Applies objects as an administrator. Kinds of cert-manager and of Prometheus are not installed here and left out.
pub(crate) fn apply(cluster: &Cluster, objects: &[Value]) {
    let foreign = ["cert-manager.io/", "monitoring.coreos.com/"];
    let known: Vec<_> = objects
        .iter()
        .filter(|object| {
            let version = object["apiVersion"].as_str().unwrap_or_default();
            !foreign.iter().any(|group| version.starts_with(group))
        })
        .map(|object| serde_yaml::to_string(object).expect("YAML"))
        .collect();
    if !known.is_empty() {
        let apply = ["apply", "--server-side", "--validate=strict", "-f", "-"];
        kubectl(cluster, &apply, &known.join("---\n")).unwrap_or_else(|error| panic!("{error}"));
    }
}
