//! What each overlay installs is enough to run with: the operator works as the installed service account, with exactly
//! its roles, and is refused nothing.

use super::installed::{Installed, apply, on_top, overlay, rendered};
use crate::operator_manifests::repository;
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::{kubectl, wait_until};
use serde_json::{Value, json};

#[test]
fn kubernetes() {
    works(&Installed::new(&overlay("kubernetes"), &[]), "team");
}

#[test]
fn cert_manager() {
    works(&Installed::new(&overlay("cert-manager"), &[]), "team");
}

/// With what makes a cluster an OpenShift to the operator, and with the administrator's word for `anyuid`.
#[test]
fn openshift() {
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:openshift:scc:anyuid"},
        "rules": [{
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "resourceNames": ["anyuid"],
            "verbs": ["use"],
        }],
    });
    let cluster = Cluster::with_controllers();
    let folder = on_top(cluster.folder(), "resources: ['{deploy}/overlays/openshift', '{deploy}/rbac/anyuid']\n");
    let installed = Installed::on(cluster, &folder, &[role, constraints()]);
    works(&installed, "team");
}

#[test]
fn another_namespace() {
    let cluster = Cluster::with_controllers();
    let text = "namespace: ops\nresources: ['{deploy}/overlays/kubernetes']\n";
    let folder = on_top(cluster.folder(), text);
    let installed = Installed::on(cluster, &folder, &[]);
    assert_eq!(installed.namespace, "ops");
    works(&installed, "team");
}

/// As an installation may change an overlay by all that is documented at once.
#[test]
fn all_on_top() {
    let cluster = Cluster::with_controllers();
    let text = "namespace: ops\nresources: ['{deploy}/overlays/cert-manager']\n\
                components: ['{deploy}/components/monitoring']\n\
                images: [{name: quay.io/llamastack/llsd-operator, newName: mirror.example.com/llsd, newTag: '1'}]\n";
    let folder = on_top(cluster.folder(), text);
    let installed = Installed::on(cluster, &folder, &[]);
    assert_eq!(installed.namespace, "ops");
    works(&installed, "team");
}

/// The administrator brings the namespace and the definition of the resource; nothing in the whole cluster is granted.
#[test]
fn single_namespace() {
    let cluster = Cluster::with_controllers();
    apply(&cluster, &rendered(&repository("operator/deploy/crd")));
    kubectl(&cluster, &["create", "namespace", "team"], "").expect("a namespace");
    let text = "namespace: team\nresources: ['{deploy}/overlays/single-namespace']\n";
    let folder = on_top(cluster.folder(), text);
    let installed = Installed::on(cluster, &folder, &[]);
    for object in &installed.objects {
        assert_eq!(object["metadata"]["namespace"], "team", "{object}");
    }
    works(&installed, "team");
}

/// The same with the component for the other kind.
#[test]
fn ogx_in_a_single_namespace() {
    let cluster = Cluster::with_controllers();
    apply(&cluster, &rendered(&repository("operator/deploy/crd")));
    kubectl(&cluster, &["create", "namespace", "team"], "").expect("a namespace");
    let text = "namespace: team\nresources: ['{deploy}/overlays/single-namespace']\n\
                components: ['{deploy}/components/ogx-single-namespace']\n";
    let folder = on_top(cluster.folder(), text);
    let installed = Installed::on(cluster, &folder, &[llsd_generator::ogx::crd::definition()]);
    for object in &installed.objects {
        assert_eq!(object["metadata"]["namespace"], "team", "{object}");
    }
    works_for_ogx(&installed);
}

/// With the component for the other kind, whose definition is upstream's.
#[test]
fn ogx() {
    let cluster = Cluster::with_controllers();
    let text = "resources: ['{deploy}/overlays/kubernetes']\ncomponents: ['{deploy}/components/ogx']\n";
    let folder = on_top(cluster.folder(), text);
    let installed = Installed::on(cluster, &folder, &[llsd_generator::ogx::crd::definition()]);
    kubectl(&installed.cluster, &["create", "namespace", "team"], "").expect("a namespace");
    works_for_ogx(&installed);
}

/// Without the right to read the definition nothing could be reconciled: that ends the process, with the way out.
#[test]
fn a_missing_right_is_named() {
    let mut objects = rendered(&overlay("cert-manager"));
    for object in &mut objects {
        if object["kind"] == "ClusterRole"
            && let Some(rules) = object["rules"].as_array_mut()
        {
            rules.retain(|rule| rule["apiGroups"] != json!(["apiextensions.k8s.io"]));
        }
    }
    let installed = Installed::with(Cluster::with_controllers(), objects, &[]);
    let mut operator = installed.launch();
    let ended = operator.wait_end();
    let log = operator.log();
    assert_eq!(ended.code(), Some(1), "{log}");
    assert!(log.contains("grant \\\"get\\\" on that CustomResourceDefinition"), "{log}");
}

