//! Types, bounds, patterns, formats, required fields and alternatives.

use super::lists::OldItems;
use crate::fault::Fault;
use crate::format;
use crate::place::WalkPosition;
use crate::schema::{Kind, Schema};
use crate::text::{bad_value, float, quote, type_name};
use crate::verdict::{Check, NotChecked, Reason};
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::collections::HashSet;

/// The faults of a value and, as a measure of how well it fits, the number of checks that went well: the API server
/// shows the faults of the best alternative.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) faults: Vec<Fault>,
    pub(crate) not_checked: Vec<NotChecked>,
    matches: u32,
}

impl Outcome {
    fn add(&mut self, fault: Fault) {
        if !self.faults.iter().any(|earlier| earlier.says_the_same(&fault)) {
            self.faults.push(fault);
        }
    }

    /// Adds what was found at another place.
    fn append(&mut self, mut other: Self) {
        self.matches += other.matches;
        self.not_checked.append(&mut other.not_checked);
        self.faults.append(&mut other.faults);
    }

    /// Adds what another schema says of the same value; what both say is said once.
    fn merge(&mut self, mut other: Self) {
        if !self.faults.is_empty() {
            let said: HashSet<_> = self.faults.iter().map(|fault| (&fault.path, &fault.server_message)).collect();
            other.faults.retain(|fault| !said.contains(&(&fault.path, &fault.server_message)));
        }
        self.append(other);
    }
}

/// Checks a value against its schema. `old` is the value that it replaces, where the two can be told to belong
/// together: what has not changed is not held against it.
pub(crate) fn check(schema: &Schema, value: &Value, old: Option<&Value>, place: &mut WalkPosition<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    if place.is_unknown() {
        return outcome;
    }
    if value.is_null() {
        if !schema.type_names().is_empty() && !schema.nullable {
            outcome.add(Fault::wrong_type(place, value, schema.type_names(), "null"));
        }
        values(schema, value, place, &mut outcome);
        return forgiven(outcome, value, old);
    }
    kind(schema, value, place, &mut outcome);
    alternatives(schema, value, place, &mut outcome);
    match value {
        Value::String(text) => {
            string(schema, value, text, place, &mut outcome);
            if let Some(format) = schema.format.as_deref() {
                match format::matches(format, text) {
                    _ if !format::is_known(format) => {}
                    Some(true) => {}
                    Some(false) => outcome.add(Fault::format(place, text, format)),
                    None => outcome.not_checked.push(NotChecked {
                        path: place.path().clone(),
                        check: Check::Format(format.to_owned()),
                        reason: Reason::Unsupported(format!("whether this is a valid {format} is not checked here")),
                    }),
                }
            }
        }
        Value::Number(number) => self::number(schema, value, number, place, &mut outcome),
        Value::Array(items) => list(schema, items, old, place, &mut outcome),
        _ => {}
    }
    values(schema, value, place, &mut outcome);
    if let Value::Object(map) = value {
        object(schema, map, old, place, &mut outcome);
    }
    outcome.matches += 4;
    forgiven(outcome, value, old)
}

fn forgiven(mut outcome: Outcome, value: &Value, old: Option<&Value>) -> Outcome {
    if !outcome.faults.is_empty() && old == Some(value) {
        outcome.faults.clear();
    }
    outcome
}

fn kind(schema: &Schema, value: &Value, place: &WalkPosition<'_>, outcome: &mut Outcome) {
    let names = schema.type_names();
    if names.is_empty() {
        return;
    }
    let found = type_name(value);
    let asked = |kind: Kind| schema.kind == Some(kind) && !schema.int_or_string;
    let fits = match found {
        "integer" => schema.int_or_string || asked(Kind::Integer) || asked(Kind::Number),
        "number" => asked(Kind::Number) || ((schema.int_or_string || asked(Kind::Integer)) && is_integral(value)),
        "string" => schema.int_or_string || asked(Kind::String),
        other => !schema.int_or_string && schema.kind.is_some_and(|kind| kind.name() == other),
    };
    if fits {
        outcome.matches += 1;
        return;
    }
    match &schema.format {
        Some(format) if !matches!(value, Value::String(_) | Value::Array(_)) => {
            outcome.add(Fault::wrong_type(place, value, format, Fault::format_of(value)));
        }
        _ => outcome.add(Fault::wrong_type(place, value, names, found)),
    }
}

/// Whether a float counts as an integer: within what JSON numbers can tell apart, and whole but for rounding.
fn is_integral(value: &Value) -> bool {
    let Some(number) = value.as_f64() else { return false };
    if number.abs() > 9_007_199_254_740_991.0 {
        return false;
    }
    let whole = number.trunc();
    whole == number || (number - whole).abs() / (number.abs() + whole.abs()) < 1e-9
}

