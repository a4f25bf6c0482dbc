//! How far the external providers of a resource have got, by the init containers of its pods.

use super::{EXTRACT_CONTAINER, MERGE_CONTAINER, WANTED_VARIABLE, Wanted, listed, provider_at_fault};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use llsd_generator::api::status::{ExternalProviderPhase as Phase, ExternalProviderStatus};
use std::time::Duration;

/// Characters of a message at most: it is part of the status, and a container may end with 4 KiB of text.
const LENGTH: usize = 512;
/// How soon to look again while providers are being installed, and after one has failed. A pod whose init containers get on
/// or fail changes nothing of its Deployment, which is all that is watched.
const INSTALLING: Duration = Duration::from_secs(10);
const FAILED: Duration = Duration::from_secs(60);

/// The state of each provider over all of `pods`: the worst of them, and `Ready` only if every pod has it. Pods that
/// are going away do not count, nor do those that were made for other providers.
#[must_use]
pub fn statuses(wanted: &[Wanted], pods: &[Pod]) -> Vec<ExternalProviderStatus> {
    let list = listed(wanted);
    let counts = |pod: &&Pod| pod.metadata.deletion_timestamp.is_none() && merges(pod) == Some(&list);
    let pods: Vec<_> = pods.iter().filter(counts).collect();
    wanted
        .iter()
        .enumerate()
        .map(|(number, provider)| {
            let worst = pods.iter().map(|pod| in_pod(number, provider, pod)).max_by_key(|(phase, _)| *phase);
            let (phase, message) =
                worst.unwrap_or_else(|| (Phase::Pending, Some("waiting for a pod of the server".to_owned())));
            ExternalProviderStatus {
                provider_id: provider.provider_id.clone(),
                api: provider.api.clone(),
                image: provider.image.clone(),
                phase,
                message: message.map(|text| text.chars().take(LENGTH).collect()),
            }
        })
        .collect()
}

/// The list of providers that a pod was made for.
fn merges(pod: &Pod) -> Option<&String> {
    let containers = pod.spec.as_ref()?.init_containers.as_deref()?;
    let merge = containers.iter().find(|container| container.name == MERGE_CONTAINER)?;
    let variables = merge.env.as_deref()?;
    variables.iter().find(|variable| variable.name == WANTED_VARIABLE)?.value.as_ref()
}

/// How soon the providers are to be looked at again; `None` if all are ready, which only a new pod can change.
#[must_use]
pub fn again(statuses: &[ExternalProviderStatus]) -> Option<Duration> {
    let waits = statuses.iter().filter_map(|status| match status.phase {
        Phase::Ready => None,
        Phase::Pending | Phase::Installing => Some(INSTALLING),
        Phase::Failed => Some(FAILED),
    });
    waits.min()
}

type State = (Phase, Option<String>);

fn in_pod(number: usize, provider: &Wanted, pod: &Pod) -> State {
    let statuses = pod.status.as_ref().and_then(|status| status.init_container_statuses.as_deref()).unwrap_or_default();
    let named = |name: &str| statuses.iter().find(|status| status.name == name);
    let Some(own) = named(&provider.container()) else {
        return (Phase::Pending, Some("waiting for its init container".to_owned()));
    };
    let image = &provider.image;
    match outcome(own) {
        Outcome::Done => merged(number, [EXTRACT_CONTAINER, MERGE_CONTAINER].map(named)),
        Outcome::Running => (Phase::Installing, None),
        Outcome::Waiting => (Phase::Pending, Some("waiting for the init containers before it".to_owned())),
        Outcome::Pull(reason) => (
            Phase::Failed,
            Some(format!(
                "image {image} cannot be pulled: {reason}. Check the image's name, and the imagePullSecrets of the pod's \
                 service account"
            )),
        ),
        Outcome::Failed { reason, .. } => {
            (Phase::Failed, Some(format!("the packages of image {image} cannot be installed: {reason}")))
        }
    }
}

