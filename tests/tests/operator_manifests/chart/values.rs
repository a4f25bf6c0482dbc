//! What the chart makes of its values is what kustomize makes of the overlays.

use super::{KUBERNETES, chart, helm, template};
use crate::operator_manifests::installed::{find, on_top, rendered};
use crate::operator_manifests::repository;
use llsd_operator::rbac::NAMESPACE;
use llsd_tests::operator::kubectl_program;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const KEEP: &str = "helm.sh/resource-policy";
const DIGEST: &str = "sha256:1111111111111111111111111111111111111111111111111111111111111111";

/// Objects in one order, without the namespace, which helm makes itself, and without what helm alone reads.
fn normalised(mut objects: Vec<Value>) -> Vec<Value> {
    objects.retain(|object| object["kind"] != "Namespace");
    for object in &mut objects {
        let policy = object["kind"].as_str().is_some_and(|kind| kind.starts_with("ValidatingAdmissionPolicy"));
        let metadata = &mut object["metadata"];
        if policy {
            // kustomize gives these a namespace, as it does not know that they have none; kubectl leaves it out.
            metadata.as_object_mut().expect("metadata").remove("namespace");
        }
        if let Some(annotations) = metadata["annotations"].as_object_mut() {
            annotations.remove(KEEP);
        }
        if metadata["annotations"].as_object().is_none_or(serde_json::Map::is_empty) {
            metadata.as_object_mut().expect("metadata").remove("annotations");
        }
    }
    objects.sort_by_key(|object| format!("{} {}", object["kind"], object["metadata"]["name"]));
    objects
}

/// The chart with these flags makes the objects of this kustomization.
fn same(test: &str, flags: &[&str], kustomization: &str) {
    let folder = std::env::temp_dir().join(format!("llsd-chart-{}-{test}", std::process::id()));
    let expected = normalised(rendered(&on_top(&folder, kustomization)));
    fs::remove_dir_all(folder).expect("the folder goes");
    // As `-n` of the later ones wins, this is only what holds otherwise.
    let found = normalised(template(&[&["--namespace", NAMESPACE], flags].concat()).expect("helm takes the values"));
    let names = |objects: &[Value]| -> Vec<String> {
        objects.iter().map(|object| format!("{} {}", object["kind"], object["metadata"]["name"])).collect()
    };
    assert_eq!(names(&found), names(&expected), "{test}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{test}");
    }
}

fn overlay(name: &str) -> String {
    format!("resources: ['{{deploy}}/overlays/{name}']\n")
}

#[test]
fn each_overlay_is_a_value() {
    same("default", &[], &overlay("kubernetes"));
    same("cert-manager", &["--set=certificates=cert-manager"], &overlay("cert-manager"));
    same("openshift", &["--set=certificates=openshift"], &overlay("openshift"));
    same("namespace", &["--set=scope=namespace"], &overlay("single-namespace"));
}

#[test]
fn the_namespace_of_the_release_is_that_of_everything() {
    for (name, flag) in [
        ("kubernetes", "--set=certificates=operator"),
        ("cert-manager", "--set=certificates=cert-manager"),
        ("single-namespace", "--set=scope=namespace"),
    ] {
        let kustomization = format!("namespace: elsewhere\n{}", overlay(name));
        same(&format!("elsewhere-{name}"), &["--namespace=elsewhere", flag], &kustomization);
    }
}