fn string(schema: &Schema, value: &Value, text: &str, place: &WalkPosition<'_>, outcome: &mut Outcome) {
    if schema.bounds().max_length.is_some() || schema.bounds().min_length.is_some() {
        let length = text.chars().count() as u64;
        if let Some(max) = schema.bounds().max_length.filter(|max| length > *max) {
            return outcome.add(Fault::too_long(place, max));
        }
        if let Some(min) = schema.bounds().min_length.filter(|min| length < *min) {
            return outcome.add(Fault::too_short(place, value, min));
        }
    }
    match schema.pattern.as_ref().map(|pattern| (pattern, pattern.regex())) {
        Some((pattern, Some(regex))) if !regex.is_match(text) => {
            outcome.add(Fault::pattern(place, text, &pattern.source));
        }
        Some((pattern, None)) => outcome.not_checked.push(NotChecked {
            path: place.path().clone(),
            check: Check::Pattern(pattern.source.clone()),
            reason: Reason::Unsupported(format!("the pattern {} does not compile here", pattern.source)),
        }),
        _ => {}
    }
}

fn number(schema: &Schema, value: &Value, number: &Number, place: &WalkPosition<'_>, outcome: &mut Outcome) {
    let Some(data) = number.as_f64() else { return };
    let integer = number.as_i64();
    if !schema.int_or_string {
        let fits = match (schema.kind, schema.format.as_deref()) {
            (Some(Kind::Integer), Some("int32")) => {
                data.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&data)
            }
            (Some(Kind::Integer), _) => {
                integer.is_some() || (data.fract() == 0.0 && data >= -(2f64.powi(63)) && data < 2f64.powi(63))
            }
            (Some(Kind::Number), Some("float")) => data.abs() <= f64::from(f32::MAX),
            _ => true,
        };
        if !fits {
            let kind = schema.kind.map_or("", Kind::name);
            outcome.add(Fault::out_of_range(place, kind, schema.format.as_deref(), value));
        }
    }
    if let Some(factor) = schema.bounds().multiple_of.filter(|factor| *factor > 0.0) {
        match integer {
            // The API server cuts the factor for integers, and then finds nothing to divide by.
            Some(_) if factor < 1.0 => outcome.add(Fault::bad_factor(place)),
            Some(integer) if integer % (factor as i64) == 0 => {}
            None if is_integral(&Value::from(if factor < 1.0 { 1.0 / factor * data } else { data / factor })) => {}
            _ => outcome.add(Fault::not_multiple(place, value, factor)),
        }
    }
    let shown = |bound: f64| if integer.is_some() { (bound as i64).to_string() } else { float(bound) };
    // Whole numbers are compared as such: a float cannot tell large neighbours apart.
    let beyond = |bound: f64, exclusive: bool, beyond: Ordering| {
        let order = match integer {
            Some(integer) => integer.cmp(&(bound as i64)),
            None => data.partial_cmp(&bound).unwrap_or(Ordering::Equal),
        };
        order == beyond || (exclusive && order == Ordering::Equal)
    };
    if let Some(max) =
        schema.bounds().maximum.filter(|max| beyond(*max, schema.bounds().exclusive_maximum, Ordering::Greater))
    {
        let words = if schema.bounds().exclusive_maximum { "less than" } else { "less than or equal to" };
        let ours = if schema.bounds().exclusive_maximum { "less than" } else { "at most" };
        let message = format!("{} is too large: must be {ours} {}", bad_value(value), shown(max));
        outcome.add(Fault::bound(place, value, message, &format!("should be {words} {}", shown(max))));
    }
    if let Some(min) =
        schema.bounds().minimum.filter(|min| beyond(*min, schema.bounds().exclusive_minimum, Ordering::Less))
    {
        let words = if schema.bounds().exclusive_minimum { "greater than" } else { "greater than or equal to" };
        let ours = if schema.bounds().exclusive_minimum { "more than" } else { "at least" };
        let message = format!("{} is too small: must be {ours} {}", bad_value(value), shown(min));
        outcome.add(Fault::bound(place, value, message, &format!("should be {words} {}", shown(min))));
    }
    outcome.matches += 1;
}

fn list(schema: &Schema, items: &[Value], old: Option<&Value>, place: &mut WalkPosition<'_>, outcome: &mut Outcome) {
    if let Some(item_schema) = &schema.items {
        let old = OldItems::of(&schema.list_type, old);
        let mut inside = Outcome::default();
        for (position, item) in items.iter().enumerate() {
            let before = old.as_ref().and_then(|old| old.before(item));
            inside.append(place.in_index(position, |place| check(item_schema, item, before, place)));
        }
        outcome.merge(inside);
    }
    if let Some(min) = schema.bounds().min_items.filter(|min| (items.len() as u64) < *min) {
        outcome.add(Fault::too_few(place, "items", "items", items.len(), min));
    }
    if let Some(max) = schema.bounds().max_items.filter(|max| (items.len() as u64) > *max) {
        outcome.add(Fault::too_many(place, "items", items.len(), max));
    }
    outcome.matches += 1;
}

