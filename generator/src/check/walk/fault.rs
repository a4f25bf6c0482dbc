//! A structural finding on its way through the walk.

use super::place::Place;
use super::text::{bad_value, described, float, json, quote, type_name};
use crate::check::finding::{Finding, Fix, FixEdit};
use crate::path::Path;
use serde_json::Value;

/// A finding, and whether the API server would still run the CEL rules of the object.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) finding: Finding,
    pub(crate) blocks_rules: bool,
}

impl Fault {
    fn new(rule: &'static str, path: &Path, message: String, server_text: String) -> Self {
        let mut finding = Finding::error(rule, path.clone(), message);
        finding.server_text = Some(server_text);
        Self { finding, blocks_rules: false }
    }

    fn blocking(mut self) -> Self {
        self.blocks_rules = true;
        self
    }

    /// The same fault, with the API server's spelling of its place.
    pub(crate) fn with_server_path(mut self, path: String) -> Self {
        self.finding.server_path = Some(path).filter(|p| *p != self.finding.path.to_string());
        self
    }

    fn nowhere(self) -> Self {
        self.with_server_path("<nil>".to_owned())
    }

    /// `expected` is what the schema asks for, `server_found` how the API server names what it got.
    pub(crate) fn wrong_type(place: &Place<'_>, value: &Value, expected: &str, server_found: &str) -> Self {
        let wanted = expected
            .split(',')
            .map(|name| match name {
                "object" => "an object",
                "array" => "a list",
                "string" => "a string",
                "integer" | "int32" | "int64" => "an integer",
                "number" | "float" | "double" => "a number",
                "boolean" => "true or false",
                other => other,
            })
            .collect::<Vec<_>>()
            .join(" or ");
        let message = format!("expected {wanted}, found {}", described(value));
        let server = format!(
            "Invalid value: {}: {} in body must be of type {expected}: {}",
            quote(server_found),
            place.path(),
            quote(server_found)
        );
        Self::new("llsd::schema::type", place.path(), message, server).blocking()
    }

    pub(crate) fn format(place: &Place<'_>, text: &str, format: &str) -> Self {
        let message = format!("{} is not a valid {format}", quote(text));
        let server =
            format!("Invalid value: {0}: {1} in body must be of type {format}: {0}", quote(text), place.path());
        Self::new("llsd::schema::format", place.path(), message, server).blocking()
    }

    pub(crate) fn required(place: &Place<'_>, name: &str) -> Self {
        let message = format!("missing required field {}", quote(name));
        let path = place.path().key(name);
        Self::new("llsd::schema::required", &path, message, "Required value".to_owned()).blocking()
    }

    pub(crate) fn not_in_enum(place: &Place<'_>, value: &Value, values: &[Value]) -> Self {
        let plain = |value: &Value| value.as_str().map_or_else(|| json(value), str::to_owned);
        let listed: Vec<String> = values.iter().map(plain).collect();
        let quoted = listed.iter().map(|v| quote(v)).collect::<Vec<_>>().join(", ");
        let server = format!("Unsupported value: {}: supported values: {quoted}", bad_value(value));
        let near = value.as_str().and_then(|v| super::nearest::nearest(v, listed.iter().map(String::as_str)));
        let message = match near {
            Some(near) => format!("{} is not one of {quoted}; did you mean {}?", bad_value(value), quote(near)),
            None => format!("{} is not one of {quoted}", bad_value(value)),
        };
        let mut fault = Self::new("llsd::schema::enum", place.path(), message, server).blocking();
        if let Some(near) = near {
            fault.finding = fault.finding.with_fix(Fix {
                title: format!("Replace with {}", quote(near)),
                edits: vec![FixEdit::Replace { path: place.path().clone(), value: Value::from(near) }],
                preferred: true,
            });
        }
        fault
    }

    pub(crate) fn too_long(place: &Place<'_>, max: u64) -> Self {
        let message = format!("longer than {max} characters");
        let bytes = if max == 1 { "byte" } else { "bytes" };
        let server = format!("Too long: may not be more than {max} {bytes}");
        Self::new("llsd::schema::bounds", place.path(), message, server).blocking()
    }

    pub(crate) fn too_short(place: &Place<'_>, value: &Value, min: u64) -> Self {
        let message = match (min, value.as_str()) {
            (1, Some("")) => "must not be empty".to_owned(),
            _ => format!("shorter than {min} characters"),
        };
        Self::bound(place, value, message, &format!("should be at least {min} chars long"))
    }

    /// A bound whose text the API server builds from path and detail.
    pub(crate) fn bound(place: &Place<'_>, value: &Value, message: String, detail: &str) -> Self {
        let server = format!("Invalid value: {}: {} in body {detail}", bad_value(value), place.path());
        Self::new("llsd::schema::bounds", place.path(), message, server)
    }

