//! Resources that are registered twice.
//!
//! Source: the registry of llama-stack and ogx. It knows a model as `provider_id/provider_model_id`, everything else by
//! its own id. An entry whose identity is taken is dropped where it says the same, and makes the server exit where not.

use super::fault::{Fault, Kind};
use super::language::REGISTERED;
use crate::path::Path;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Notes the entries whose identity an earlier one has.
pub(super) fn check(config: &Value, unknown: &BTreeSet<Path>, faults: &mut Vec<Fault>) {
    for (list, id, _) in REGISTERED {
        let place = Path::parse("registered_resources").key(list);
        let mut seen: BTreeMap<String, &Value> = BTreeMap::new();
        for (position, entry) in place.find(config).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let place = place.index(position);
            let is_open = |one: &Path| place.starts_with(one) || one.starts_with(&place);
            let Some(identity) = identity(list, id, entry).filter(|_| !unknown.iter().any(is_open)) else { continue };
            let Some(first) = seen.insert(identity.clone(), entry) else { continue };
            let at = place.key(id);
            faults.push(if first == entry {
                Fault::warning(Kind::Duplicate, at, format!("has \"{identity}\" twice here, and needs it once"))
            } else {
                let message =
                    format!("registers \"{identity}\" twice, with different fields: it exits, or keeps one of them");
                Fault::warning(Kind::Duplicate, at, message)
            });
        }
    }
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
