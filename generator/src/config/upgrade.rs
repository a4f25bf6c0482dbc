//! What ogx changes in a config before it reads it.
//!
//! Source: `parse_and_maybe_upgrade_config` of ogx 1.0.4 to 1.5.0, tried with each.

use super::fault::{Fault, Kind};
use crate::path::Path;
use serde_json::{Value, json};

/// The config as ogx reads it, and what there is to say of the change.
pub(super) fn upgraded(config: &Value) -> (Value, Option<Fault>) {
    let mut config = config.clone();
    if let Some(version) = config.get_mut("version") {
        *version = json!(2);
    }
    let place = Path::parse("storage.stores.prompts");
    let prompts = config.pointer_mut("/storage/stores/prompts").and_then(Value::as_object_mut);
    let Some(prompts) = prompts.filter(|prompts| !prompts.contains_key("table_name")) else { return (config, None) };
    let Some(namespace) = prompts.shift_remove("namespace") else { return (config, None) };
    prompts.insert("table_name".to_owned(), namespace);
    let backend = prompts.get("backend").and_then(Value::as_str);
    let Some(rest) = backend.and_then(|backend| backend.strip_prefix("kv_")) else { return (config, None) };
    let table = format!("sql_{rest}");
    let message = format!(
        "reads \"namespace\" of this store as \"table_name\" in the backend \"{table}\", where nothing is of what was stored"
    );
    prompts.insert("backend".to_owned(), table.into());
    (config, Some(Fault::warning(Kind::Deprecated, place, message).on_key()))
}
