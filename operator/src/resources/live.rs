//! What of a live Deployment decides how it is built again.

use super::Kind;
use super::deployment::{SCRIPT, is_known_script};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{PodSpec, Volume};
use std::borrow::Cow;

/// The decisions that a Deployment made earlier and that are to be kept, because another value would say the same and
/// restart the pods. Small, so that it can be kept in place of the Deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveDeployment {
    /// The pod template's annotation [`USER_CONFIG`].
    pub(super) user_config: Option<String>,
    /// The pod template's annotation [`CA_BUNDLE`].
    pub(super) ca_bundle: Option<String>,
    /// The Deployment's own annotation [`USER_CONFIG`]: the digest that the template's annotation stands for.
    pub(super) user_config_digest: Option<String>,
    /// The Deployment's own annotation [`CA_BUNDLE`].
    pub(super) ca_bundle_digest: Option<String>,
    /// The script that starts the server, if it is one of an operator.
    pub(super) script: Option<Cow<'static, str>>,
    /// Whether the container has a command at all.
    pub(super) has_command: bool,
    /// Whether a configuration of the user's own is mounted.
    pub(super) has_config: bool,
    /// Whether trusted certificates are mounted.
    pub(super) has_bundle: bool,
    /// Whether an older operator made its pods: with a token, and as whatever user the image names.
    pub(super) plain: bool,
}

/// Annotation that changes with the user's configuration.
pub(super) const USER_CONFIG: &str = "configmap.hash/user-config";
/// Annotation that changes with the trusted certificates.
pub(super) const CA_BUNDLE: &str = "configmap.hash/ca-bundle";

impl LiveDeployment {
    /// Reads what earlier versions of either operator decided from a live Deployment.
    #[must_use]
    pub fn of(deployment: &Deployment) -> Self {
        let own = deployment.metadata.annotations.as_ref();
        let template = deployment.spec.as_ref().map(|spec| &spec.template);
        let marks = template.and_then(|template| template.metadata.as_ref()?.annotations.as_ref());
        let pod = template.and_then(|template| template.spec.as_ref());
        let command = pod.and_then(|pod| pod.containers.first()?.command.as_deref()).unwrap_or_default();
        let script = match command {
            [shell, flag, script] if shell == "/bin/sh" && flag == "-c" && is_known_script(script) => Some(script),
            _ => None,
        };
        let generated = Kind::GeneratedConfig.name(deployment.metadata.name.as_deref().unwrap_or_default());
        let is_generated = |volume: &Volume| {
            let name = volume.config_map.as_ref().map(|source| source.name.as_str());
            name.and_then(|name| name.strip_prefix(&generated)).is_some_and(|rest| {
                rest.len() == 9 && rest.starts_with('-') && rest[1..].bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        let volumes = pod.and_then(|pod| pod.volumes.as_deref()).unwrap_or_default();
        let has_volume = |name| volumes.iter().any(|volume| volume.name == name && volume.config_map.is_some());
        Self {
            user_config: marks.and_then(|marks| marks.get(USER_CONFIG).cloned()),
            ca_bundle: marks.and_then(|marks| marks.get(CA_BUNDLE).cloned()),
            user_config_digest: own.and_then(|own| own.get(USER_CONFIG).cloned()),
            ca_bundle_digest: own.and_then(|own| own.get(CA_BUNDLE).cloned()),
            // Most run ours, and need no copy of it.
            script: script
                .map(|script| if script == SCRIPT { Cow::Borrowed(SCRIPT) } else { Cow::Owned(script.clone()) }),
            has_command: !command.is_empty(),
            has_config: has_volume("user-config") && !volumes.iter().any(is_generated),
            has_bundle: has_volume("ca-bundle"),
            plain: pod.is_some_and(is_plain),
        }
    }
}

/// Nothing that older operators did not set. Each of the three may be the user's own word, so one is enough to tell.
fn is_plain(pod: &PodSpec) -> bool {
    let non_root = pod.security_context.as_ref().and_then(|context| context.run_as_non_root);
    let container = pod.containers.first().and_then(|container| container.security_context.as_ref());
    pod.automount_service_account_token.is_none() && non_root.is_none() && container.is_none()
}
