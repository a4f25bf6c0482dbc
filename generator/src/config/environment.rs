//! `${env.NAME}` in a config, as the server substitutes it.
//!
//! Source: the pattern of `replace_env_vars` in llama-stack 0.3.5 to 0.7.3 and ogx 1.0.4 to 1.5.0, tried with each:
//! upper-case letters, digits and `_`, then nothing, `:=` and a default, or `:+` and a value for when it is set. The
//! default ends at the first `}`. A text that was changed is then read as a truth value or a number, if it looks like
//! one. Whatever has another form stays in the value as it is written.

use super::reading::Reading;
use crate::path::{Path, Segment};
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// One `${…}` of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expression<'t> {
    /// Where it begins in the text, in bytes.
    pub(crate) start: usize,
    /// Offset behind the closing brace, in bytes of the whole text.
    pub(crate) end: usize,
    pub(crate) form: Form<'t>,
}

/// The forms that are substituted, and those that look like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form<'t> {
    /// `${env.NAME}`: the server exits where it is unset or empty.
    Bare(&'t str),
    /// `${env.NAME:=default}`: the name, and the default that counts while the variable is unset or empty.
    Default(&'t str, &'t str),
    /// `${env.NAME:+value}`: the value where NAME is set, else nothing.
    IfSet(&'t str, &'t str),
    /// Begins with `${env.` and is not substituted.
    Refused,
}

impl Expression<'_> {
    /// The expression as it stands in its text, braces included.
    pub(crate) fn written<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }
}

/// The expressions of a text that begin with `${env.`, in order. Other `${…}` belong to other programs.
pub(crate) fn expressions(text: &str) -> Vec<Expression<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("${env.") {
        let start = from + at;
        let inside = start + "${env.".len();
        let Some(length) = text[inside..].find('}') else {
            found.push(Expression { start, end: text.len(), form: Form::Refused });
            break;
        };
        let end = inside + length + 1;
        found.push(Expression { start, end, form: form(&text[inside..end - 1]) });
        from = end;
    }
    found
}

fn form(inside: &str) -> Form<'_> {
    let length = inside.find(|char: char| !matches!(char, 'A'..='Z' | '0'..='9' | '_')).unwrap_or(inside.len());
    let (name, rest) = inside.split_at(length);
    match rest.strip_prefix(':').and_then(|rest| Some((rest.chars().next()?, rest))) {
        _ if name.is_empty() => Form::Refused,
        None if rest.is_empty() => Form::Bare(name),
        Some(('=', rest)) => Form::Default(name, &rest[1..]),
        Some(('+', rest)) => Form::IfSet(name, &rest[1..]),
        _ => Form::Refused,
    }
}

/// What a text becomes where its only part is one expression with a default, and the variable is not set.
pub(crate) fn default_of(text: &str) -> Option<(&str, Value)> {
    let found = expressions(text);
    match found.as_slice() {
        [Expression { start: 0, end, form: Form::Default(name, default) }] if *end == text.len() => {
            Some((name, converted(default)))
        }
        _ => None,
    }
}

/// The variable without which a text comes to nothing: that of `${env.NAME:+value}` and `${env.NAME:=}`.
pub(crate) fn needed_by(text: &str) -> Option<&str> {
    match expressions(text).as_slice() {
        [Expression { start: 0, end, form: Form::IfSet(name, _) | Form::Default(name, "") }] if *end == text.len() => {
            Some(name)
        }
        _ => None,
    }
}

/// The value that a substituted text is read as: nothing, a truth value, a number, or the text.
pub(crate) fn converted(text: &str) -> Value {
    match text {
        "" => Value::Null,
        _ if text.eq_ignore_ascii_case("true") => Value::Bool(true),
        _ if text.eq_ignore_ascii_case("false") => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| text.into()),
    }
}

fn number(text: &str) -> Option<Value> {
    if Reading::of(text) != Some(Reading::Number) {
        return None;
    }
    let plain = text.trim().replace('_', "");
    if let Ok(whole) = plain.parse::<i64>() {
        return Some(whole.into());
    }
    Number::from_f64(plain.parse().ok()?).map(Value::Number)
}

/// The config with values put in where a text is nothing but one variable, and which variable stood at each such place.
/// `value`: what a variable becomes; `None` leaves it as it is written. As deep as plain values are.
pub(crate) fn with_values(config: &Value, value: &dyn Fn(&str) -> Option<Value>) -> (Value, BTreeMap<Path, String>) {
    let mut places = BTreeMap::new();
    let config = put_in(config, value, &mut Path::root(), &mut places);
    (config, places)
}

fn put_in(
    config: &Value,
    value: &dyn Fn(&str) -> Option<Value>,
    path: &mut Path,
    places: &mut BTreeMap<Path, String>,
) -> Value {
    let mut below = |segment: Segment, inner: &Value| {
        path.push(segment);
        let inner = put_in(inner, value, path, places);
        path.pop();
        inner
    };
    match config {
        Value::String(text) => {
            let all = expressions(text);
            let [Expression { start: 0, end, form: Form::Bare(name) | Form::Default(name, _) }] = all.as_slice() else {
                return config.clone();
            };
            let Some(value) = value(name).filter(|_| *end == text.len()) else { return config.clone() };
            places.insert(path.clone(), (*name).to_owned());
            value
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(position, item)| below(Segment::Index(position), item)).collect()
        }
        Value::Object(entries) => {
            let all = entries.iter().map(|(name, inner)| (name.clone(), below(Segment::Key(name.clone()), inner)));
            Value::Object(all.collect())
        }
        other => other.clone(),
    }
}

/// Whether a key has a value, as far as the config tells: null is none, and so is a variable with an empty default.
pub(crate) fn is_given(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => default_of(text).is_none_or(|(_, default)| !default.is_null()),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn knows_the_forms_that_are_substituted() {
        let form = |text: &'static str| expressions(text).remove(0).form;
        assert_eq!(form("${env.VLLM_URL}"), Form::Bare("VLLM_URL"));
        assert_eq!(form("x/${env.PORT:=8000}/v1"), Form::Default("PORT", "8000"));
        assert_eq!(form("${env.KEY:+vllm}"), Form::IfSet("KEY", "vllm"));
        for refused in
            ["${env.PORT:8000}", "${env.PORT:-8000}", "${env.port}", "${env.PORT=8000}", "${env.A.B}", "${env.OPEN"]
        {
            assert_eq!(form(refused), Form::Refused, "{refused}");
        }
        assert_eq!(expressions("${OTHER} ${env.A}${env.B:=}").len(), 2);
    }

    #[test]
    fn reads_a_default_as_the_server_does() {
        assert_eq!(default_of("${env.A:=007}"), Some(("A", json!(7))));
        assert_eq!(default_of("${env.A:=1e5}"), Some(("A", json!(100000.0))));
        assert_eq!(default_of("${env.A:=True}"), Some(("A", json!(true))));
        assert_eq!(default_of("${env.A:=}"), Some(("A", Value::Null)));
        assert_eq!(default_of("${env.A:=http://vllm}"), Some(("A", json!("http://vllm"))));
        assert_eq!(default_of("a${env.A:=1}"), None);
    }
}