fn values(schema: &Schema, value: &Value, place: &WalkPosition<'_>, outcome: &mut Outcome) {
    if !schema.values.is_empty() && !schema.values.iter().any(|allowed| equal(allowed, value)) {
        outcome.add(Fault::not_in_enum(place, value, &schema.values));
    }
}

fn equal(allowed: &Value, value: &Value) -> bool {
    match (allowed, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        // A null among the allowed values is passed over.
        (Value::Null, _) => false,
        _ => allowed == value,
    }
}

fn object(
    schema: &Schema,
    map: &Map<String, Value>,
    old: Option<&Value>,
    place: &mut WalkPosition<'_>,
    outcome: &mut Outcome,
) {
    if let Some(min) = schema.bounds().min_properties.filter(|min| (map.len() as u64) < *min) {
        outcome.add(Fault::too_few(place, "entries", "properties", map.len(), min));
    }
    if let Some(max) = schema.bounds().max_properties.filter(|max| (map.len() as u64) > *max) {
        outcome.add(Fault::too_many(place, "entries", map.len(), max));
    }
    let old = old.and_then(Value::as_object);
    let mut inside = Outcome::default();
    for (key, value) in map {
        if let Some(property) = schema.field(key) {
            let before = old.and_then(|old| old.get(key));
            inside.append(place.in_key(key, |place| check(property, value, before, place)));
        }
    }
    outcome.merge(inside);
    for name in &schema.required {
        if !map.contains_key(name) && !place.is_unknown_key(name) {
            outcome.add(Fault::required(place, name));
        }
    }
}

fn alternatives(schema: &Schema, value: &Value, place: &mut WalkPosition<'_>, outcome: &mut Outcome) {
    let Some(parts) = schema.parts() else { return };
    if !parts.all_of.is_empty() {
        let results: Vec<Outcome> = parts.all_of.iter().map(|part| check(part, value, None, place)).collect();
        let fitting = results.iter().filter(|result| result.faults.is_empty()).count();
        let count = results.len();
        results.into_iter().for_each(|result| outcome.merge(result));
        if fitting != count {
            let detail = if fitting == 0 {
                "must validate all the schemas (allOf). None validated"
            } else {
                "must validate all the schemas (allOf)"
            };
            outcome.add(Fault::alternatives(place, "does not fit all of the schemas that it must fit", detail));
        }
    }
    // Which alternative is meant cannot be told while part of the value is open.
    if place.has_unknown() {
        return;
    }
    if !parts.any_of.is_empty() {
        let mut results: Vec<Outcome> = parts.any_of.iter().map(|part| check(part, value, None, place)).collect();
        results.iter_mut().for_each(|result| outcome.not_checked.append(&mut result.not_checked));
        if results.iter().all(|result| !result.faults.is_empty()) {
            let message = "fits none of the forms that are allowed here";
            outcome.add(Fault::alternatives(place, message, "must validate at least one schema (anyOf)"));
            add_best(results, outcome);
        }
    }
    if !parts.one_of.is_empty() {
        let mut results: Vec<Outcome> = parts.one_of.iter().map(|part| check(part, value, None, place)).collect();
        results.iter_mut().for_each(|result| outcome.not_checked.append(&mut result.not_checked));
        let fitting = results.iter().filter(|result| result.faults.is_empty()).count();
        if fitting != 1 {
            let (found, message) = match fitting {
                0 => ("Found none valid".to_owned(), one_of_message(&parts.one_of, "exactly one of", "is needed")),
                n => (
                    format!("Found {n} valid alternatives"),
                    one_of_message(&parts.one_of, "only one of", "is allowed"),
                ),
            };
            let detail = format!("must validate one and only one schema (oneOf). {found}");
            outcome.add(Fault::alternatives(place, &message, &detail));
            if fitting == 0 {
                add_best(results, outcome);
            }
        }
    }
    if let Some(part) = &parts.not
        && check(part, value, None, place).faults.is_empty()
    {
        outcome.add(Fault::alternatives(
            place,
            "has a form that is excluded here",
            "must not validate the schema (not)",
        ));
    }
    outcome.matches += 1;
}

/// In the common case the alternatives are told apart by one required field each, and can be named.
fn one_of_message(forms: &[Schema], before: &str, after: &str) -> String {
    let names: Option<Vec<String>> = forms
        .iter()
        .map(|part| match part.required.as_slice() {
            [name] => Some(quote(name)),
            _ => None,
        })
        .collect();
    match names {
        Some(names) => format!("{before} {} {after}", names.join(", ")),
        None => "must fit exactly one of the forms that are allowed here".to_owned(),
    }
}

fn add_best(results: Vec<Outcome>, outcome: &mut Outcome) {
    let mut best: Option<Outcome> = None;
    for result in results {
        if best.as_ref().is_none_or(|best| result.matches > best.matches) {
            best = Some(result);
        }
    }
    if let Some(best) = best {
        outcome.merge(best);
    }
}
