//! Generated ConfigMaps of earlier configurations: the newest two stay, and those that pods still mount.

use crate::api::{self, Api, CONFIG_MAPS, REPLICA_SETS};
use crate::queue::Key;
use crate::resources::config::GENERATED;
use crate::resources::{INSTANCE, Owner};
use crate::stores::Stores;
use serde_json::Value;
use std::collections::BTreeSet;

/// The newest ConfigMaps that stay whether mounted or not: the one in use, and the one before it, so that
/// `kubectl rollout undo` finds the config of that revision.
const KEPT: usize = 2;

/// Deletes what is not needed any more.
///
/// # Errors
/// What the API server says.
pub async fn retain(api: &Api, stores: &Stores, key: &Key, owner: &Owner, current: Option<&str>) -> api::Result<()> {
    let mut generated: Vec<_> = stores
        .children
        .of(&owner.uid)
        .into_iter()
        .filter(|((plural, ..), record)| {
            *plural == CONFIG_MAPS.plural && record.component.as_deref() == Some(GENERATED) && !record.deleting
        })
        .collect();
    if generated.len() <= KEPT {
        return Ok(());
    }
    // The newest first; of two of one second the one in use is the newer.
    generated.sort_by_key(|((_, _, name), record)| {
        std::cmp::Reverse((Some(&**name) == current, record.created, record.version))
    });
    let old = generated.split_off(KEPT);
    let mut mounted: BTreeSet<String> =
        stores.deployments.get(key).map(|state| state.config_maps.iter().cloned().collect()).unwrap_or_default();
    for set in api.list(REPLICA_SETS, Some(&key.namespace), (INSTANCE, &owner.name)).await? {
        if set["status"]["replicas"].as_i64().unwrap_or_default() > 0
            || set["spec"]["replicas"].as_i64().unwrap_or_default() > 0
        {
            mounted.extend(config_maps(&set["spec"]["template"]["spec"]));
        }
    }
    for ((_, namespace, name), record) in old {
        if !mounted.contains(&*name) {
            api.delete(CONFIG_MAPS, Some(&namespace), &name, &record.uid).await?;
        }
    }
    Ok(())
}

fn config_maps(pod: &Value) -> Vec<String> {
    let volumes = pod["volumes"].as_array().into_iter().flatten();
    volumes.filter_map(|volume| volume["configMap"]["name"].as_str().map(str::to_owned)).collect()
}
