//! The config that a resource mounts: which one it is, and what it becomes.

use super::{Class, Draft, pod};
use crate::api::{ApiVersion, CONFIG_KEY, OLD_CONFIG_KEY};
use crate::check::finding::FixEdit;
use crate::config::mounting::mounts;
use crate::config::{self, ConfigMigration};
use crate::document::placeholder;
use crate::path::Path;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Where the old operator mounts the config, and where the new one does.
const OLD_FOLDER: &str = "/etc/llama-stack";
const NEW_FOLDER: &str = "/etc/ogx";

/// A config in a ConfigMap, as a resource mounts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    /// The name of the ConfigMap.
    pub name: String,
    /// Its namespace, where the old resource reads another one than its own.
    pub namespace: Option<String>,
    /// The key with the config.
    pub key: String,
    /// The version of the server that reads it, where the resource tells one that is known.
    pub from: Option<&'static str>,
    /// The version of ogx that is to read it.
    pub to: &'static str,
    /// Whether the volume is mounted at another place, so that paths in it are others.
    pub moves_data: bool,
}

/// Finds the config of a ConfigMap, which the new resource mounts by the same key.
pub(super) fn carry(draft: &mut Draft<'_>) {
    let at = match draft.from {
        ApiVersion::V1Alpha1 => "spec.server.userConfig",
        _ => "spec.overrideConfig",
    };
    let text =
        |field: &str| draft.get(&format!("{at}.{field}")).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(name) = text("configMapName") else { return };
    let namespace = text("configMapNamespace").map(str::to_owned);
    if let Some(namespace) = &namespace {
        let message =
            format!("ConfigMap \"{name}\" is read from the resource's own namespace alone: copy it from {namespace}");
        draft.tell(Class::Loss, format!("{at}.configMapNamespace"), message);
    }
    let key = key(draft, name, namespace.as_deref());
    draft.set("overrideConfig", json!({"name": name, "key": key}));
    draft.note_move(&format!("{at}.configMapName"), "overrideConfig.name");
    let from = mounts(draft.from, draft.old, &BTreeSet::new()).first().and_then(|mount| mount.known_version());
    let to = draft.options.version;
    draft.config = Some(Mounted { name: name.to_owned(), namespace, key, from, to, moves_data: false });
}

/// The key that the old server was started with: that of its command, or what the ConfigMap has of those that the
/// operators mount.
fn key(draft: &Draft<'_>, name: &str, namespace: Option<&str>) -> String {
    let own = draft.old["metadata"]["namespace"].as_str().unwrap_or_default();
    let namespace = namespace.unwrap_or(own);
    // What a kustomization builds has its namespace, which the manifests that are known do not name.
    let exact = (namespace.to_owned(), name.to_owned());
    let known = draft.facts.config_maps.as_ref().and_then(|all| {
        let anywhere =
            || all.iter().find(|((other, known), _)| other.is_empty() && known == name).map(|(_, data)| data);
        all.get(&exact).or_else(anywhere)
    });
    let has = |key: &str| known.is_some_and(|data| data.contains_key(key));
    let named = pod::words_of_command(draft).into_iter().find_map(|word| {
        let key = word.strip_prefix(OLD_FOLDER)?.strip_prefix('/')?.to_owned();
        (has(&key) || known.is_none() && key.ends_with(".yaml")).then_some(key)
    });
    let of_older = draft.from == ApiVersion::V1Alpha1 && !has(CONFIG_KEY) && has(OLD_CONFIG_KEY);
    named.unwrap_or_else(|| if of_older { OLD_CONFIG_KEY } else { CONFIG_KEY }.to_owned())
}

impl Mounted {
    /// What the config becomes. `unknown`: places that a template fills in, which stay. `None` if the version has no
    /// catalog.
    #[must_use]
    pub fn migrated(&self, value: &Value, unknown: &BTreeSet<Path>) -> Option<ConfigMigration> {
        let mut migration = config::migrate(value, unknown, self.from, self.to)?;
        let mut moved = Vec::new();
        self.paths(&migration.value, &Path::root(), &mut moved);
        for (path, old, new) in moved {
            let why = if old.contains(OLD_FOLDER) { "the config" } else { "the volume" };
            migration.notes.push(format!("{path}: {old} becomes {new}, where {why} is mounted"));
            migration.kept.retain(|(_, now)| *now != path);
            if let Some(place) = migration.value.pointer_mut(&pointer(&path)) {
                *place = json!(new);
            }
            migration.edits.push(FixEdit::Replace { path, value: new.into() });
        }
        Some(migration)
    }

    /// The texts that name what is mounted elsewhere, each with its new form. As deep as a config that was read.
    fn paths(&self, value: &Value, at: &Path, found: &mut Vec<(Path, String, String)>) {
        match value {
            Value::String(old) if placeholder(old).is_none() => {
                let mut new = renamed(old, OLD_FOLDER, NEW_FOLDER);
                if self.moves_data {
                    new = renamed(&new, pod::OLD_MOUNT, pod::NEW_MOUNT);
                }
                if new != *old {
                    found.push((at.clone(), old.clone(), new));
                }
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| self.paths(value, &at.key(name.as_str()), found));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(number, value)| self.paths(value, &at.index(number), found));
            }
            _ => {}
        }
    }
}

/// A text in which paths at or below `old` are those at or below `new`. A path begins with the text, after a blank, quote,
/// `=` or `~`; others have the same folder elsewhere.
fn renamed(text: &str, old: &str, new: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let after = rest[at + old.len()..].chars().next();
        let begins =
            before.is_none_or(|char| char.is_whitespace() || matches!(char, '=' | '~' | '"' | '\'' | ':' | ','));
        let ends = after.is_none_or(|char| !char.is_alphanumeric() && !matches!(char, '-' | '_' | '.'));
        out.push_str(&rest[..at]);
        out.push_str(if begins && ends { new } else { old });
        rest = &rest[at + old.len()..];
    }
    out.push_str(rest);
    out
}

/// The place as `serde_json` names it.
fn pointer(path: &Path) -> String {
    let step = |segment: &crate::path::Segment| match segment {
        crate::path::Segment::Key(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
        crate::path::Segment::Index(number) => format!("/{number}"),
    };
    path.segments().iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_volume_and_no_other_path_does() {
        let moved = |text: &str| renamed(text, pod::OLD_MOUNT, pod::NEW_MOUNT);
        for (old, new) in [
            ("/.llama/state/kv.db", "/.ogx/state/kv.db"),
            ("~/.llama/x", "~/.ogx/x"),
            (
                "${env.SQLITE_STORE_DIR:=~/.llama/distributions/starter}/a.db",
                "${env.SQLITE_STORE_DIR:=~/.ogx/distributions/starter}/a.db",
            ),
            ("/.llama", "/.ogx"),
            ("/srv/me/.llama/x", "/srv/me/.llama/x"),
            ("/.llamas/x", "/.llamas/x"),
        ] {
            assert_eq!(moved(old), new);
        }
    }
}
