//! The CEL rules of a CRD. The crate `cel` reads their syntax; evaluation is ours, because verdicts, error texts and
//! Kubernetes' types have to be those of the API server.

pub(crate) mod eval;
pub(crate) mod library;
mod names;
pub(crate) mod net;
mod program;
mod rule;
pub(crate) mod time;
pub(crate) mod url;
pub(crate) mod value;

pub(crate) use rule::Rule;

use crate::fault::{Fault, FaultKind};
use crate::path::Segment;
use crate::place::WalkPosition;
use crate::schema::{Kind, Schema};
use crate::text::{bad_value, quote};
use crate::verdict::{Check, NotChecked, Reason};
use crate::walk::{OldItems, child_path};
use eval::{Env, Fail};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use value::{Val, convert};

/// Evaluation steps that all rules on one object may take together. As many as three rules that need all they may
/// have; an object of thousands of items with a dozen rules each stays far below.
const MAX_STEPS: u32 = 6_000_000;

/// The longest text of a `messageExpression` that is shown, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// Where a JSON value lies in memory: while an object is only read, that tells its values apart.
pub(crate) fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// Runs the rules of the whole object.
pub(crate) fn check(
    schema: &Schema,
    value: &Value,
    old: Option<&Value>,
    place: &mut WalkPosition<'_>,
    faults: &mut Vec<Fault>,
    not_checked: &mut Vec<NotChecked>,
) {
    if !schema.any_rules {
        return;
    }
    let unknown: HashSet<usize> = place.unknown().iter().filter_map(|path| path.find(value)).map(address).collect();
    let mut run = Run { unknown: &unknown, faults, not_checked, reported: BTreeSet::new(), steps_left: MAX_STEPS };
    run.node(schema, value, old, false, "", place);
}

struct Run<'r> {
    unknown: &'r HashSet<usize>,
    faults: &'r mut Vec<Fault>,
    not_checked: &'r mut Vec<NotChecked>,
    /// Rules that have been reported as not checked: once is enough for a rule on the items of a list.
    reported: BTreeSet<(Check, Reason)>,
    steps_left: u32,
}

impl Run<'_> {
    /// `unchanged` says whether the nearest value around that can be compared with its old one equals it.
    fn node(
        &mut self,
        schema: &Schema,
        value: &Value,
        old: Option<&Value>,
        unchanged: bool,
        api_server_path: &str,
        place: &mut WalkPosition<'_>,
    ) {
        if !schema.any_rules || value.is_null() || self.unknown.contains(&address(value)) {
            return;
        }
        let unchanged = old.map_or(unchanged, |old| old == value);
        if !schema.rules.is_empty() {
            self.rules(schema, value, old, unchanged, api_server_path, place);
        }
        if schema.parts().is_some_and(|parts| parts.all_of.iter().any(|part| part.any_rules)) {
            let reason = "rules inside allOf are not checked here".to_owned();
            self.skip(place, "allOf", Reason::Unsupported(reason));
        }
        match value {
            Value::Object(map) => {
                let old = old.and_then(Value::as_object);
                for (key, child) in map {
                    let Some(property) = schema.field(key).filter(|property| property.any_rules) else { continue };
                    let before = old.and_then(|old| old.get(key)).filter(|old| !old.is_null());
                    let at = child_path(schema, api_server_path, key);
                    place.in_key(key, |place| self.node(property, child, before, unchanged, &at, place));
                }
            }
            Value::Array(items) => {
                let Some(item_schema) = schema.items.as_deref().filter(|items| items.any_rules) else { return };
                let old = OldItems::of(&schema.list_type, old);
                for (position, item) in items.iter().enumerate() {
                    let before = old.as_ref().and_then(|old| old.before(item));
                    let at = format!("{api_server_path}[{position}]");
                    place.in_index(position, |place| self.node(item_schema, item, before, unchanged, &at, place));
                }
            }
            _ => {}
        }
    }

    fn skip(&mut self, place: &WalkPosition<'_>, rule: &str, reason: Reason) {
        let check = Check::Rule(rule.to_owned());
        if self.reported.insert((check.clone(), reason.clone())) {
            self.not_checked.push(NotChecked { path: place.path().clone(), check, reason });
        }
    }

    fn rules(
        &mut self,
        schema: &Schema,
        value: &Value,
        old: Option<&Value>,
        unchanged: bool,
        api_server_path: &str,
        place: &WalkPosition<'_>,
    ) {
        let mut env = Env::new(self.unknown);
        let current = convert(&env, value, schema);
        let before = old.map(|old| convert(&env, old, schema)).transpose();
        for rule in &schema.rules {
            let program = match rule.program() {
                Ok(program) => program,
                Err(reason) => {
                    self.skip(place, &rule.source, Reason::Unsupported(reason.to_owned()));
                    continue;
                }
            };
            if program.uses_old && old.is_none() && !rule.optional_old {
                self.skip(place, &rule.source, Reason::NoOldObject);
                continue;
            }
            let result = match (&current, &before) {
                (Ok(current), Ok(before)) => {
                    env.current = current.clone();
                    env.old = if rule.optional_old {
                        Some(Val::Optional(before.clone().map(Rc::new)))
                    } else {
                        before.clone()
                    };
                    env.limit = eval::MAX_STEPS.min(self.steps_left);
                    let result = guarded(&mut env, &program.expr);
                    self.steps_left = self.steps_left.saturating_sub(env.steps());
                    result
                }
                (Err(fail), _) | (_, Err(fail)) => Err(fail.clone()),
            };
            match result {
                Ok(Val::Bool(true)) => {}
                Ok(Val::Bool(false)) if unchanged && !program.uses_old => {}
                Ok(Val::Bool(false)) => {
                    let message = message(rule, &mut env);
                    self.faults.push(failed(rule, schema, value, message, api_server_path, place));
                }
                Ok(_) => {
                    let reason = "the rule does not come out as true or false".to_owned();
                    self.skip(place, &rule.source, Reason::Unsupported(reason));
                }
                Err(Fail::Error(error)) => {
                    self.faults.push(erroneous(rule, schema, &error, api_server_path, place));
                }
                Err(Fail::Unknown) => self.skip(place, &rule.source, Reason::UnknownValue),
                Err(Fail::Costly) => self.skip(place, &rule.source, Reason::TooManySteps),
                Err(Fail::Undecidable(reason)) => self.skip(place, &rule.source, Reason::Unsupported(reason)),
            }
        }
    }
}