#[test]
fn components_are_values() {
    let monitoring = format!("{}components: ['{{deploy}}/components/monitoring']\n", overlay("kubernetes"));
    same("monitoring", &["--set=monitoring.enabled=true"], &monitoring);
    let labelled = format!(
        "{monitoring}patches:\n- target: {{kind: ServiceMonitor|PrometheusRule}}\n  patch: '[{{\"op\": \"add\", \"path\": \"/metadata/labels/release\", \"value\": \"main\"}}]'\n"
    );
    same("labels", &["--set=monitoring.enabled=true", "--set=monitoring.labels.release=main"], &labelled);
    let anyuid = "resources: ['{deploy}/overlays/openshift', '{deploy}/rbac/anyuid']\n";
    same("anyuid", &["--set=certificates=openshift", "--set=anyuid.enabled=true"], anyuid);
    let ogx = format!("{}components: ['{{deploy}}/components/ogx']\n", overlay("kubernetes"));
    same("ogx", &["--set=ogx.enabled=true"], &ogx);
    let ogx = format!("{}components: ['{{deploy}}/components/ogx-single-namespace']\n", overlay("single-namespace"));
    same("ogx-namespace", &["--set=scope=namespace", "--set=ogx.enabled=true"], &ogx);
    let open = format!(
        "{}patches:\n- target: {{kind: NetworkPolicy}}\n  patch: '{{$patch: delete, kind: _, metadata: {{name: _}}}}'\n",
        overlay("kubernetes")
    );
    same("network", &["--set=networkPolicy.enabled=false"], &open);
}

/// An image reaches the variable by which the operator knows it, too.
#[test]
fn an_image_is_as_kustomize_has_it() {
    let images = |more: &str| {
        format!(
            "{}images:\n- {{name: quay.io/llamastack/llsd-operator, newName: mirror.example.com/llsd{more}}}\n",
            overlay("kubernetes")
        )
    };
    let repository = "--set=image.repository=mirror.example.com/llsd";
    same("repository", &[repository], &images(""));
    same("tag", &[repository, "--set-string=image.tag=7"], &images(", newTag: '7'"));
    let digest = format!("--set=image.digest={DIGEST}");
    same("digest", &[repository, &digest], &images(&format!(", digest: '{DIGEST}'")));
}

