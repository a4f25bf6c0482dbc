//! Volumes and where they are mounted.

use super::super::ca_bundle::{BUNDLE_KEY, MOUNT_PATH};
use super::super::external::Additions;
use super::super::service::has_tls;
use super::super::{Desired, Kind, Owner, config};
use llsd_generator::api::CONFIG_KEY;
use llsd_generator::generate::TLS_MOUNT_PATH;
use serde_json::{Value, json};

const CA: &str = "ca-bundle";
const CONFIG: &str = "user-config";
const TLS: &str = "server-tls";

/// Where the storage volume is mounted.
pub(super) fn mount_path<'a>(desired: &Desired<'a>) -> &'a str {
    let storage = desired.spec.workload.as_ref().and_then(|workload| workload.storage.as_ref());
    storage
        .and_then(|storage| storage.mount_path.as_deref())
        .filter(|path| !path.is_empty())
        .unwrap_or(desired.owner.served.mount_path)
}

/// The Secret with the server's certificate, if it speaks HTTPS.
fn tls_secret<'a>(desired: &Desired<'a>) -> Option<&'a str> {
    let tls = desired.spec.networking.as_ref()?.tls.as_ref()?;
    tls.secret_name.as_deref().filter(|_| has_tls(desired.spec))
}

pub(super) fn volumes(desired: &Desired<'_>, added: &Additions) -> Vec<Value> {
    let Owner { served, name: owner, .. } = desired.owner;
    let storage = served.storage;
    let workload = desired.spec.workload.as_ref();
    let mut volumes = vec![if workload.is_some_and(|workload| workload.storage.is_some()) {
        let claim = desired.ogx.and_then(|ogx| ogx.claim.clone());
        let claim = claim.unwrap_or_else(|| Kind::PersistentVolumeClaim.name(owner));
        json!({"name": storage, "persistentVolumeClaim": {"claimName": claim}})
    } else {
        json!({"name": storage, "emptyDir": {}})
    }];
    if desired.ca_bundle.is_some() {
        volumes.push(json!({
            "name": CA,
            "configMap": {"name": Kind::CaBundle.name(owner), "items": [{"key": BUNDLE_KEY, "path": BUNDLE_KEY}]},
        }));
    }
    if let Some(name) = config::mounted(desired) {
        let mut source = json!({"name": name});
        if let Some(ogx) = desired.ogx {
            let key = ogx.config_key.as_deref().unwrap_or(CONFIG_KEY);
            source["items"] = json!([{"key": key, "path": CONFIG_KEY}]);
        }
        volumes.push(json!({"name": CONFIG, "configMap": source}));
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
    let mut mounts = vec![json!({"name": desired.owner.served.storage, "mountPath": mount_path(desired)})];
    if config::mounted(desired).is_some() {
        mounts.push(json!({"name": CONFIG, "mountPath": desired.owner.served.config_folder, "readOnly": true}));
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