    pub(crate) fn pattern(place: &Place<'_>, text: &str, pattern: &str) -> Self {
        let message = format!("{} does not match {pattern}", quote(text));
        let server = format!("Invalid value: {}: {} in body should match '{pattern}'", quote(text), place.path());
        Self::new("llsd::schema::pattern", place.path(), message, server)
    }

    pub(crate) fn too_many(place: &Place<'_>, what: &str, found: usize, max: u64) -> Self {
        let message = format!("has {found} {what}, at most {max} are allowed");
        let items = if max == 1 { "item" } else { "items" };
        let server = format!("Too many: {found}: must have at most {max} {items}");
        Self::new("llsd::schema::bounds", place.path(), message, server).blocking()
    }

    pub(crate) fn too_few(place: &Place<'_>, what: &str, server_what: &str, found: usize, min: u64) -> Self {
        let message = match (min, found) {
            (1, _) => format!("must not be empty: at least one of its {what} is needed"),
            _ => format!("has {found} {what}, at least {min} are needed"),
        };
        Self::bound(place, &Value::from(found), message, &format!("should have at least {min} {server_what}"))
    }

    pub(crate) fn repeats(place: &Place<'_>) -> Self {
        let server = format!("Invalid value: \"\": {} in body shouldn't contain duplicates", place.path());
        Self::new("llsd::schema::duplicate-key", place.path(), "contains an item twice".to_owned(), server)
    }

    pub(crate) fn out_of_range(place: &Place<'_>, kind: &str, format: Option<&str>, value: &Value) -> Self {
        let (server, wanted) = match format {
            Some(format) => (format!("with format {format}"), format.to_owned()),
            None => ("(default format)".to_owned(), "int64".to_owned()),
        };
        let message = format!("{} does not fit into {wanted}", bad_value(value));
        let server = format!("Invalid value: \"\": Checked value must be of type {kind} {server} in {}", place.path());
        Self::new("llsd::schema::bounds", place.path(), message, server).nowhere()
    }

    pub(crate) fn not_multiple(place: &Place<'_>, value: &Value, factor: f64) -> Self {
        let factor = float(factor);
        let message = format!("{} is not a multiple of {factor}", bad_value(value));
        Self::bound(place, value, message, &format!("should be a multiple of {factor}"))
    }

    pub(crate) fn bad_factor(place: &Place<'_>) -> Self {
        let message = "the schema's multipleOf is a fraction, which no integer passes".to_owned();
        let server = format!("Invalid value: 0: factor MultipleOf declared for {} must be positive: 0", place.path());
        Self::new("llsd::schema::bounds", place.path(), message, server)
    }

    /// A fault of oneOf, anyOf, allOf or not.
    pub(crate) fn alternatives(place: &Place<'_>, message: &str, detail: &str) -> Self {
        let server = format!("Invalid value: \"\": {} {detail}", quote(&place.path().to_string()));
        Self::new("llsd::schema::alternatives", place.path(), message.to_owned(), server).nowhere()
    }

    pub(crate) fn forbidden(place: &Place<'_>, key: &str) -> Self {
        let message = format!("{} is not allowed here", quote(key));
        let path = place.path().key(key);
        let server = format!("Invalid value: {}: {}.{key} in body is a forbidden property", quote(key), place.path());
        Self::new(super::UNKNOWN_FIELD, &path, message, server).with_server_path(place.path().to_string())
    }

    pub(crate) fn duplicate(path: &Path, server_path: String, shown: &Value, what: &str) -> Self {
        let message = format!("{what} {} appears twice", bad_value(shown));
        let server = format!("Duplicate value: {}", bad_value(shown));
        Self::new("llsd::schema::duplicate-key", path, message, server).with_server_path(server_path)
    }

    /// A fault with the API server's own detail: `Invalid value: <value>: <detail>`.
    pub(crate) fn invalid(path: &Path, server_path: String, value: &Value, detail: &str) -> Self {
        let server = format!("Invalid value: {}: {detail}", bad_value(value));
        Self::new("llsd::schema::metadata", path, detail.to_owned(), server).with_server_path(server_path)
    }

    /// `Required value`, at a place that structural checks spell differently.
    pub(crate) fn required_at(path: &Path, server_path: String, name: &str) -> Self {
        let message = format!("missing required field {}", quote(name));
        Self::new("llsd::schema::required", path, message, "Required value".to_owned())
            .blocking()
            .with_server_path(server_path)
    }

    /// Whether two faults say the same in the API server's words.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.finding.server_text == other.finding.server_text && self.finding.path == other.finding.path
    }

    /// How the API server names the type of a value next to a numeric format.
    pub(crate) fn format_of(value: &Value) -> &'static str {
        match type_name(value) {
            "integer" => "int64",
            "number" => "float64",
            _ => "",
        }
    }
}