#[test]
fn the_pods_are_as_a_patch_would_make_them() {
    let values = json!({
        "replicas": 3,
        "imagePullSecrets": [{"name": "pull"}],
        "image": {"pullPolicy": "Always"},
        "resources": {"limits": {"memory": "1Gi"}},
        "nodeSelector": {"pool": "infra"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "args": ["--log-format=json"],
        "env": [{"name": "SSL_CERT_FILE", "value": "/certificates/ca.crt"}],
    });
    let container = "/spec/template/spec/containers/0";
    let pod = "/spec/template/spec";
    let put = |path: String, value: &Value| json!({"op": "add", "path": path, "value": value});
    let patch = json!([
        put("/spec/replicas".into(), &values["replicas"]),
        put(format!("{pod}/imagePullSecrets"), &values["imagePullSecrets"]),
        put(format!("{pod}/nodeSelector"), &values["nodeSelector"]),
        put(format!("{pod}/tolerations"), &values["tolerations"]),
        put(format!("{pod}/affinity"), &values["affinity"]),
        put(format!("{container}/imagePullPolicy"), &values["image"]["pullPolicy"]),
        put(format!("{container}/resources"), &values["resources"]),
        put(format!("{container}/args/-"), &values["args"][0]),
        put(format!("{container}/env/-"), &values["env"][0]),
    ]);
    let file = std::env::temp_dir().join(format!("llsd-chart-{}-values.json", std::process::id()));
    fs::write(&file, values.to_string()).expect("a file");
    let kustomization = format!(
        "{}patches: {}\n",
        overlay("kubernetes"),
        json!([{"target": {"kind": "Deployment"}, "patch": patch.to_string()}])
    );
    same("pods", &["--values", file.to_str().expect("a path")], &kustomization);
    fs::remove_file(file).expect("the file goes");
}

/// With the definition would go all resources; and it may stay only together with what guards it.
#[test]
fn what_guards_data_is_kept() {
    for certificates in ["operator", "cert-manager", "openshift"] {
        let objects = template(&[&format!("--set=certificates={certificates}")]).expect("helm takes the values");
        let mut kept: Vec<_> = objects
            .iter()
            .filter(|object| object["metadata"]["annotations"][KEEP] == "keep")
            .map(|object| object["kind"].as_str().unwrap_or_default())
            .collect();
        kept.sort_unstable();
        assert_eq!(
            kept,
            ["CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
            "{certificates}"
        );
    }
}

/// A resource needs its kind, so it is for a cluster that has it already.
#[test]
fn an_instance_is_made_only_where_its_kind_is_known() {
    let wanted = "--set=instance.enabled=true";
    let error = template(&[wanted]).expect_err("nobody knows the kind");
    assert!(error.contains("run helm upgrade with instance.enabled=true"), "{error}");
    let known = "--api-versions=llamastack.io/v1alpha2/LlamaStackDistribution";
    let objects = template(&["--namespace=team", known, wanted, "--set=instance.name=mine"]).expect("the values");
    let instance = find(&objects, "LlamaStackDistribution", "mine");
    assert_eq!(instance["metadata"]["namespace"], "team");
    assert_eq!(instance["metadata"]["annotations"][KEEP], "keep", "its volumes would go");
    assert_eq!(instance["spec"], json!({"distribution": {"name": "starter"}}));
}

#[test]
fn mistakes_are_refused() {
    for (flags, words) in [
        (&["--set=scope=all"][..], "at '/scope': value must be one of 'cluster', 'namespace'"),
        (&["--set=replica=2"], "additional properties 'replica' not allowed"),
        (&["--set=replicas=0"], "at '/replicas': minimum"),
        (&["--set-string=replicas=2"], "at '/replicas': got string, want integer"),
        (&["--set=image.digest=sha256:12"], "at '/image/digest'"),
        (&["--set=image.repository=https://quay.io/x"], "at '/image/repository'"),
        (&["--set=networkPolicy=false"], "at '/networkPolicy': got boolean, want object"),
        (&["--set=env[0].name=OPERATOR_IMAGE"], "at '/env/0/name'"),
        (&["--set=args={leader-elect}"], "at '/args/0'"),
        (&["--set=instance.name=A"], "at '/instance/name'"),
        (&["--set=scope=namespace", "--set=monitoring.enabled=true"], "at '/monitoring/enabled': value must be false"),
        (&["--set=scope=namespace", "--set=anyuid.enabled=true"], "at '/anyuid/enabled': value must be false"),
        (&["--set=scope=namespace", "--set=certificates=openshift"], "at '/certificates': value must be 'operator'"),
    ] {
        let error = template(flags).expect_err("a mistake");
        assert!(error.contains(words), "{flags:?}: {error}");
    }
}

#[test]
fn helm_finds_no_fault_with_the_chart() {
    for value in ["certificates=operator", "certificates=cert-manager", "certificates=openshift", "scope=namespace"] {
        let linted = helm(&["lint", "--strict", "--kube-version", KUBERNETES, "--set", value, &chart()]);
        assert!(linted.is_ok(), "{value}: {linted:?}");
    }
    let about = fs::read_to_string(repository("operator/chart/Chart.yaml")).expect("Chart.yaml");
    let about: Value = serde_yaml::from_str(&about).expect("YAML");
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(about["appVersion"], env!("CARGO_PKG_VERSION"));
}

/// The files of the chart are what `release/chart.sh` makes of the manifests. `UPDATE_EXPECT=1` writes them again.
#[test]
fn its_files_are_made_from_the_manifests() {
    let folder = repository("operator/chart/files");
    let made = std::env::temp_dir().join(format!("llsd-chart-{}-files", std::process::id()));
    let target = if std::env::var_os("UPDATE_EXPECT").is_some() { &folder } else { &made };
    let ran = Command::new(repository("release/chart.sh")).arg(target).env("KUBECTL", kubectl_program()).output();
    let ran = ran.expect("chart.sh runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let names = |folder: &PathBuf| {
        let mut names: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(target), names(&folder));
    for name in names(&folder) {
        let same = fs::read(target.join(&name)).expect("a file") == fs::read(folder.join(&name)).expect("a file");
        assert!(same, "operator/chart/files/{} is not what the manifests say: `make crd`", name.display());
    }
    let crd = |path: &str| fs::read(repository(path)).expect("the definition");
    assert!(crd("operator/chart/files/crd.yaml") == crd("operator/deploy/crd/llamastackdistributions.yaml"));
    let _ = fs::remove_dir_all(made);
}
