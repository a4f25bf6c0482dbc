//! The bundle for OLM: checked by OLM's own program and by the API server, and compared with the overlay that it is made of.

use super::installed::{find, overlay, rendered};
use super::repository;
use llsd_operator::rbac::PREFIX;
use llsd_operator::webhooks::{CONVERT_PATH, VALIDATE_PATH};
use llsd_tests::cluster::Cluster;
use llsd_tests::llama_stack::Folder;
use llsd_tests::operator::{kubectl, kubectl_program, wait_until};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What OLM has of its own, built first if need be.
fn olm(program: &str) -> Command {
    let built = Command::new(repository("tests/olm/build.sh")).output().expect("build.sh");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Command::new(PathBuf::from(String::from_utf8_lossy(&built.stdout).trim()).join(program))
}

fn make(bundle: &Path) -> Output {
    Command::new(repository("release/bundle.py")).arg(bundle).env("KUBECTL", kubectl_program()).output().unwrap()
}

/// The bundle in a folder that goes away with the test.
fn bundle(name: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(name).unwrap();
    let bundle = folder.path().join("bundle");
    let made = make(&bundle);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (folder, bundle)
}

/// The objects of a bundle.
fn objects(bundle: &Path) -> Vec<Value> {
    let files = fs::read_dir(bundle.join("manifests")).unwrap();
    files.map(|file| serde_yaml::from_str(&fs::read_to_string(file.unwrap().path()).unwrap()).unwrap()).collect()
}

#[test]
fn olm_and_the_api_server_accept_it() {
    let (_folder, bundle) = bundle("bundle");
    let verify = || {
        let mut verify = olm("operator-verify");
        verify.args(["manifests", "--object_validate", "--operatorhub_validate"]).arg(&bundle);
        // It ends well whatever it finds.
        String::from_utf8_lossy(&verify.output().unwrap().stderr).into_owned()
    };
    let said = verify();
    assert!(said.contains("level=warning") && !said.contains("level=error"), "{said}");

    let cluster = Cluster::with_controllers();
    let definition = String::from_utf8(olm("definitions").output().unwrap().stdout).unwrap();
    kubectl(&cluster, &["apply", "--server-side", "-f", "-"], &definition).unwrap();
    // The namespace that stands for the one that OLM installs into.
    kubectl(&cluster, &["create", "namespace", "placeholder"], "").unwrap();
    let manifests = bundle.join("manifests");
    let apply = ["apply", "--server-side", "--validate=strict", "-f", manifests.to_str().unwrap()];
    let mut said = String::new();
    wait_until("the kind is served", || match kubectl(&cluster, &apply, "") {
        Ok(applied) => {
            said = applied;
            true
        }
        Err(error) => {
            assert!(error.contains("no matches for kind") || error.contains("could not find"), "{error}");
            false
        }
    });
    assert!(said.contains("clusterserviceversion.operators.coreos.com/llama-stack-k8s-operator.v"), "{said}");

    // It can say no.
    let files = fs::read_dir(&manifests).unwrap().map(|file| file.unwrap().path());
    let definition = files.into_iter().find(|path| path.to_str().unwrap().contains("customresourcedefinition"));
    fs::remove_file(definition.unwrap()).unwrap();
    let said = verify();
    assert!(said.contains("level=error") && said.contains("owned CRD"), "{said}");
}

#[test]
fn it_installs_what_the_overlay_does() {
    let (folder, bundle) = bundle("bundle-drift");
    let (found, expected) = (objects(&bundle), rendered(&overlay("cert-manager")));
    let version =
        find(&found, "ClusterServiceVersion", concat!("llama-stack-k8s-operator.v", env!("CARGO_PKG_VERSION")));
    let install = &version["spec"]["install"]["spec"];

    // One Deployment, whose pods differ by what `bundle.py` says.
    let manager = format!("{PREFIX}-controller-manager");
    let mut deployment = find(&expected, "Deployment", &manager)["spec"].clone();
    let pod = deployment["template"]["spec"].as_object_mut().unwrap();
    pod.remove("priorityClassName").unwrap();
    pod.remove("volumes").unwrap();
    let mounts = pod["containers"][0].as_object_mut().unwrap().remove("volumeMounts").unwrap();
    assert_eq!(mounts[0]["mountPath"], "/tmp/k8s-webhook-server/serving-certs", "OLM mounts its certificate there");
    assert_eq!(install["deployments"].as_array().unwrap().len(), 1);
    assert_eq!(install["deployments"][0]["name"], manager.as_str());
    assert_eq!(install["deployments"][0]["spec"], deployment);

    // Its service account may do what the overlay lets it do.
    for (scope, field) in [("", "permissions"), ("Cluster", "clusterPermissions")] {
        let bindings = expected.iter().filter(|object| object["kind"] == format!("{scope}RoleBinding"));
        let rules: Vec<Value> = bindings
            .flat_map(|binding| {
                let role = binding["roleRef"]["name"].as_str().unwrap();
                find(&expected, &format!("{scope}Role"), role)["rules"].as_array().unwrap().clone()
            })
            .collect();
        assert_eq!(install[field].as_array().unwrap().len(), 1);
        assert_eq!(install[field][0]["serviceAccountName"], manager.as_str());
        assert_eq!(install[field][0]["rules"], Value::Array(rules));
    }

    let hooks = version["spec"]["webhookdefinitions"].as_array().unwrap();
    let paths: Vec<&str> = hooks.iter().map(|hook| hook["webhookPath"].as_str().unwrap()).collect();
    assert_eq!(paths, [CONVERT_PATH, VALIDATE_PATH]);
    let rules =
        &find(&expected, "ValidatingWebhookConfiguration", &format!("{PREFIX}-validating-webhook-configuration"));
    assert_eq!(hooks[1]["rules"], rules["webhooks"][0]["rules"]);

    // Whatever is beside it is in the overlay, too, and nobody but the authors of the script leaves a kind out.
    let mut kinds: Vec<&str> = found.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let known = ["ClusterRole", "ClusterServiceVersion", "CustomResourceDefinition", "PodDisruptionBudget", "Service"];
    assert_eq!(kinds, known);
    for object in found.iter().filter(|object| object["kind"] != "ClusterServiceVersion") {
        let (kind, name) = (object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
        let mut same = find(&expected, kind, name).clone();
        if kind == "CustomResourceDefinition" {
            same["spec"].as_object_mut().unwrap().remove("conversion").unwrap();
        }
        for part in ["spec", "rules"] {
            assert_eq!(object[part], same[part], "{kind} {name}");
        }
    }

    let again = make(&folder.path().join("bundle"));
    let message = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(!again.status.success() && message.contains("is there already"), "{message}");
}
