//! Writing a plain value as YAML lines, as a person would.

use llsd_yaml::edit::quote_scalar;
use serde_json::Value;

/// Depth past which a value is written in flow style: deeper nesting comes from no person.
const DEPTH: usize = 64;

/// The lines of `value` in block style, without indentation of the first level.
pub(crate) fn lines(value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    write_lines(value, DEPTH, &mut out);
    out
}

/// The lines of the entry `key: value`.
pub(crate) fn entry(key: &str, value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    write_entry(key, value, DEPTH, &mut out);
    out
}

/// Writes a value in flow style on one line.
pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quote_scalar(text).into_owned(),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        // JSON is YAML, and flow style is only for what no block can hold
        other => other.to_string(),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    }
}

fn write_lines(value: &Value, depth: usize, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() && depth > 0 => {
            for (key, value) in fields {
                write_entry(key, value, depth - 1, out);
            }
        }
        Value::Array(items) if !items.is_empty() && depth > 0 => {
            for item in items {
                write_item(item, depth - 1, out);
            }
        }
        other => out.push(inline(other)),
    }
}

fn write_entry(key: &str, value: &Value, depth: usize, out: &mut Vec<String>) {
    let key = quote_scalar(key);
    if !is_block(value) || depth == 0 {
        if let Some(text) = literal(value) {
            out.push(format!("{key}: {}", text.0));
            out.extend(text.1);
        } else {
            out.push(format!("{key}: {}", inline(value)));
        }
        return;
    }
    out.push(format!("{key}:"));
    let from = out.len();
    write_lines(value, depth, out);
    indent(&mut out[from..]);
}

fn write_item(value: &Value, depth: usize, out: &mut Vec<String>) {
    let from = out.len();
    write_lines(value, depth, out);
    if let Some((first, rest)) = out[from..].split_first_mut() {
        first.insert_str(0, "- ");
        indent(rest);
    }
}

fn indent(lines: &mut [String]) {
    for line in lines.iter_mut().filter(|line| !line.is_empty()) {
        line.insert_str(0, "  ");
    }
}

/// Text of several lines as a literal block, where that keeps every character.
fn literal(value: &Value) -> Option<(&'static str, Vec<String>)> {
    let text = value.as_str()?;
    let body = text.strip_suffix('\n').unwrap_or(text);
    let plain = |line: &str| !line.starts_with([' ', '\t']) && !line.chars().any(char::is_control);
    if !body.contains('\n') || body.ends_with('\n') || !body.lines().next().is_some_and(plain) {
        return None;
    }
    if body.chars().any(|c| c != '\n' && c.is_control()) {
        return None;
    }
    let header = if text.ends_with('\n') { "|" } else { "|-" };
    let lines =
        body.split('\n').map(|line| if line.is_empty() { String::new() } else { format!("  {line}") }).collect();
    Some((header, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn writes_as_a_person_would() {
        let value = json!({"spec": {"list": [{"a": 1, "b": ["x", "yes"]}, []], "none": {}, "text": "one\n\ntwo\n"}});
        assert_eq!(
            lines(&value).join("\n"),
            "spec:\n  list:\n    - a: 1\n      b:\n        - x\n        - \"yes\"\n    - []\n  none: {}\n  text: |\n    one\n\n    two"
        );
    }
}
