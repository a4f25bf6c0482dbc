//! Rules about who may do what: `server.auth.access_policy` and `route_policy`.
//!
//! Source: `access_control` in llama-stack 0.3.5 to 0.7.3 and ogx 1.0.4 to 1.5.0, which refuses a rule that it does not
//! understand when it starts, and lets a rule that fits nothing stand without a word.

use super::fault::{Fault, Kind};
use super::providers::Provider;
use crate::nearest::nearest;
use crate::path::Path;
use serde_json::Value;
use std::collections::BTreeSet;

/// What a resource in a rule may be.
const TYPES: [&str; 14] = [
    "benchmark",
    "connector",
    "conversation",
    "dataset",
    "file",
    "model",
    "prompt",
    "scoring_function",
    "session",
    "shield",
    "sql_record",
    "tool",
    "tool_group",
    "vector_store",
];

/// The version from which on `regex:` is read, as far as catalogs go.
const FIRST_WITH_PATTERNS: [u32; 2] = [0, 6];

/// A config, and what a version makes of it.
pub(super) struct Access<'a> {
    pub(super) config: &'a Value,
    pub(super) providers: &'a [Provider<'a>],
    pub(super) unknown: &'a BTreeSet<Path>,
    /// The version's numbers, most significant first.
    pub(super) version: &'a [u32],
}

impl Access<'_> {
    /// Looks at each rule of each policy in the order of the config.
    pub(super) fn check(&self, faults: &mut Vec<Fault>) {
        for policy in ["access_policy", "route_policy"] {
            let place = Path::parse("server.auth").key(policy);
            let rules = place.find(self.config).and_then(Value::as_array).into_iter().flatten();
            for (position, rule) in rules.enumerate() {
                let place = place.index(position);
                let is_open = |one: &Path| place.starts_with(one) || one.starts_with(&place);
                if rule.is_object() && !self.unknown.iter().any(is_open) {
                    self.rule(rule, &place, policy == "access_policy", faults);
                }
            }
        }
    }

    fn rule(&self, rule: &Value, place: &Path, has_resources: bool, faults: &mut Vec<Fault>) {
        let has = |field: &str| rule.get(field).is_some_and(is_given);
        if !has("permit") && !has("forbid") {
            let message = "exits: a rule needs \"permit\" or \"forbid\"";
            faults.push(Fault::error(Kind::MissingKey, place.clone(), message));
        }
        for (one, other) in [("permit", "forbid"), ("when", "unless")] {
            if has(one) && has(other) {
                let message = format!("exits: a rule has \"{one}\" or \"{other}\", not both; write two rules");
                faults.push(Fault::error(Kind::WrongValue, place.key(other), message).on_key());
            }
        }
        for field in ["when", "unless"] {
            let place = place.key(field);
            for (place, text) in texts(rule.get(field), &place) {
                if !self.is_condition(text) {
                    let message = format!(
                        "exits: \"{text}\" is no condition. It knows \"user is owner\", \"user with VALUE in ATTRIBUTE\" \
                         and \"user in owners ATTRIBUTE\", each with \"not\" too"
                    );
                    faults.push(Fault::error(Kind::WrongValue, place, message));
                }
            }
        }
        for field in ["permit", "forbid"].into_iter().filter(|_| has_resources) {
            let place = place.key(field).key("resource");
            if let Some(text) = place.find(self.config).and_then(Value::as_str).filter(|text| !text.contains("${")) {
                self.resource(text, place, faults);
            }
        }
    }

    fn is_condition(&self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            _ if text.contains("${") => true,
            ["user", "is", "owner"] | ["user", "is", "not", "owner"] => true,
            ["user", "with", _, "in", _] | ["user", "with", _, "not", "in", _] => true,
            ["user", "in", "owners", _] | ["user", "not", "in", "owners", _] => true,
            ["resource", "is", "unowned"] => self.version >= [0, 4].as_slice(),
            _ => false,
        }
    }

    fn resource(&self, text: &str, place: Path, faults: &mut Vec<Fault>) {
        if text.starts_with("regex:") && self.version >= FIRST_WITH_PATTERNS.as_slice() {
            return;
        }
        let dead = |message: String| Fault::warning(Kind::DanglingName, place.clone(), message);
        let Some((kind, id)) = text.split_once("::") else {
            faults
                .push(dead(format!("never applies this rule: \"{text}\" has no type in front, such as model::{text}")));
            return;
        };
        if !TYPES.contains(&kind) {
            let hint = nearest(kind, TYPES).map(|near| format!(". Did you mean \"{near}\"?"));
            faults.push(dead(format!(
                "never applies this rule: it has no resources of type \"{kind}\"{}",
                hint.unwrap_or_default()
            )));
        } else if id.contains('*') && id != "*" {
            faults.push(dead(format!(
                "never applies this rule: \"*\" stands for something only right behind \"{kind}::\", and not in \"{id}\""
            )));
        } else if let Some((provider, _)) = id.split_once('/').filter(|_| kind == "model") {
            let mut inference = self.providers.iter().filter(|one| one.api == "inference");
            let all_known = inference.clone().all(|one| one.id.is_some() || one.switched_off);
            if all_known && !inference.any(|one| one.id == Some(provider)) {
                faults.push(dead(format!(
                    "never applies this rule: no provider of inference has the id \"{provider}\", with which the name of the \
                     model begins"
                )));
            }
        }
    }
}

fn is_given(value: &Value) -> bool {
    !(value.is_null() || value.as_str() == Some("") || value.as_array().is_some_and(Vec::is_empty))
}

/// One text, or a list of them, each with its place.
fn texts<'v>(value: Option<&'v Value>, place: &Path) -> Vec<(Path, &'v str)> {
    match value {
        Some(Value::String(text)) => vec![(place.clone(), text.as_str())],
        Some(Value::Array(items)) => {
            let texts = items.iter().enumerate().filter_map(|(at, item)| Some((place.index(at), item.as_str()?)));
            texts.collect()
        }
        _ => Vec::new(),
    }
}
