//! The plan of `llsd migrate --to ogx --plan`, carried out with the real kubectl on a real API server with its garbage
//! collector. Both operators are stand-ins: the old one has left its objects, the new one adopts as upstream's does,
//! which sees objects with its own label alone.

use llsd_generator::api::crd::crd;
use llsd_generator::ogx;
use llsd_operator::webhooks::{Certificates, Endpoint, Options, Readiness, serve};
use llsd_tests::cluster::{Cluster, Lent, Request};
use llsd_tests::llama_stack::Folder;
use llsd_tests::operator::{Namespace, free_address, kubectl, kubectl_program, path, wait_until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const SYSTEM: &str = "llama-stack-k8s-operator-system";
const OLD_OPERATOR: &str = "llama-stack-k8s-operator-controller-manager";
const SEEN: &str = "app.kubernetes.io/managed-by=ogx-operator";

const OLD: &str = "\
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: chat
  namespace: NAMESPACE
spec:
  server:
    distribution:
      name: starter
    userConfig:
      configMapName: config
    storage:
      size: 1Gi
";

const OLD_V1ALPHA2: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: chat
  namespace: NAMESPACE
spec:
  distribution:
    name: starter
  workload:
    storage:
      size: 1Gi
  overrideConfig:
    configMapName: config
";

const CONFIG: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: NAMESPACE
data:
  config.yaml: |
    version: 2
    image_name: starter
    apis: [inference]
    providers:
      inference:
      - provider_id: vllm
        provider_type: remote::vllm
        config:
          base_url: ${env.VLLM_URL}
";

/// A cluster with both definitions, that of the old kind as its operator of this version installs it. The tests that run
/// at once share one; it goes with the last of them.
fn world(version: &str) -> Arc<Lent> {
    static OLDER: Mutex<Weak<Lent>> = Mutex::new(Weak::new());
    static NEWER: Mutex<Weak<Lent>> = Mutex::new(Weak::new());
    let is_newer = version == "v1alpha2";
    let mut shared = if is_newer { &NEWER } else { &OLDER }.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let lent = Cluster::with_controllers().lend();
        let cluster = lent.cluster();
        let definition = if is_newer { crd().clone() } else { of_the_go_operator() };
        if let Err((_, answer)) = cluster.install_crds(&[definition, ogx::crd::definition()]) {
            panic!("the API server refuses a CRD: {}", answer.message());
        }
        if is_newer {
            convert(cluster);
        }
        let system = Namespace::create(cluster, SYSTEM);
        system.post("deployments", &deployment(OLD_OPERATOR, &json!({})));
        let world = Arc::new(lent);
        *shared = Arc::downgrade(&world);
        world
    })
}

/// v1alpha1 alone: nobody has to convert.
fn of_the_go_operator() -> Value {
    let mut older = crd().clone();
    older["spec"]["conversion"] = json!({"strategy": "None"});
    let versions = older["spec"]["versions"].as_array_mut().expect("versions");
    versions.retain(|version| version["name"] == "v1alpha1");
    versions[0]["storage"] = json!(true);
    older
}

/// Has this process convert between the versions. The garbage collector looks owners up in the version that children
/// name, so that one has to be served.
fn convert(cluster: &'static Cluster) {
    let bind = free_address();
    let options = Options {
        bind,
        certificates: Certificates::Own {
            client: cluster.client(),
            namespace: "default".to_owned(),
            endpoint: Endpoint::Url(format!("https://{bind}")),
            configuration: "none".to_owned(),
            lifetime: Duration::from_secs(86_400),
        },
        surroundings: None,
        drain: Duration::ZERO,
    };
    let readiness = Readiness::default();
    cluster.runtime().spawn(serve(options, readiness.clone(), CancellationToken::new()));
    wait_until("the webhooks are ready", || readiness.is_ready());
    let probe = json!({"apiVersion": "llamastack.io/v1alpha1", "kind": "LlamaStackDistribution",
        "metadata": {"name": "probe"}, "spec": {"server": {"distribution": {"name": "starter"}}}});
    wait_until("the API server converts", || {
        cluster.send(Request::post(path("default", "v1alpha1"), &probe).dry()).accepted()
    });
}