/// The kind by which OpenShift is known.
fn constraints() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "securitycontextconstraints.security.openshift.io",
            "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in"},
        },
        "spec": {
            "group": "security.openshift.io",
            "names": {"kind": "SecurityContextConstraints", "plural": "securitycontextconstraints"},
            "scope": "Cluster",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

/// One child of every kind comes and goes in the namespace `team`, and the log is clean.
pub(crate) fn works(installed: &Installed, team: &str) {
    let Installed { cluster, namespace, .. } = installed;
    let openshift = installed
        .objects
        .iter()
        .any(|object| object["metadata"]["name"].as_str().is_some_and(|name| name.ends_with("-anyuid-role")));
    let webhooks = installed.objects.iter().any(|object| object["kind"] == "ValidatingWebhookConfiguration");
    let flags = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "llama-stack-operator-config", "namespace": namespace},
        "data": {"featureFlags": format!("enableNetworkPolicy: {{enabled: true}}\nanyuid: {{namespaces: [{team}]}}\n")},
    });
    kubectl(cluster, &["create", "-f", "-"], &flags.to_string()).expect("a ConfigMap");
    let mut operator = installed.start();

    if namespace != team {
        kubectl(cluster, &["create", "namespace", team], "").expect("a namespace");
    }
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "postgres", "namespace": team},
        "stringData": {"url": "postgresql://llama:secret@pg:5432/stack"},
    });
    kubectl(cluster, &["create", "-f", "-"], &secret.to_string()).expect("a Secret");
    let resource = json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "all", "namespace": team},
        "spec": {
            "distribution": {"name": "starter"},
            "storage": {"sql": {
                "type": "postgres",
                "connectionString": {"secretKeyRef": {"name": "postgres", "key": "url"}},
            }},
            "networking": {"expose": {}},
            "workload": {"replicas": 2, "storage": {}, "autoscaling": {"maxReplicas": 3}},
        },
    });
    wait_until("the resource is taken", || kubectl(cluster, &["apply", "-f", "-"], &resource.to_string()).is_ok());
    // One child of every kind.
    for path in [
        format!("/apis/apps/v1/namespaces/{team}/deployments/all"),
        format!("/api/v1/namespaces/{team}/services/all-service"),
        format!("/api/v1/namespaces/{team}/serviceaccounts/all-sa"),
        format!("/api/v1/namespaces/{team}/persistentvolumeclaims/all-pvc"),
        format!("/api/v1/namespaces/{team}/secrets/all-storage-sql"),
        format!("/apis/networking.k8s.io/v1/namespaces/{team}/networkpolicies/all-network-policy"),
        format!("/apis/networking.k8s.io/v1/namespaces/{team}/ingresses/all-ingress"),
        format!("/apis/autoscaling/v2/namespaces/{team}/horizontalpodautoscalers/all-hpa"),
        format!("/apis/policy/v1/namespaces/{team}/poddisruptionbudgets/all-pdb"),
    ] {
        wait_until(&format!("{path}\n{}", operator.log()), || cluster.send(Request::get(&path)).accepted());
    }
    let binding = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{team}/rolebindings/all-rb");
    let binding = cluster.send(Request::get(binding));
    assert_eq!(binding.accepted(), openshift, "{}", binding.body);
    if openshift {
        assert_eq!(binding.body["subjects"][0]["name"], "all-sa");
    }
    wait_until("there is a status", || {
        let path = format!("/apis/llamastack.io/v1alpha2/namespaces/{team}/llamastackdistributions/all");
        cluster.send(Request::get(path)).body["status"]["phase"].is_string()
    });
    // And they go again when they are not wanted.
    let less = json!({"spec": {"networking": null, "workload": null, "storage": null}});
    let change = ["patch", "llsd", "all", "-n", team, "--type=merge", "-p", &less.to_string()];
    kubectl(cluster, &change, "").expect("a change");
    for path in [
        format!("/apis/networking.k8s.io/v1/namespaces/{team}/ingresses/all-ingress"),
        format!("/apis/autoscaling/v2/namespaces/{team}/horizontalpodautoscalers/all-hpa"),
        format!("/apis/policy/v1/namespaces/{team}/poddisruptionbudgets/all-pdb"),
        format!("/api/v1/namespaces/{team}/secrets/all-storage-sql"),
    ] {
        wait_until(&path, || cluster.send(Request::get(&path)).status == 404);
    }
    let lease = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/54e06e98.llamastack.io");
    assert!(cluster.send(Request::get(lease)).body["spec"]["holderIdentity"].is_string());
    let ended = operator.terminate();
    let log = operator.log();
    assert!(ended.success(), "{ended}: {log}");
    for word in ["orbidden", "cannot "] {
        assert!(!log.contains(word), "{log}");
    }
    if webhooks {
        passes_without_the_operator(installed, team);
    }
}

