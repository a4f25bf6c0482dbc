//! CEL rules.

pub(crate) mod net;
pub(crate) mod time;
pub(crate) mod url;

use super::NotChecked;
use super::finding::Finding;
use super::schema::Schema;
use super::walk::Place;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) source: String,
}
impl Rule {
    pub(crate) fn read(value: &Value) -> Option<Self> {
        Some(Self { source: value.get("rule")?.as_str()?.to_owned() })
    }
    pub(crate) fn uncheckable(&self) -> Option<String> {
        None
    }
}
pub(crate) fn check(
    schema: &Schema,
    _v: &Value,
    _o: Option<&Value>,
    place: &mut Place<'_>,
    _f: &mut [Finding],
    n: &mut Vec<NotChecked>,
) {
    if schema.any_rules {
        n.push(NotChecked {
            path: place.path().clone(),
            rule: "CEL".to_owned(),
            reason: "rules are not run yet".to_owned(),
        });
    }
}
