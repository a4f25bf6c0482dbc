//! A strategic merge patch, as kustomize applies one to a custom resource.
//!
//! kustomize knows no merge keys of a custom resource, so a list of the patch takes the place of the whole list; of the
//! directives only `$patch` in a mapping does anything. Source: `kyaml/yaml/merge2`.

use crate::path::{Path, Segment};
use serde_json::{Map, Value};
use std::fmt;

/// The directive that removes or replaces the mapping that it stands in.
pub(super) const PATCH: &str = "$patch";

/// A patch that kustomize refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeError {
    /// The place of the patch.
    pub path: Path,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for MergeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.reason)
    }
}

impl std::error::Error for MergeError {}

/// The resource with the patch. `None`: the patch removes it.
///
/// # Errors
/// Where kustomize stops: a value of another kind than the one that it is merged with, an unknown `$patch`.
pub fn merge(resource: &Value, patch: &Value) -> Result<Option<Value>, MergeError> {
    merged(Some(resource), patch, &mut Path::root())
}

// As deep as plain values are.
fn merged(old: Option<&Value>, new: &Value, at: &mut Path) -> Result<Option<Value>, MergeError> {
    let old = old.filter(|old| !old.is_null());
    match new {
        Value::Null => Ok(None),
        Value::Object(fields) => {
            let before = match old {
                None => None,
                Some(Value::Object(before)) => Some(before),
                Some(other) => return Err(mismatch(at, "a mapping", other)),
            };
            let before = match fields.get(PATCH).map(|word| word.as_str().unwrap_or_default()) {
                Some("delete") => return Ok(None),
                Some("replace") => None,
                None | Some("merge") => before,
                Some(other) => {
                    let reason = format!("kustomize knows no \"$patch: {other}\": it takes delete, replace and merge");
                    return Err(MergeError { path: at.key(PATCH), reason });
                }
            };
            let mut result: Map<String, Value> = before.cloned().unwrap_or_default();
            for (key, value) in fields.iter().filter(|(key, _)| *key != PATCH) {
                at.push(Segment::Key(key.clone()));
                match merged(before.and_then(|before| before.get(key)), value, at)? {
                    Some(value) => _ = result.insert(key.clone(), value),
                    None => _ = result.shift_remove(key),
                }
                at.pop();
            }
            Ok(Some(Value::Object(result)))
        }
        Value::Array(_) => match old {
            None | Some(Value::Array(_)) => Ok(Some(new.clone())),
            Some(other) => Err(mismatch(at, "a list", other)),
        },
        _ => match old {
            Some(other @ (Value::Object(_) | Value::Array(_))) => Err(mismatch(at, "a single value", other)),
            _ => Ok(Some(new.clone())),
        },
    }
}

fn mismatch(at: &Path, new: &str, old: &Value) -> MergeError {
    let old = match old {
        Value::Object(_) => "a mapping",
        Value::Array(_) => "a list",
        _ => "a single value",
    };
    MergeError { path: at.clone(), reason: format!("kustomize cannot merge {new} into {old}") }
}
