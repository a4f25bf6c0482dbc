//! What external providers add to the pod.

use super::{BuildError, Config, Desired, deployment};
use crate::external::{
    BASE, CONFIG, EXTRACT_CONTAINER, MERGE_CONTAINER, METADATA, PYTHON, ROOT, WANTED_VARIABLE, Wanted, listed, wanted,
};
use llsd_generator::api::v1alpha2::ImagePullPolicy;
use serde_json::{Map, Value, json};

/// The volume that all containers of the pod share.
const VOLUME: &str = "external-providers";
/// Bytes of the list of providers: Linux takes no longer variable.
const LONGEST: usize = 120 << 10;

/// Parts of the pod that external providers need. All empty for a resource without any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Additions {
    /// The init containers that install the providers and then merge the configuration, in this order.
    pub init_containers: Vec<Value>,
    /// Volumes, after the operator's own and before the user's.
    pub volumes: Vec<Value>,
    /// Mounts of the server container, in the same place.
    pub volume_mounts: Vec<Value>,
    /// Variables of the server container, after the operator's own.
    pub env: Vec<Value>,
    /// The configuration that the server is to read, if it is another than the mounted one.
    pub config_path: Option<String>,
}

/// Whether what [`additions`] needs is known.
pub(super) fn check(desired: &Desired<'_>) -> Result<(), BuildError> {
    let wanted = wanted(desired.spec);
    if wanted.is_empty() {
        return Ok(());
    }
    if desired.operator_image.is_none() {
        return Err(BuildError::OperatorImage);
    }
    let length = listed(&wanted).len();
    if length > LONGEST { Err(BuildError::ExternalProviders { length, limit: LONGEST }) } else { Ok(()) }
}

/// What the external providers of a resource add.
#[must_use]
pub fn additions(desired: &Desired<'_>) -> Additions {
    let wanted = wanted(desired.spec);
    let Some(operator_image) = desired.operator_image.filter(|_| !wanted.is_empty()) else {
        return Additions::default();
    };
    let policies = desired.spec.external_providers.iter().flat_map(|external| {
        external.iter().flat_map(|(_, _, list)| list.iter().map(|provider| provider.image_pull_policy))
    });
    let mut init: Vec<_> =
        wanted.iter().zip(policies).map(|(provider, policy)| install(desired, provider, policy)).collect();
    let (base, base_mount) = match desired.config {
        Config::Image => {
            init.push(extract(desired));
            (below(BASE), None)
        }
        _ => (
            "/etc/llama-stack/config.yaml".to_owned(),
            Some(json!({"name": "user-config", "mountPath": "/etc/llama-stack/", "readOnly": true})),
        ),
    };
    init.push(merge(desired, operator_image, &wanted, &base, base_mount));

    let folders: Vec<_> = wanted.iter().map(|provider| below(&format!("{PYTHON}/{}", provider.folder()))).collect();
    Additions {
        init_containers: init,
        volumes: vec![json!({"name": VOLUME, "emptyDir": {"sizeLimit": "2Gi"}})],
        volume_mounts: vec![json!({"name": VOLUME, "mountPath": ROOT, "readOnly": true})],
        env: vec![json!({"name": "PYTHONPATH", "value": folders.join(":")})],
        config_path: Some(below(CONFIG)),
    }
}

fn below(path: &str) -> String {
    format!("{ROOT}/{path}")
}

fn install(desired: &Desired<'_>, provider: &Wanted, policy: Option<ImagePullPolicy>) -> Value {
    let folder = provider.folder();
    let mut container = container(
        desired,
        &provider.container(),
        &provider.image,
        json!([
            {"name": "PYTHON_FOLDER", "value": below(&format!("{PYTHON}/{folder}"))},
            {"name": "METADATA_FOLDER", "value": below(&format!("{METADATA}/{folder}"))},
            // pip looks for its settings and caches there; the user may have no home.
            {"name": "HOME", "value": "/tmp"},
        ]),
    );
    if let Some(policy) = policy {
        container["imagePullPolicy"] = json!(policy);
    }
    container["command"] = json!(["/bin/sh", "-c", include_str!("../external/install.sh")]);
    container
}

fn extract(desired: &Desired<'_>) -> Value {
    let mut env = json!([{"name": "BASE_CONFIG", "value": below(BASE)}]);
    if let (Some(variables), Some(name)) = (env.as_array_mut(), &desired.spec.distribution.name) {
        variables.push(json!({"name": "DISTRIBUTION", "value": name}));
    }
    let mut container = container(desired, EXTRACT_CONTAINER, desired.image, env);
    container["command"] = json!(["/bin/sh", "-c", include_str!("../external/extract.sh")]);
    container
}

fn merge(desired: &Desired<'_>, operator_image: &str, wanted: &[Wanted], base: &str, mount: Option<Value>) -> Value {
    let env = json!([{"name": WANTED_VARIABLE, "value": listed(wanted)}]);
    let mut container = container(desired, MERGE_CONTAINER, operator_image, env);
    // The operator's program is the entry point of its image.
    container["args"] = json!(["merge-config", "--base", base, "--folder", ROOT]);
    if let (Some(mounts), Some(mount)) = (container["volumeMounts"].as_array_mut(), mount) {
        mounts.push(mount);
    }
    container
}

/// What all of them have in common. They run as the user of llama-stack's images, whom the shared files belong to,
/// unless OpenShift chooses one for the whole pod.
fn container(desired: &Desired<'_>, name: &str, image: &str, env: Value) -> Value {
    let mut security = Map::new();
    if let Some(user) = deployment::init_user(desired) {
        security.insert("runAsUser".to_owned(), json!(user));
    }
    security.insert("runAsNonRoot".to_owned(), json!(true));
    security.insert("allowPrivilegeEscalation".to_owned(), json!(false));
    security.insert("capabilities".to_owned(), json!({"drop": ["ALL"]}));
    json!({
        "name": name,
        "image": image,
        "env": env,
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": security,
        // The end of the log becomes the message that the status shows.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": VOLUME, "mountPath": ROOT}],
    })
}
