//! What ogx changes in a config before it reads it.
//!
//! Source: `parse_and_maybe_upgrade_config` of ogx 1.0.4 to 1.5.0, tried with each.

use super::fault::{Fault, Kind};
use crate::path::Path;
use serde_json::{Value, json};

/// The config as ogx reads it, where that is not as it is written, and what there is to say of the change.
pub(super) fn upgraded(config: &Value) -> Option<(Value, Option<Fault>)> {
    let place = Path::parse("storage.stores.prompts");
    let is_old = config.get("version").is_some_and(|version| *version != json!(2));
    let prompts = place.find(config).and_then(Value::as_object);
    let moves = prompts.is_some_and(|store| !store.contains_key("table_name") && store.contains_key("namespace"));
    if !is_old && !moves {
        return None;
    }
    let mut config = config.clone();
    if let Some(version) = config.get_mut("version") {
        *version = json!(2);
    }
    let told = if moves { move_prompts(&mut config, place) } else { None };
    Some((config, told))
}

/// Has the store of prompts read as a table of SQL.
fn move_prompts(config: &mut Value, place: Path) -> Option<Fault> {
    let prompts = config.pointer_mut("/storage/stores/prompts").and_then(Value::as_object_mut)?;
    let namespace = prompts.shift_remove("namespace")?;
    prompts.insert("table_name".to_owned(), namespace);
    let backend = prompts.get("backend").and_then(Value::as_str);
    let rest = backend.and_then(|backend| backend.strip_prefix("kv_"))?;
    let table = format!("sql_{rest}");
    let message = format!(
        "reads \"namespace\" of this store as \"table_name\" in the backend \"{table}\", where nothing is of what was stored"
    );
    prompts.insert("backend".to_owned(), table.into());
    Some(Fault::warning(Kind::Deprecated, place, message).on_key())
}