/// A provider that is installed is of use only once the configuration names it.
fn merged(number: usize, later: [Option<&ContainerStatus>; 2]) -> State {
    for status in later.into_iter().flatten() {
        match outcome(status) {
            Outcome::Done => {}
            Outcome::Failed { reason, at_fault: Some(other) } if status.name == MERGE_CONTAINER && other != number => {
                return (Phase::Pending, Some(format!("waiting for another provider: {reason}")));
            }
            Outcome::Failed { reason, .. } | Outcome::Pull(reason) => {
                return (Phase::Failed, Some(format!("{} failed: {reason}", status.name)));
            }
            Outcome::Running | Outcome::Waiting => {
                return (Phase::Installing, Some(format!("waiting for {}", status.name)));
            }
        }
    }
    match later[1] {
        Some(_) => (Phase::Ready, None),
        None => (Phase::Installing, Some(format!("waiting for {MERGE_CONTAINER}"))),
    }
}

enum Outcome {
    Done,
    Running,
    Waiting,
    Pull(String),
    Failed {
        reason: String,
        /// Number of the provider that the container itself puts it down to.
        at_fault: Option<usize>,
    },
}

fn outcome(status: &ContainerStatus) -> Outcome {
    let ended = |state: Option<&k8s_openapi::api::core::v1::ContainerState>| {
        let ended = state?.terminated.as_ref()?;
        let text = ended.message.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let reason = text.map_or_else(|| format!("exit code {}", ended.exit_code), str::to_owned);
        Some((ended.exit_code, reason))
    };
    if let Some((code, reason)) = ended(status.state.as_ref()) {
        return if code == 0 { Outcome::Done } else { failed(code, reason) };
    }
    if status.state.as_ref().is_some_and(|state| state.running.is_some()) {
        return Outcome::Running;
    }
    let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref());
    let reason = waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default();
    let message = waiting.and_then(|waiting| waiting.message.clone()).unwrap_or_else(|| reason.to_owned());
    match reason {
        "ErrImagePull"
        | "ImagePullBackOff"
        | "InvalidImageName"
        | "ErrImageNeverPull"
        | "ImageInspectError"
        | "RegistryUnavailable" => Outcome::Pull(message),
        // It is tried again, and has failed at least once: what it said then is what helps.
        "CrashLoopBackOff" => match ended(status.last_state.as_ref()) {
            Some((code, reason)) => failed(code, reason),
            None => Outcome::Failed { reason: message, at_fault: None },
        },
        "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => {
            Outcome::Failed { reason: message, at_fault: None }
        }
        _ => match ended(status.last_state.as_ref()) {
            Some((code, reason)) if code != 0 => failed(code, reason),
            _ => Outcome::Waiting,
        },
    }
}

fn failed(exit_code: i32, reason: String) -> Outcome {
    Outcome::Failed { reason, at_fault: provider_at_fault(exit_code) }
}

