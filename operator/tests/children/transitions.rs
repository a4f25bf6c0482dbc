//! What a Deployment decided earlier must not outlive its reason.

use crate::children::case::Case;
use llsd_operator::resources::{Kind, LiveDeployment};
use proptest::prelude::*;
use serde_json::{Value, json};

fn deployment(case: &Case) -> Option<Value> {
    let children = case.children().ok()?;
    children.into_iter().find(|child| child.kind == Kind::Deployment).map(|child| child.object)
}

/// From every resource to every other: the Deployment ends as if it had been made new, so that nothing of the former
/// resource is left. Only what stands for an unchanged configuration stays.
#[test]
fn nothing_is_left_of_the_resource_before() {
    let cases = Case::all();
    let before: Vec<_> = cases.iter().filter_map(deployment).collect();
    for mut case in Case::all() {
        case.live = None;
        let Some(new) = deployment(&case) else { continue };
        for earlier in &before {
            case.live = Some(LiveDeployment::of(&serde_json::from_value(earlier.clone()).expect("a Deployment")));
            let changed = deployment(&case).expect("no error before, none now");
            let had_config = earlier["spec"]["template"]["metadata"]["annotations"]["configmap.hash/user-config"]
                .as_str()
                .is_some_and(|mark| mark.ends_with("-my-config"));
            if case.spec.override_config.is_some() && had_config {
                continue;
            }
            let marks = |object: &Value| object["spec"]["template"]["metadata"]["annotations"].clone();
            let same_bundle = earlier["metadata"]["annotations"]["configmap.hash/ca-bundle"]
                == changed["metadata"]["annotations"]["configmap.hash/ca-bundle"];
            if same_bundle && marks(&changed) != marks(&new) {
                // The bundle is the same, and so its mark.
                let kept = &marks(earlier)["configmap.hash/ca-bundle"];
                assert_eq!(&marks(&changed)["configmap.hash/ca-bundle"], kept, "{}", case.name);
                continue;
            }
            let mut pair = [changed, new.clone()];
            if earlier["spec"]["template"]["spec"]["automountServiceAccountToken"].is_null() {
                // As an older operator made it, and kept so: its pods would restart.
                pair.iter_mut().for_each(unconfine);
            }
            let [changed, new] = pair;
            assert_eq!(changed, new, "{} after {}", case.name, earlier["metadata"]["name"]);
        }
    }
}

/// Takes away what the pods are confined by.
fn unconfine(deployment: &mut Value) {
    let pod = deployment["spec"]["template"]["spec"].as_object_mut().expect("a pod");
    pod.shift_remove("securityContext");
    pod.shift_remove("automountServiceAccountToken");
    pod["containers"][0].as_object_mut().expect("a container").shift_remove("securityContext");
}

/// Once applied, a Deployment read back is built as it is: no second write.
#[test]
fn what_was_applied_is_built_again() {
    for mut case in Case::all() {
        let Some(first) = deployment(&case) else { continue };
        case.live = Some(LiveDeployment::of(&serde_json::from_value(first.clone()).expect("a Deployment")));
        assert_eq!(deployment(&case).as_ref(), Some(&first), "{}", case.name);
    }
}

proptest! {
    #[test]
    fn names_are_dns_labels(name in "[a-z]([a-z0-9-]{0,46}[a-z0-9])?", replicas in 0..4, flag in any::<bool>()) {
        let case = Case::of(&json!({
            "apiVersion": "llamastack.io/v1alpha2",
            "kind": "LlamaStackDistribution",
            "metadata": {"name": name, "namespace": "team", "uid": "1"},
            "spec": {
                "distribution": {"name": "starter"},
                "disabled": ["eval"],
                "networking": {"expose": {"enabled": flag}},
                "workload": {"replicas": replicas, "storage": {}, "autoscaling": {"maxReplicas": 9}},
            },
        }));
        let children = case.children().expect("a valid resource");
        prop_assert!(children.len() >= 6);
        for child in children {
            let name = child.name();
            // Only Services have to be DNS labels; the names of ConfigMaps may be as long as a DNS name.
            let limit = if child.kind == Kind::GeneratedConfig { 253 } else { 63 };
            prop_assert!(!name.is_empty() && name.len() <= limit);
            prop_assert!(name.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-'));
            prop_assert!(!name.starts_with('-') && !name.ends_with('-'));
        }
    }
}