fn deployment(name: &str, metadata: &Value) -> Value {
    let mut metadata = metadata.clone();
    metadata["name"] = name.into();
    let labels = json!({"app.kubernetes.io/instance": name});
    let pod = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "one", "image": "one"}]}});
    json!({"metadata": metadata, "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}})
}

/// A resource of the old kind, with its files and with what an operator has made for it.
struct Old {
    world: Arc<Lent>,
    namespace: Namespace,
    folder: Folder,
}

impl Old {
    /// `version`: that of the resource, and of the owner references.
    fn leave(name: &str, version: &str) -> Self {
        let world = world(version);
        let namespace = Namespace::create(world.cluster(), name);
        let folder = Folder::new(name).unwrap();
        let old = if version == "v1alpha2" { OLD_V1ALPHA2 } else { OLD };
        let (old, config) = (old.replace("NAMESPACE", name), CONFIG.replace("NAMESPACE", name));
        for (file, text) in [("chat.yaml", &old), ("config.yaml", &config)] {
            std::fs::write(folder.path().join(file), text).unwrap();
            kubectl(world.cluster(), &["apply", "-f", "-"], text).unwrap();
        }
        let owner = namespace.get("v1alpha1", "chat")["metadata"]["uid"].clone();
        let owner = json!([{"apiVersion": format!("llamastack.io/{version}"), "kind": "LlamaStackDistribution",
            "name": "chat", "uid": owner, "controller": true, "blockOwnerDeletion": true}]);
        let metadata = |name: &str| {
            json!({"name": name, "ownerReferences": owner, "labels": {
                "app.kubernetes.io/managed-by": "llama-stack-operator", "app.kubernetes.io/instance": "chat"}})
        };
        let volume = format!("{name}-volume");
        let persistent = json!({"metadata": {"name": volume}, "spec": {"capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/nowhere"}, "persistentVolumeReclaimPolicy": "Delete",
            "claimRef": {"namespace": name, "name": "chat-pvc"}}});
        let answer = world.cluster().send(Request::post("/api/v1/persistentvolumes", &persistent));
        assert!(answer.accepted(), "{}", answer.message());
        namespace.post(
            "persistentvolumeclaims",
            &json!({"metadata": metadata("chat-pvc"), "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "",
                "volumeName": volume, "resources": {"requests": {"storage": "1Gi"}}}}),
        );
        namespace.post("deployments", &deployment("chat", &metadata("chat")));
        namespace.post("services", &json!({"metadata": metadata("chat-service"), "spec": {"ports": [{"port": 8321}]}}));
        Self { world, namespace, folder }
    }

    fn llsd(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(llsd_tests::llsd::binary());
        command.args(["migrate", "--to", "ogx"]).args(arguments).current_dir(self.folder.path());
        let ran = command.env("PATH", self.search_path()).env_remove("KUBECONFIG").output().unwrap();
        assert!(ran.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }

    /// A search path with a `kubectl` that is set to the cluster, and `llsd`.
    fn search_path(&self) -> String {
        let own = self.folder.path().join("bin");
        std::fs::create_dir_all(&own).unwrap();
        let cluster = self.world.cluster().folder();
        let kubectl = format!(
            "{} --kubeconfig {} --cache-dir {}",
            kubectl_program().display(),
            cluster.join("kubeconfig").display(),
            cluster.join("kubectl").display()
        );
        for (name, command) in [("kubectl", kubectl), ("llsd", llsd_tests::llsd::binary().display().to_string())] {
            let program = own.join(name);
            if !program.exists() {
                std::fs::write(&program, format!("#!/bin/sh\nexec {command} \"$@\"\n")).unwrap();
                std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        format!("{}:{}", own.display(), std::env::var("PATH").unwrap())
    }

    /// Runs a line of the plan as a user's shell would, and returns what it prints.
    fn run(&self, line: &str) -> String {
        let path = self.search_path();
        let ran = Command::new("bash")
            .args(["-o", "pipefail", "-c", line])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env_remove("KUBECONFIG")
            .output()
            .unwrap();
        assert!(ran.status.success(), "{line}\n{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }

    /// Carries out steps of the plan for these files, from one whose title starts with `from` up to the one in front of
    /// that which starts with `to`. The files are written, and the new operator acts, where the plan has it so.
    fn carry_out(&self, options: &[&str], from: &str, to: &str) {
        let files: &[&str] = if options.contains(&"--cluster") { &[] } else { &["chat.yaml", "config.yaml"] };
        let plan = std::fs::read_to_string(self.folder.path().join("plan")).unwrap_or_else(|_| {
            let plan = self.llsd(&[options, &["--plan"], files].concat());
            std::fs::write(self.folder.path().join("plan"), &plan).unwrap();
            plan
        });
        let mut on = false;
        for step in plan.split("\n\n") {
            let (title, commands) = step.split_once('\n').unwrap();
            let title = title.split_once(". ").unwrap().1;
            if on && title.starts_with(to) {
                break;
            }
            on |= title.starts_with(from);
            if !on {
                continue;
            }
            let writes = title.starts_with("Write the new");
            if writes {
                self.llsd(&[options, &["--write"], files].concat());
            }
            for line in commands.lines() {
                let printed = self.run(line);
                assert!(!line.ends_with("# must print nothing") || printed.is_empty(), "{line}\n{printed}");
            }
            if writes || title.starts_with("Apply the new") {
                let name = if options.contains(&"--same-name") { "chat" } else { "chat-ogx" };
                self.new_operator(name);
            }
        }
    }

    /// What upstream's operator does for a new resource: it adopts what it sees, and passes over the rest.
    fn new_operator(&self, name: &str) {
        let server = self.namespace.get("ogxservers", name);
        let seen = |plural: &str, name: String| {
            self.namespace.list(plural, SEEN).into_iter().find(|object| object["metadata"]["name"] == name)
        };
        let annotation = |name: &str| server["metadata"]["annotations"][name].as_str().map(str::to_owned);
        let adoptable = |object: &Value| {
            let owner = &object["metadata"]["ownerReferences"][0];
            assert!(
                owner.is_null() || owner["apiVersion"] == "llamastack.io/v1alpha1",
                "unexpected controller owner {owner}"
            );
        };
        if let Some(old) = annotation("ogx.io/adopt-storage")
            && let Some(claim) = seen("persistentvolumeclaims", format!("{old}-pvc"))
        {
            adoptable(&claim);
            assert!(seen("deployments", old.clone()).is_some(), "the old pods would go on using the volume");
            self.namespace.merge("deployments", &old, &json!({"spec": {"replicas": 0}}));
            let change = json!({"metadata": {"ownerReferences": null, "labels": {"ogx.io/adopted-from": old}}});
            self.namespace.merge("persistentvolumeclaims", &format!("{old}-pvc"), &change);
        }
        let owner = json!([{"apiVersion": "ogx.io/v1beta1", "kind": "OGXServer", "name": name,
            "uid": server["metadata"]["uid"], "controller": true}]);
        if let Some(old) = annotation("ogx.io/adopt-networking")
            && let Some(service) = seen("services", format!("{old}-service"))
        {
            adoptable(&service);
            let change = json!({"metadata": {"ownerReferences": owner}});
            self.namespace.merge("services", &format!("{old}-service"), &change);
        }
        if annotation("ogx.io/adopt-storage").is_none() && !server["spec"]["workload"]["storage"].is_null() {
            assert!(seen("persistentvolumeclaims", format!("{name}-pvc")).is_some(), "it does not see its volume");
        }
        let status = format!("{}/status", self.namespace.path("ogxservers", name));
        let answer = self.world.cluster().send(Request::merge(status, &json!({"status": {"phase": "Ready"}})));
        assert!(answer.accepted(), "{}", answer.message());
    }

    /// Whether the claim is there to stay.
    fn has_volume(&self) -> bool {
        let claim = self.namespace.try_get("persistentvolumeclaims", "chat-pvc");
        claim.is_some_and(|claim| claim["metadata"]["deletionTimestamp"].is_null())
    }

    fn is_gone(&self, plural: &str, name: &str) -> bool {
        self.namespace.try_get(plural, name).is_none()
    }

    fn volume_is_retained(&self) -> bool {
        let path = format!("/api/v1/persistentvolumes/{}-volume", self.namespace.name());
        let volume = self.world.cluster().send(Request::get(path)).body;
        volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    }
}

#[test]
fn the_documented_way_loses_the_volume() {
    let old = Old::leave("documented", "v1alpha1");
    old.carry_out(&[], "Write the new", "Wait");
    old.run("kubectl -n documented delete llamastackdistribution chat");
    wait_until("the garbage collector takes the claim", || !old.has_volume());
}

#[test]
fn the_plan_keeps_volume_and_service() {
    keeps_volume_and_service("by-plan", "v1alpha1", &[]);
}

/// The new operator refuses what a v1alpha2 resource owns, so the plan gives it another version of the same owner first.
#[test]
fn the_plan_keeps_what_v1alpha2_owns() {
    keeps_volume_and_service("by-plan-newer", "v1alpha2", &[]);
}

/// Nothing but the cluster is asked, and what the plan says is all that is done.
#[test]
fn the_plan_of_a_cluster_keeps_volume_and_service() {
    keeps_volume_and_service("by-cluster", "v1alpha1", &["--cluster", "--namespace", "by-cluster"]);
}

#[test]
fn a_cluster_is_read_and_not_changed_for_a_plan() {
    let old = Old::leave("read-only", "v1alpha1");
    let piped = old.run(
        "kubectl -n read-only get llamastackdistribution/chat configmap/config -o yaml | \
         llsd migrate --to ogx --plan - || [ $? -eq 1 ]",
    );
    let before = old.namespace.get("v1alpha1", "chat")["metadata"]["resourceVersion"].clone();
    let plan = old.llsd(&["--plan", "--cluster", "--namespace", "read-only"]);
    let (reads, rest): (Vec<_>, Vec<_>) = plan.lines().partition(|line| line.ends_with("> resources.yaml"));
    assert_eq!(rest, piped.lines().collect::<Vec<_>>());
    let kubeconfig = old.world.cluster().folder().join("kubeconfig");
    std::fs::copy(kubeconfig, old.folder.path().join("own.config")).unwrap();
    let named =
        old.run("KUBECONFIG=own.config llsd migrate --to ogx --plan --cluster --namespace read-only || [ $? -eq 1 ]");
    assert_eq!(named, plan, "a file is found from the folder of the run");
    old.run(reads[0]);
    let read = std::fs::read_to_string(old.folder.path().join("resources.yaml")).unwrap();
    assert!(read.contains("kind: LlamaStackDistribution") && read.contains("image_name: starter"), "{read}");
    assert_eq!(old.namespace.get("v1alpha1", "chat")["metadata"]["resourceVersion"], before);
    // of all namespaces, this one among them
    let all = old.llsd(&["--plan", "--cluster"]);
    assert!(all.contains("kubectl -n read-only delete llamastackdistribution chat"), "{all}");
    assert_eq!(old.llsd(&["--plan", "--cluster", "--namespace", "default"]), "");
}

fn keeps_volume_and_service(name: &str, version: &str, options: &[&str]) {
    let old = Old::leave(name, version);
    old.carry_out(options, "", "Move clients");
    assert!(old.volume_is_retained());
    // It belonged to the old resource as the others did, and tells that these have been looked at.
    wait_until("what was not adopted goes with the old resource", || old.is_gone("deployments", "chat"));
    assert!(old.has_volume() && !old.is_gone("services", "chat-service"));
    assert!(old.is_gone("v1alpha1", "chat"));
    let config = old.namespace.get("configmaps", "config");
    assert!(config["data"]["config.yaml"].as_str().unwrap().contains("distro_name"), "{config:#}");
    assert_eq!(config["metadata"]["labels"]["ogx.io/watch"], "true");
    old.carry_out(options, "Move clients", "To go back");
    assert!(
        old.namespace.get("ogxservers", "chat-ogx")["metadata"]["annotations"]["ogx.io/adopt-networking"].is_null()
    );
}

#[test]
fn the_plan_for_the_same_name_keeps_the_volume() {
    let old = Old::leave("same-name", "v1alpha1");
    old.carry_out(&["--same-name"], "", "To go back");
    for (plural, name) in [("v1alpha1", "chat"), ("services", "chat-service"), ("deployments", "chat")] {
        wait_until("the rest is gone", || old.is_gone(plural, name));
    }
    assert!(old.has_volume() && old.volume_is_retained());
    wait_until("the claim belongs to nobody", || {
        old.namespace.get("persistentvolumeclaims", "chat-pvc")["metadata"]["ownerReferences"].is_null()
    });
}

#[test]
fn the_way_back_leaves_the_old_resource_with_its_volume_and_config() {
    for (name, options, end) in
        [("back", &[][..], "Delete the old"), ("back-same-name", &["--same-name"][..], "To go back")]
    {
        let old = Old::leave(name, "v1alpha1");
        old.carry_out(options, "", end);
        old.carry_out(options, "To go back", "nothing");
        assert!(old.has_volume() && !old.is_gone("v1alpha1", "chat"));
        let claim = old.namespace.get("persistentvolumeclaims", "chat-pvc");
        assert_eq!(claim["metadata"]["labels"]["app.kubernetes.io/managed-by"], "llama-stack-operator");
        let config = old.namespace.get("configmaps", "config");
        assert!(config["data"]["config.yaml"].as_str().unwrap().contains("image_name"), "{config:#}");
        let operator = Request::get(format!("/apis/apps/v1/namespaces/{SYSTEM}/deployments/{OLD_OPERATOR}"));
        assert_eq!(old.world.cluster().send(operator).body["spec"]["replicas"], 1);
    }
}
