//! The directives of strategic merge patches: what a patch says that is no part of the resource.

use super::merge::PATCH;
use crate::path::{Path, Segment};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The directives; those that end in `/` are followed by the name of a field. Source: apimachinery's strategicpatch.
pub const DIRECTIVES: [&str; 4] = [PATCH, "$retainKeys", "$deleteFromPrimitiveList/", "$setElementOrder/"];

/// Whether a key is a directive.
#[must_use]
pub fn is_directive(key: &str) -> bool {
    key.starts_with('$')
        && DIRECTIVES.iter().any(|known| match known.strip_suffix('/') {
            Some(head) => key.starts_with(known) || key == head,
            None => key == *known,
        })
}

/// A patch without its directives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Undirected {
    /// The patch. Items of lists keep their places.
    pub value: Value,
    /// Places that the patch removes: what stands there does not matter.
    pub removed: BTreeSet<Path>,
    /// Mappings that take the place of the old ones, and items of lists: nothing is added to them.
    pub complete: BTreeSet<Path>,
    /// Directives that kustomize leaves in the result, because it does not know them for custom resources.
    pub kept: Vec<Path>,
    /// `$patch` with another word than kustomize knows.
    pub unknown: Vec<(Path, String)>,
}

/// Takes the directives out of a patch.
#[must_use]
pub fn undirected(patch: &Value) -> Undirected {
    let mut all = Undirected::default();
    all.value = all.strip(patch, &mut Path::root(), false);
    all
}

impl Undirected {
    // As deep as plain values are.
    fn strip(&mut self, value: &Value, at: &mut Path, in_list: bool) -> Value {
        match value {
            Value::Object(fields) => {
                let mut rest = Map::with_capacity(fields.len());
                for (key, value) in fields {
                    if is_directive(key) {
                        self.directive(key, value, at, in_list);
                        continue;
                    }
                    at.push(Segment::Key(key.clone()));
                    rest.insert(key.clone(), self.strip(value, at, in_list));
                    at.pop();
                }
                Value::Object(rest)
            }
            Value::Array(items) => {
                let mut rest = Vec::with_capacity(items.len());
                for (number, item) in items.iter().enumerate() {
                    at.push(Segment::Index(number));
                    self.complete.insert(at.clone());
                    rest.push(self.strip(item, at, true));
                    at.pop();
                }
                Value::Array(rest)
            }
            other => other.clone(),
        }
    }

    fn directive(&mut self, key: &str, value: &Value, at: &Path, in_list: bool) {
        // a list is taken as it stands, with all that is in it
        if key != PATCH || in_list {
            return self.kept.push(at.key(key));
        }
        match value.as_str() {
            Some("delete") => _ = self.removed.insert(at.clone()),
            Some("replace") => _ = self.complete.insert(at.clone()),
            Some("merge") => {}
            other => self.unknown.push((at.key(key), other.unwrap_or_default().to_owned())),
        }
    }
}