/// Status and message of the condition `ExternalProvidersReady`: whether all are ready, and of which one to read more.
#[must_use]
pub fn summary(statuses: &[ExternalProviderStatus]) -> (bool, &'static str, String) {
    let ready = statuses.iter().filter(|status| status.phase == Phase::Ready).count();
    let failed: Vec<_> = statuses.iter().filter(|status| status.phase == Phase::Failed).collect();
    if let Some(first) = failed.first() {
        let more = if failed.len() > 1 { format!(" ({} more failed)", failed.len() - 1) } else { String::new() };
        let text = first.message.as_deref().unwrap_or_default();
        return (false, "ExternalProviderFailed", format!("External provider {:?}: {text}{more}", first.provider_id));
    }
    let all = statuses.len();
    match ready == all {
        true => (true, "ExternalProvidersInstalled", format!("{all} external providers installed")),
        false => (false, "ExternalProvidersInstalling", format!("{ready} of {all} external providers installed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn provider(id: &str) -> Wanted {
        serde_json::from_value(json!({"api": "inference", "providerId": id, "image": format!("img/{id}:1")}))
            .expect("a provider")
    }

    fn pod(wanted: &[Wanted], containers: Value) -> Pod {
        let statuses: Vec<Value> = containers
            .as_object()
            .expect("states by name")
            .iter()
            .map(|(name, state)| {
                json!({
                    "name": name, "image": "", "imageID": "", "ready": false, "restartCount": 0,
                    "state": state["state"], "lastState": state["last"],
                })
            })
            .collect();
        let env = json!([{"name": WANTED_VARIABLE, "value": listed(wanted)}]);
        let spec = json!({"containers": [], "initContainers": [{"name": MERGE_CONTAINER, "env": env}]});
        serde_json::from_value(json!({"spec": spec, "status": {"initContainerStatuses": statuses}})).expect("a pod")
    }

    fn done() -> Value {
        json!({"state": {"terminated": {"exitCode": 0}}})
    }

    fn one(containers: Value) -> (Phase, String) {
        let wanted = [provider("a")];
        let found = statuses(&wanted, &[pod(&wanted, containers)]).remove(0);
        (found.phase, found.message.unwrap_or_default())
    }

    #[test]
    fn follows_the_containers() {
        let waiting = json!({"state": {"waiting": {"reason": "PodInitializing"}}});
        let running = json!({"state": {"running": {}}});
        assert_eq!(one(json!({})).0, Phase::Pending);
        assert_eq!(one(json!({"install-provider-a": waiting})).0, Phase::Pending);
        assert_eq!(one(json!({"install-provider-a": running})).0, Phase::Installing);
        assert_eq!(one(json!({"install-provider-a": done(), "merge-config": waiting})).0, Phase::Installing);
        assert_eq!(one(json!({"install-provider-a": done(), "merge-config": done()})).0, Phase::Ready);
        assert_eq!(one(json!({"install-provider-a": done()})).0, Phase::Installing);
        assert_eq!(statuses(&[provider("a")], &[])[0].phase, Phase::Pending);
    }

    #[test]
    fn failures_say_what_to_do() {
        let pull = json!({"state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}});
        let (phase, message) = one(json!({"install-provider-a": pull}));
        assert_eq!(phase, Phase::Failed);
        assert!(message.contains("img/a:1") && message.contains("imagePullSecrets"), "{message}");
        let crash = json!({
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
            "last": {"terminated": {"exitCode": 1, "message": "no wheel fits this Python\n"}},
        });
        let (phase, message) = one(json!({"install-provider-a": crash}));
        assert_eq!(phase, Phase::Failed);
        assert!(message.ends_with("no wheel fits this Python"), "{message}");
    }

    #[test]
    fn a_failed_merge_is_put_down_to_the_one_it_names() {
        let failed =
            json!({"state": {"terminated": {"exitCode": super::super::exit_code(1), "message": "image x serves …"}}});
        let state = json!({"install-provider-a": done(), "install-provider-b": done(), "merge-config": failed});
        let wanted = [provider("a"), provider("b")];
        let found = statuses(&wanted, &[pod(&wanted, state)]);
        assert_eq!(again(&found), Some(INSTALLING), "the other one waits");
        assert_eq!([found[0].phase, found[1].phase], [Phase::Pending, Phase::Failed]);
        let (ready, reason, message) = summary(&found);
        assert!(!ready && reason == "ExternalProviderFailed" && message.contains("\"b\""), "{message}");
    }

    #[test]
    fn the_worst_pod_counts_unless_it_is_going() {
        let wanted = [provider("a")];
        let good = pod(&wanted, json!({"install-provider-a": done(), "merge-config": done()}));
        let mut bad = pod(&wanted, json!({"install-provider-a": {"state": {"running": {}}}}));
        let found = statuses(&wanted, &[good.clone(), bad.clone()]);
        assert_eq!((found[0].phase, again(&found)), (Phase::Installing, Some(INSTALLING)));
        bad.metadata.deletion_timestamp = serde_json::from_value(json!("2026-01-02T03:04:05Z")).ok();
        let found = statuses(&wanted, &[good, bad]);
        assert_eq!((found[0].phase, again(&found)), (Phase::Ready, None));
        assert_eq!(summary(&found), (true, "ExternalProvidersInstalled", "1 external providers installed".to_owned()));
    }

    #[test]
    fn pods_of_other_providers_do_not_count() {
        let failed = json!({"install-provider-a": {"state": {"terminated": {"exitCode": 1}}}});
        let mut other = provider("a");
        other.image = "img/a:0".to_owned();
        let (wanted, before) = ([provider("a")], pod(&[other], failed.clone()));
        assert_eq!(statuses(&wanted, std::slice::from_ref(&before))[0].phase, Phase::Pending);
        let good = pod(&wanted, json!({"install-provider-a": done(), "merge-config": done()}));
        assert_eq!(statuses(&wanted, &[before, good])[0].phase, Phase::Ready);
        let found = statuses(&wanted, &[pod(&wanted, failed)]);
        assert_eq!((found[0].phase, again(&found)), (Phase::Failed, Some(FAILED)));
    }
}
