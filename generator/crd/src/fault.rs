//! What is wrong with one place of an object, in plain words and in the API server's.

use crate::nearest::nearest;
use crate::path::Path;
use crate::place::WalkPosition;
use crate::text::{bad_value, described, float, json, quote, type_name};
use serde_json::Value;

/// Which check of the API server a [`Fault`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// The schema has no such field. With strict field validation the API server refuses the object, else it drops the
    /// field.
    UnknownField,
    /// The value has another JSON type than `type` or `format` ask for.
    Type,
    /// A field of `required` is missing.
    Required,
    /// The value is none of `enum`.
    Enum,
    /// The value is out of one of the bounds of the schema: lengths, numbers of items or fields, `minimum` and
    /// `maximum`, `multipleOf`.
    Bounds,
    /// The text does not match `pattern`.
    Pattern,
    /// The text does not have the `format`.
    Format,
    /// An item of a set, or the key of an item in a list of type `map`, occurs twice.
    Duplicate,
    /// `allOf`, `anyOf`, `oneOf` or `not`.
    Alternatives,
    /// `apiVersion` or `kind` of an embedded resource, or an item that cannot have a key.
    Metadata,
    /// A rule of `x-kubernetes-validations` is false.
    Rule,
    /// A rule of `x-kubernetes-validations` cannot be evaluated on this object, for example because it reads a field
    /// that is missing. The API server refuses the object then, too.
    RuleError,
}

/// One thing that the API server would refuse, or, for [`FaultKind::UnknownField`], drop.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The check that failed, for callers that treat some of them apart. The messages are for people only.
    pub kind: FaultKind,
    /// The place that it speaks of. A missing field has the path that it would have.
    pub path: Path,
    /// What is wrong, in plain words. Of [`FaultKind::Rule`] it is the rule's own message.
    pub message: String,
    /// The API server's words: the `message` of the cause in its answer, or, for [`FaultKind::UnknownField`], what
    /// follows `strict decoding error: `.
    pub server_message: String,
    /// The API server's spelling of the place: the `field` of the cause in its answer. It differs from `path` for some
    /// checks, such as `spec.m[key]` for the value of a map, and `<nil>` where the answer names no place.
    pub server_field: String,
    /// For [`FaultKind::Duplicate`]: where the same stands for the first time.
    pub first: Option<Path>,
    /// For [`FaultKind::UnknownField`] the name, for [`FaultKind::Enum`] the value that was probably meant.
    pub suggestion: Option<String>,
    /// For [`FaultKind::Rule`] and [`FaultKind::RuleError`]: the CEL expression as the schema has it.
    pub rule: Option<String>,
    /// Whether the API server does not run any rules on an object with this fault.
    pub(crate) blocks_rules: bool,
}

impl Fault {
    fn new(kind: FaultKind, path: &Path, message: String, server_message: String) -> Self {
        Self {
            kind,
            path: path.clone(),
            message,
            server_message,
            server_field: path.to_string(),
            first: None,
            suggestion: None,
            rule: None,
            blocks_rules: false,
        }
    }

    fn blocking(mut self) -> Self {
        self.blocks_rules = true;
        self
    }

    /// The same fault, with the API server's spelling of its place.
    pub(crate) fn with_server_field(mut self, field: String) -> Self {
        self.server_field = field;
        self
    }

    fn nowhere(self) -> Self {
        self.with_server_field("<nil>".to_owned())
    }

    /// The field at `place` is none of its object's.
    pub(crate) fn unknown_field(place: &WalkPosition<'_>, key: &str, suggestion: Option<&str>) -> Self {
        let message = match suggestion {
            Some(name) => format!("unknown field {}; did you mean {}?", quote(key), quote(name)),
            None => format!("unknown field {}", quote(key)),
        };
        let server = format!("unknown field {}", quote(&place.path().to_string()));
        let mut fault = Self::new(FaultKind::UnknownField, place.path(), message, server);
        fault.suggestion = suggestion.map(str::to_owned);
        fault
    }

    /// The rule is false, or fails with an error.
    pub(crate) fn of_rule(
        kind: FaultKind,
        rule: &str,
        path: &Path,
        field: &str,
        message: String,
        server: String,
    ) -> Self {
        let field = if field.is_empty() { "<nil>" } else { field };
        let mut fault = Self::new(kind, path, message, server).with_server_field(field.to_owned());
        fault.rule = Some(rule.to_owned());
        fault
    }

    /// `expected` is what the schema asks for, `server_found` how the API server names what it got.
    pub(crate) fn wrong_type(place: &WalkPosition<'_>, value: &Value, expected: &str, server_found: &str) -> Self {
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
        Self::new(FaultKind::Type, place.path(), message, server).blocking()
    }

    pub(crate) fn format(place: &WalkPosition<'_>, text: &str, format: &str) -> Self {
        let message = format!("{} is not a valid {format}", quote(text));
        let server =
            format!("Invalid value: {0}: {1} in body must be of type {format}: {0}", quote(text), place.path());
        Self::new(FaultKind::Format, place.path(), message, server).blocking()
    }

    pub(crate) fn required(place: &WalkPosition<'_>, name: &str) -> Self {
        let message = format!("missing required field {}", quote(name));
        let path = place.path().key(name);
        Self::new(FaultKind::Required, &path, message, "Required value".to_owned()).blocking()
    }

