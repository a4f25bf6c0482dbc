//! The whole check of an object, in the API server's order: unknown fields, defaults and dropped nulls, structure, and
//! then, unless the structure is broken, CEL rules.

use crate::cel;
use crate::path::Path;
use crate::place::WalkPosition;
use crate::schema::{CompiledSchema, Schema};
use crate::verdict::{Check, NotChecked, Reason, Verdict};
use crate::walk::{self, prepare};
use serde_json::Value;
use std::collections::BTreeSet;

/// Objects nested deeper than this are not checked. Real ones stay below 30.
pub const MAX_DEPTH: usize = 200;

impl CompiledSchema {
    /// Checks a whole object as the API server does with strict field validation. `old` is the object that it replaces,
    /// if any: rules about changes need it, and what was wrong before and has not changed is not held against the new
    /// object. It is expected as it was stored, so it should have passed this check itself.
    #[must_use]
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Verdict {
        self.validate_partly_known(object, old, &BTreeSet::new())
    }

    /// As [`validate`](Self::validate), for an object of which not everything is known, such as one that a template
    /// will fill in. What lies at or below an `unknown` path is not looked at, whatever stands there, and rules that
    /// depend on it are reported as not checked.
    ///
    /// ```
    /// # use crd_validator::{CompiledSchema, Path, Reason};
    /// # use serde_json::json;
    /// let schema = CompiledSchema::new(&json!({
    ///     "type": "object",
    ///     "properties": {"port": {"type": "integer"}},
    ///     "x-kubernetes-validations": [{"rule": "self.port > 1024"}],
    /// }));
    /// let object = json!({"metadata": {"name": "a"}, "port": "{{ .Values.port }}"});
    /// let verdict = schema.validate_partly_known(&object, None, &[Path::parse("port")].into());
    /// assert!(verdict.faults.is_empty());
    /// assert_eq!(verdict.not_checked[0].reason, Reason::UnknownValue);
    /// ```
    #[must_use]
    pub fn validate_partly_known(&self, object: &Value, old: Option<&Value>, unknown: &BTreeSet<Path>) -> Verdict {
        validate(&self.root, object, old, unknown)
    }
}

/// The body of [`CompiledSchema::validate_partly_known`], which has the documentation.
fn validate(schema: &Schema, value: &Value, old: Option<&Value>, unknown: &BTreeSet<Path>) -> Verdict {
    if too_deep(value) || old.is_some_and(too_deep) {
        let not_checked = NotChecked { path: Path::root(), check: Check::Object, reason: Reason::TooDeep };
        return Verdict { not_checked: vec![not_checked], ..Verdict::default() };
    }
    let mut verdict = Verdict { defaulted: value.clone(), ..Verdict::default() };
    let mut place = WalkPosition::root(unknown);
    prepare::complete(schema, &mut verdict.defaulted, &mut place);
    prepare::prune(schema, &mut verdict.defaulted, &mut place, &mut verdict.faults);
    prepare::keep_free_names(value, &mut verdict.faults);
    prepare::complete_name(&mut verdict.defaulted, &place);
    let old = old.map(|old| stored(schema, old));
    let value = &verdict.defaulted;

    let mut outcome = walk::check_structure(schema, value, old.as_ref(), &mut place);
    walk::check_embedded(schema, value, &mut place, "", &mut outcome.faults);
    let mut repeated = Vec::new();
    walk::check_lists(schema, value, &mut place, "", &mut repeated);
    if !repeated.is_empty() {
        let mut before = Vec::new();
        if let Some(old) = &old {
            walk::check_lists(schema, old, &mut WalkPosition::root(&BTreeSet::new()), "", &mut before);
        }
        if before.is_empty() {
            outcome.faults.append(&mut repeated);
        }
    }
    verdict.not_checked = outcome.not_checked;
    let blocked = outcome.faults.iter().any(|fault| fault.blocks_rules);
    verdict.faults.append(&mut outcome.faults);
    if !blocked {
        cel::check(schema, value, old.as_ref(), &mut place, &mut verdict.faults, &mut verdict.not_checked);
    }
    verdict
}

/// An object as it is read back from storage.
fn stored(schema: &Schema, old: &Value) -> Value {
    let nothing = BTreeSet::new();
    let mut place = WalkPosition::root(&nothing);
    let mut old = old.clone();
    prepare::complete(schema, &mut old, &mut place);
    prepare::prune(schema, &mut old, &mut place, &mut Vec::new());
    old
}

fn too_deep(value: &Value) -> bool {
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().filter(|v| nests(v)).map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().filter(|v| nests(v)).map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

fn nests(value: &Value) -> bool {
    value.is_array() || value.is_object()
}
