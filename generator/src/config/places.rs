//! Keys that another version reads at another place or under another name.
//!
//! Source: the configs shipped with llama-stack 0.2 to 0.7 and ogx 1.0 to 1.5, and their release notes.

use super::schema::ConfigSchema;
use crate::check::finding::{Fix, FixEdit};
use crate::path::{Path, Segment};
use serde_json::Value;

/// The place that a key moved to in a later version.
#[derive(Clone, Debug)]
pub(super) struct Successor {
    /// Its place now; `None` where the move takes more than putting the value elsewhere.
    pub(super) to: Option<Path>,
    /// A place whose section has to exist in the version for this advice to hold.
    needs: Path,
    /// What to do, as the second half of a sentence.
    pub(super) advice: String,
}

impl Successor {
    /// Whether a version has the new place.
    pub(super) fn exists(&self, schema: &ConfigSchema) -> bool {
        schema.at(&self.needs).is_some()
    }
}

/// Lists of resources that stood at the top until llama-stack 0.3, and are read from `registered_resources` since.
const RESOURCES: [&str; 7] =
    ["models", "shields", "vector_stores", "datasets", "scoring_fns", "benchmarks", "tool_groups"];

/// Stores that stood at the top until llama-stack 0.3, each with its place in `storage.stores`.
const STORES: [(&str, &str); 3] =
    [("metadata_store", "metadata"), ("inference_store", "inference"), ("conversations_store", "conversations")];

/// Where the key at `path` went, if it did.
pub(super) fn successor(path: &Path) -> Option<Successor> {
    let [Segment::Key(name)] = path.segments() else { return None };
    let moved = |to: &str| Successor {
        to: Some(Path::parse(to)),
        needs: Path::parse(to),
        advice: format!("it belongs into {to}"),
    };
    match name.as_str() {
        "image_name" => Some(Successor { advice: "use distro_name".to_owned(), ..moved("distro_name") }),
        "vector_dbs" => Some(moved("registered_resources.vector_stores")),
        name if RESOURCES.contains(&name) => Some(moved(&format!("registered_resources.{name}"))),
        name => STORES.iter().find(|(old, _)| *old == name).map(|(_, new)| {
            let needs = Path::parse("storage.stores").key(*new);
            let advice = format!("declare a backend in storage.backends and name it in {needs}");
            Successor { to: None, needs, advice }
        }),
    }
}

/// Moves the entry at `path` to its new place, if that is free.
pub(super) fn move_to(config: &Value, path: &Path, successor: &Successor) -> Option<Fix> {
    let to = successor.to.clone().filter(|to| to.find(config).is_none())?;
    let edit = if to.parent() == path.parent() {
        let Some(Segment::Key(name)) = to.last() else { return None };
        FixEdit::RenameKey { path: path.clone(), to: name.clone() }
    } else {
        FixEdit::Move { from: path.clone(), to: to.clone() }
    };
    Some(Fix { title: format!("Move to {to}"), edits: vec![edit], preferred: true })
}