/// While no replica runs, what does not change the content of a resource goes on.
fn passes_without_the_operator(installed: &Installed, team: &str) {
    let run =
        |arguments: &[&str], input: &str| kubectl(&installed.cluster, &[&["-n", team], arguments].concat(), input);
    run(&["label", "llsd", "all", "a=b"], "").expect("a label");
    let finalizer = json!({"metadata": {"finalizers": ["example.com/wait"]}}).to_string();
    run(&["patch", "llsd", "all", "--type=merge", "-p", &finalizer], "").expect("a finalizer");
    let error = run(&["patch", "llsd", "all", "--type=merge", "-p", r#"{"spec": {"disabled": ["eval"]}}"#], "");
    assert!(error.as_ref().is_err_and(|error| error.contains("failed calling webhook")), "{error:?}");
    let kept = json!({"metadata": {"annotations": {"llamastack.io/v1alpha1-fields": "[]"}}}).to_string();
    let error = run(&["patch", "llsd", "all", "--type=merge", "-p", &kept], "");
    assert!(error.as_ref().is_err_and(|error| error.contains("failed calling webhook")), "{error:?}");
    run(&["delete", "llsd", "all", "--wait=false"], "").expect("a deletion");
    run(&["patch", "llsd", "all", "--type=json", "-p", r#"[{"op": "remove", "path": "/metadata/finalizers/0"}]"#], "")
        .expect("the finalizer goes");
    let path = format!("/apis/llamastack.io/v1alpha2/namespaces/{team}/llamastackdistributions/all");
    wait_until("it is gone", || installed.cluster.send(Request::get(&path)).status == 404);
}

/// One child of every kind of an `OGXServer` comes and goes in the namespace `team`, and the log is clean.
pub(crate) fn works_for_ogx(installed: &Installed) {
    let cluster = &installed.cluster;
    let mut operator = installed.start();
    let resource = json!({
        "apiVersion": "ogx.io/v1beta1",
        "kind": "OGXServer",
        "metadata": {"name": "all", "namespace": "team"},
        "spec": {
            "distribution": {"name": "starter"},
            "disabledAPIs": ["batches"],
            "network": {"externalAccess": {"enabled": true}},
            "workload": {"replicas": 2, "storage": {}, "autoscaling": {"maxReplicas": 3}},
        },
    });
    wait_until("the resource is taken", || kubectl(cluster, &["apply", "-f", "-"], &resource.to_string()).is_ok());
    if installed.objects.iter().any(|object| object["kind"] == "ValidatingWebhookConfiguration") {
        refuses_an_id_twice(cluster, &resource);
    }
    let removable = [
        "/apis/networking.k8s.io/v1/namespaces/team/ingresses/all-ingress",
        "/apis/autoscaling/v2/namespaces/team/horizontalpodautoscalers/all-hpa",
        "/apis/policy/v1/namespaces/team/poddisruptionbudgets/all-pdb",
    ];
    let lasting = [
        "/apis/apps/v1/namespaces/team/deployments/all",
        "/api/v1/namespaces/team/services/all-service",
        "/api/v1/namespaces/team/serviceaccounts/all-sa",
        "/api/v1/namespaces/team/persistentvolumeclaims/all-pvc",
        "/apis/networking.k8s.io/v1/namespaces/team/networkpolicies/all-network-policy",
    ];
    for path in removable.iter().chain(&lasting) {
        wait_until(&format!("{path}\n{}", operator.log()), || cluster.send(Request::get(*path)).accepted());
    }
    wait_until("there is a status", || {
        let path = "/apis/ogx.io/v1beta1/namespaces/team/ogxservers/all";
        cluster.send(Request::get(path)).body["status"]["phase"].is_string()
    });
    let less = json!({"spec": {"network": null, "workload": null}}).to_string();
    kubectl(cluster, &["patch", "ogxserver", "all", "-n", "team", "--type=merge", "-p", &less], "").expect("a change");
    for path in removable {
        wait_until(path, || cluster.send(Request::get(path)).status == 404);
    }
    let ended = operator.terminate();
    let log = operator.log();
    assert!(ended.success(), "{ended}: {log}");
    assert!(!log.contains("orbidden"), "{log}");
}

fn refuses_an_id_twice(cluster: &Cluster, resource: &Value) {
    let mut twice = resource.clone();
    twice["metadata"]["name"] = json!("twice");
    twice["spec"]["providers"] = json!({"inference": {"remote": {"vllm": [
        {"endpoint": "http://one:8000/v1"}, {"endpoint": "http://two:8000/v1"},
    ]}}});
    let refused = kubectl(cluster, &["apply", "-f", "-"], &twice.to_string());
    assert!(
        refused.as_ref().is_err_and(|error| error.contains("duplicate provider ID \"remote-vllm\"")),
        "{refused:?}"
    );
}
