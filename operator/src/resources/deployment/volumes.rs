//! Volumes and where they are mounted.

use super::super::ca_bundle::{BUNDLE_KEY, MOUNT_PATH};
use super::super::external::Additions;
use super::super::service::has_tls;
use super::super::{Desired, Kind, config};
use llsd_generator::api::v1alpha2::DEFAULT_MOUNT_PATH;
use llsd_generator::generate::TLS_MOUNT_PATH;
use serde_json::{Value, json};

/// Where the configuration is mounted.
const CONFIG_MOUNT: &str = "/etc/llama-stack/";
/// The path of the configuration in the container, in [`CONFIG_MOUNT`].
pub(super) const CONFIG_PATH: &str = "/etc/llama-stack/config.yaml";

const STORAGE: &str = "lls-storage";
const CA: &str = "ca-bundle";
const CONFIG: &str = "user-config";
const TLS: &str = "server-tls";

/// Where the storage volume is mounted.
pub(super) fn mount_path<'a>(desired: &Desired<'a>) -> &'a str {
    let storage = desired.spec.workload.as_ref().and_then(|workload| workload.storage.as_ref());
    storage
        .and_then(|storage| storage.mount_path.as_deref())
        .filter(|path| !path.is_empty())
        .unwrap_or(DEFAULT_MOUNT_PATH)
}

/// The Secret with the server's certificate, if it speaks HTTPS.
fn tls_secret<'a>(desired: &Desired<'a>) -> Option<&'a str> {
    let tls = desired.spec.networking.as_ref()?.tls.as_ref()?;
    tls.secret_name.as_deref().filter(|_| has_tls(desired.spec))
}

pub(super) fn volumes(desired: &Desired<'_>, added: &Additions) -> Vec<Value> {
    let owner = &desired.owner.name;
    let workload = desired.spec.workload.as_ref();
    let mut volumes = vec![if workload.is_some_and(|workload| workload.storage.is_some()) {
        json!({"name": STORAGE, "persistentVolumeClaim": {"claimName": Kind::PersistentVolumeClaim.name(owner)}})
    } else {
        json!({"name": STORAGE, "emptyDir": {}})
    }];
    if desired.ca_bundle.is_some() {
        volumes.push(json!({
            "name": CA,
            "configMap": {"name": Kind::CaBundle.name(owner), "items": [{"key": BUNDLE_KEY, "path": BUNDLE_KEY}]},
        }));
    }
    if let Some(name) = config::mounted(desired) {
        volumes.push(json!({"name": CONFIG, "configMap": {"name": name}}));
    }
    if let Some(name) = tls_secret(desired) {
        volumes.push(json!({"name": TLS, "secret": {"secretName": name}}));
    }
    volumes.extend(added.volumes.iter().cloned());
    let own = workload.and_then(|workload| workload.overrides.as_ref()?.volumes.as_deref()).unwrap_or_default();
    volumes.extend(own.iter().map(|volume| json!(volume)));
    volumes
}

pub(super) fn mounts(desired: &Desired<'_>, added: &Additions) -> Vec<Value> {
    let mut mounts = vec![json!({"name": STORAGE, "mountPath": mount_path(desired)})];
    if config::mounted(desired).is_some() {
        mounts.push(json!({"name": CONFIG, "mountPath": CONFIG_MOUNT, "readOnly": true}));
    }
    if desired.ca_bundle.is_some() {
        mounts.push(json!({"name": CA, "mountPath": MOUNT_PATH, "readOnly": true}));
    }
    if tls_secret(desired).is_some() {
        mounts.push(json!({"name": TLS, "mountPath": TLS_MOUNT_PATH, "readOnly": true}));
    }
    mounts.extend(added.volume_mounts.iter().cloned());
    let workload = desired.spec.workload.as_ref();
    let own = workload.and_then(|workload| workload.overrides.as_ref()?.volume_mounts.as_deref()).unwrap_or_default();
    mounts.extend(own.iter().map(|mount| json!(mount)));
    mounts
}