    pub(crate) fn not_in_enum(place: &WalkPosition<'_>, value: &Value, values: &[Value]) -> Self {
        let plain = |value: &Value| value.as_str().map_or_else(|| json(value), str::to_owned);
        let listed: Vec<String> = values.iter().map(plain).collect();
        let quoted = listed.iter().map(|v| quote(v)).collect::<Vec<_>>().join(", ");
        let server = format!("Unsupported value: {}: supported values: {quoted}", bad_value(value));
        let near = value.as_str().and_then(|v| nearest(v, listed.iter().map(String::as_str)));
        let message = match near {
            Some(near) => format!("{} is not one of {quoted}; did you mean {}?", bad_value(value), quote(near)),
            None => format!("{} is not one of {quoted}", bad_value(value)),
        };
        let mut fault = Self::new(FaultKind::Enum, place.path(), message, server).blocking();
        fault.suggestion = near.map(str::to_owned);
        fault
    }

    pub(crate) fn too_long(place: &WalkPosition<'_>, max: u64) -> Self {
        let message = format!("longer than {max} characters");
        let bytes = if max == 1 { "byte" } else { "bytes" };
        let server = format!("Too long: may not be more than {max} {bytes}");
        Self::new(FaultKind::Bounds, place.path(), message, server).blocking()
    }

    pub(crate) fn too_short(place: &WalkPosition<'_>, value: &Value, min: u64) -> Self {
        let message = match (min, value.as_str()) {
            (1, Some("")) => "must not be empty".to_owned(),
            _ => format!("shorter than {min} characters"),
        };
        Self::bound(place, value, message, &format!("should be at least {min} chars long"))
    }

    /// A bound whose text the API server builds from path and detail.
    pub(crate) fn bound(place: &WalkPosition<'_>, value: &Value, message: String, detail: &str) -> Self {
        let server = format!("Invalid value: {}: {} in body {detail}", bad_value(value), place.path());
        Self::new(FaultKind::Bounds, place.path(), message, server)
    }

    pub(crate) fn pattern(place: &WalkPosition<'_>, text: &str, pattern: &str) -> Self {
        let message = format!("{} does not match {pattern}", quote(text));
        let server = format!("Invalid value: {}: {} in body should match '{pattern}'", quote(text), place.path());
        Self::new(FaultKind::Pattern, place.path(), message, server)
    }

    pub(crate) fn too_many(place: &WalkPosition<'_>, what: &str, found: usize, max: u64) -> Self {
        let message = format!("has {found} {what}, at most {max} are allowed");
        let items = if max == 1 { "item" } else { "items" };
        let server = format!("Too many: {found}: must have at most {max} {items}");
        Self::new(FaultKind::Bounds, place.path(), message, server).blocking()
    }

    pub(crate) fn too_few(place: &WalkPosition<'_>, what: &str, server_what: &str, found: usize, min: u64) -> Self {
        let message = match (min, found) {
            (1, _) => format!("must not be empty: at least one of its {what} is needed"),
            _ => format!("has {found} {what}, at least {min} are needed"),
        };
        Self::bound(place, &Value::from(found), message, &format!("should have at least {min} {server_what}"))
    }

    pub(crate) fn out_of_range(place: &WalkPosition<'_>, kind: &str, format: Option<&str>, value: &Value) -> Self {
        let (server, wanted) = match format {
            Some(format) => (format!("with format {format}"), format.to_owned()),
            None => ("(default format)".to_owned(), "int64".to_owned()),
        };
        let message = format!("{} does not fit into {wanted}", bad_value(value));
        let server = format!("Invalid value: \"\": Checked value must be of type {kind} {server} in {}", place.path());
        Self::new(FaultKind::Bounds, place.path(), message, server).nowhere()
    }

    pub(crate) fn not_multiple(place: &WalkPosition<'_>, value: &Value, factor: f64) -> Self {
        let factor = float(factor);
        let message = format!("{} is not a multiple of {factor}", bad_value(value));
        Self::bound(place, value, message, &format!("should be a multiple of {factor}"))
    }

    pub(crate) fn bad_factor(place: &WalkPosition<'_>) -> Self {
        let message = "the schema's multipleOf is a fraction, which no integer passes".to_owned();
        let server = format!("Invalid value: 0: factor MultipleOf declared for {} must be positive: 0", place.path());
        Self::new(FaultKind::Bounds, place.path(), message, server)
    }

    /// A fault of oneOf, anyOf, allOf or not.
    pub(crate) fn alternatives(place: &WalkPosition<'_>, message: &str, detail: &str) -> Self {
        let server = format!("Invalid value: \"\": {} {detail}", quote(&place.path().to_string()));
        Self::new(FaultKind::Alternatives, place.path(), message.to_owned(), server).nowhere()
    }

    pub(crate) fn duplicate(path: &Path, server_field: String, shown: &Value, what: &str) -> Self {
        let message = format!("{what} {} appears twice", bad_value(shown));
        let server = format!("Duplicate value: {}", bad_value(shown));
        Self::new(FaultKind::Duplicate, path, message, server).with_server_field(server_field)
    }

    /// A fault with the API server's own detail: `Invalid value: <value>: <detail>`.
    pub(crate) fn invalid(path: &Path, server_field: String, value: &Value, detail: &str) -> Self {
        let server = format!("Invalid value: {}: {detail}", bad_value(value));
        Self::new(FaultKind::Metadata, path, detail.to_owned(), server).with_server_field(server_field)
    }

    /// `Required value`, at a place that structural checks spell differently.
    pub(crate) fn required_at(path: &Path, server_field: String, name: &str) -> Self {
        let message = format!("missing required field {}", quote(name));
        Self::new(FaultKind::Required, path, message, "Required value".to_owned())
            .blocking()
            .with_server_field(server_field)
    }

    /// Whether two faults say the same in the API server's words.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.server_message == other.server_message && self.path == other.path
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