/// Evaluates; a panic becomes one more thing that cannot be evaluated here.
fn guarded<'a>(env: &mut Env<'a>, expr: &'a program::Expr) -> eval::EvalResult<'a> {
    catch_unwind(AssertUnwindSafe(|| env.run(expr)))
        .unwrap_or_else(|_| Err(Fail::undecidable("the evaluation broke down")))
}

/// The message of a failed rule: its expression if that gives one line of text, else the fixed one.
fn message<'a>(rule: &'a Rule, env: &mut Env<'a>) -> String {
    if let Some(program) = rule.message_program()
        && let Ok(Val::Str(text)) = guarded(env, &program.expr)
    {
        let text = text.trim();
        if !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n') {
            return text.to_owned();
        }
    }
    rule.plain_message()
}

fn failed(
    rule: &Rule,
    schema: &Schema,
    value: &Value,
    message: String,
    api_server_path: &str,
    place: &WalkPosition<'_>,
) -> Fault {
    let composite = !schema.int_or_string && matches!(schema.kind, Some(Kind::Object | Kind::Array));
    let shown = if composite { String::new() } else { format!(": {}", bad_value(value)) };
    let api_server_message = match rule.reason.as_deref() {
        Some("FieldValueForbidden") => format!("Forbidden: {message}"),
        Some("FieldValueRequired") => format!("Required value: {message}"),
        Some("FieldValueDuplicate") => format!("Duplicate value{shown}"),
        _ => format!("Invalid value{shown}: {message}"),
    };
    let mut path = place.path().clone();
    let mut at = api_server_path.to_owned();
    let mut inside = Some(schema);
    for step in &rule.field_path {
        if let Segment::Key(key) = step {
            at = match inside {
                Some(schema) => child_path(schema, &at, key),
                None => format!("{at}.{key}"),
            };
            inside = inside.and_then(|schema| schema.field(key));
        }
        path.push(step.clone());
    }
    Fault::of_rule(FaultKind::Rule, &rule.source, &path, &at, message, api_server_message)
}

fn erroneous(rule: &Rule, schema: &Schema, error: &str, api_server_path: &str, place: &WalkPosition<'_>) -> Fault {
    let kind = quote(if schema.int_or_string { "" } else { schema.type_names() });
    let detail = if error.starts_with("no such overload") {
        format!(
            "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {}",
            rule.shown()
        )
    } else {
        format!("{error} evaluating rule: {}", rule.shown())
    };
    let api_server_message = format!("Invalid value: {kind}: {detail}");
    Fault::of_rule(FaultKind::RuleError, &rule.source, place.path(), api_server_path, detail, api_server_message)
}
