//! What the files say about a Secret or ConfigMap that a resource names.

use crate::ide::Analysis;
use crate::ide::meaning::{Meaning, meaning};
use crate::ide::resource::Resource;
use llsd_generator::path::{Path, Segment};
use serde_json::Value;

/// Keys of a Secret or ConfigMap that a hover lists; the rest is counted.
const KEYS: usize = 20;

/// The object at a path, or the key of one, as far as files declare it.
pub(super) fn about(analysis: &Analysis, resource: &Resource, path: &Path) -> Option<String> {
    let text = |path: &Path| path.find(&resource.value).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text(path)?;
    let of = namespace(resource, path);
    Some(match meaning(resource.version, path)? {
        Meaning::Secret => object("Secret", name, analysis.has_secret(&of, name), &analysis.secret_keys(&of, name)),
        Meaning::ConfigMap => {
            let keys = analysis.config_map_keys(&of, name);
            object("ConfigMap", name, analysis.has_config_map(&of, name), &keys)
        }
        Meaning::SecretKey { name: at } => {
            let object = text(&at)?;
            let known = analysis.has_secret(&of, object);
            key("Secret", object, name, known, &analysis.secret_keys(&of, object))?
        }
        Meaning::ConfigMapKey { name: at } => {
            let object = text(&at)?;
            let known = analysis.has_config_map(&of, object);
            key("ConfigMap", object, name, known, &analysis.config_map_keys(&of, object))?
        }
        _ => return None,
    })
}

/// The namespace where the object of a reference is looked up.
fn namespace(resource: &Resource, path: &Path) -> String {
    let mut holder = path.clone();
    while let Some(Segment::Index(_)) = holder.last() {
        holder.pop();
    }
    holder.pop();
    let elsewhere = holder.key("configMapNamespace").find(&resource.value).and_then(Value::as_str);
    elsewhere.unwrap_or_else(|| resource.namespace()).to_owned()
}

fn object(kind: &str, name: &str, known: bool, keys: &[String]) -> String {
    if !known {
        return format!("{kind} `{name}`: not in the files of the workspace");
    }
    let mut text = format!("{kind} `{name}` of the workspace");
    let shown: Vec<_> = keys.iter().take(KEYS).map(|key| format!("`{key}`")).collect();
    text.push_str(&if shown.is_empty() {
        ": it has no keys".to_owned()
    } else {
        format!(", keys {}", shown.join(", "))
    });
    if keys.len() > KEYS {
        text.push_str(&format!(" and {} more", keys.len() - KEYS));
    }
    text
}

fn key(kind: &str, object: &str, name: &str, known: bool, keys: &[String]) -> Option<String> {
    let there = keys.iter().any(|key| key == name);
    known.then(|| format!("Key `{name}` of {kind} `{object}`{}", if there { "" } else { ": it has no such key" }))
}
