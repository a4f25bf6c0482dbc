//! Resources that are registered twice.
//!
//! Source: the registry of llama-stack and ogx. It knows a model as `provider_id/provider_model_id`, everything else by
//! its own id. An entry whose identity is taken is dropped where it says the same, and makes the server exit where not.

use super::fault::{Fault, Kind};
use super::language::REGISTERED;
use crate::path::Path;
use serde_json::Value;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// The entries whose identity an earlier one has. All versions say the same of them.
pub(super) fn twice(config: &Value, unknown: &BTreeSet<Path>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (list, id, _) in REGISTERED {
        let place = Path::parse("registered_resources").key(list);
        let entries = place.find(config).and_then(Value::as_array);
        // The place of the last entry of each identity.
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (position, entry) in entries.into_iter().flatten().enumerate() {
            let is_open = || {
                let place = place.index(position);
                unknown.iter().any(|one| place.starts_with(one) || one.starts_with(&place))
            };
            let identity = identity(list, id, entry).filter(|_| unknown.is_empty() || !is_open());
            let Some(identity) = identity else { continue };
            let earlier = match seen.entry(identity) {
                Entry::Occupied(mut known) => (known.key().clone(), known.insert(position)),
                Entry::Vacant(free) => {
                    free.insert(position);
                    continue;
                }
            };
            let (identity, first) = earlier;
            let first = entries.and_then(|entries| entries.get(first));
            let at = place.index(position).key(id);
            faults.push(if first == Some(entry) {
                Fault::warning(Kind::Duplicate, at, format!("has \"{identity}\" twice here, and needs it once"))
            } else {
                let message =
                    format!("registers \"{identity}\" twice, with different fields: it exits, or keeps one of them");
                Fault::warning(Kind::Duplicate, at, message)
            });
        }
    }
    faults
}

/// What the registry knows an entry by; `None` where a variable decides, or a part is missing.
fn identity(list: &str, id: &str, entry: &Value) -> Option<String> {
    let text = |field: &str| entry.get(field).and_then(Value::as_str).filter(|text| !text.contains("${"));
    if list != "models" {
        return text(id).map(str::to_owned);
    }
    // ogx puts such a model at the first provider that there is, under its bare name.
    if text("provider_id") == Some("all") {
        return text(id).map(str::to_owned);
    }
    let named = if entry.get("provider_model_id").is_some() { text("provider_model_id") } else { text(id) };
    Some(format!("{}/{}", text("provider_id")?, named?))
}
