//! The least that makes a key complete: its required parts, with places to fill in.

use super::offer::escape;
use crate::ide::schema::Schema;
use llsd_yaml::edit::quote_scalar;

/// Nesting past which no more required parts are written out.
const DEPTH: usize = 5;

/// Lines of the entry `name: …` as a snippet.
pub(super) fn entry(name: &str, schema: Schema<'_>) -> Vec<String> {
    let mut stops = Stops(0);
    entry_lines(name, schema, &mut stops, DEPTH)
}

/// Lines of what belongs behind a key that is there already, from the line below it.
pub(super) fn below(schema: Schema<'_>) -> Vec<String> {
    let mut stops = Stops(0);
    value_lines(schema, &mut stops, DEPTH)
}

struct Stops(usize);

impl Stops {
    fn next(&mut self) -> usize {
        self.0 += 1;
        self.0
    }
}

fn entry_lines(name: &str, schema: Schema<'_>, stops: &mut Stops, depth: usize) -> Vec<String> {
    let key = escape(&quote_scalar(name));
    if !schema.is_object() && !schema.is_list() {
        return vec![format!("{key}: {}", scalar(schema, stops))];
    }
    let mut lines = vec![format!("{key}:")];
    if name == "distribution" {
        // it takes a name or an image, which no list of required fields can say
        lines.push(format!("  name: ${{{}:starter}}", stops.next()));
        return lines;
    }
    lines.extend(indented(value_lines(schema, stops, depth)));
    lines
}

fn value_lines(schema: Schema<'_>, stops: &mut Stops, depth: usize) -> Vec<String> {
    if let Some(items) = schema.items().filter(|_| schema.is_list()) {
        let mut lines = if items.is_object() {
            value_lines(items, stops, depth.saturating_sub(1))
        } else {
            vec![scalar(items, stops)]
        };
        for (number, line) in lines.iter_mut().enumerate() {
            line.insert_str(0, if number == 0 { "- " } else { "  " });
        }
        return lines;
    }
    let required: Vec<_> = schema.fields().into_iter().filter(|field| field.required).collect();
    if required.is_empty() || depth == 0 {
        return vec![format!("${}", stops.next())];
    }
    required.into_iter().flat_map(|field| entry_lines(field.name, field.schema, stops, depth - 1)).collect()
}

fn scalar(schema: Schema<'_>, stops: &mut Stops) -> String {
    let stop = stops.next();
    let choices = schema.choices();
    let suggestion = match (schema.default_value(), choices.as_slice()) {
        (Some(default), _) => Some(plain(default)),
        (None, [only]) => Some(plain(only)),
        _ if schema.is_boolean() => Some("true".to_owned()),
        _ => None,
    };
    match suggestion {
        Some(text) => format!("${{{stop}:{}}}", escape(&text)),
        None => format!("${stop}"),
    }
}

fn plain(value: &serde_json::Value) -> String {
    crate::ide::block::inline(value)
}

fn indented(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| format!("  {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn writes_required_parts() {
        let reference = json!({"type": "object", "required": ["name", "key"], "properties": {
            "name": {"type": "string"}, "key": {"type": "string"}, "more": {"type": "string"}}});
        let list = json!({"type": "array", "items": {"type": "object", "required": ["ref", "sure"], "properties": {
            "ref": reference, "sure": {"type": "boolean"}}}});
        assert_eq!(
            entry("keys", Schema::new(&list)).join("\n"),
            "keys:\n  - ref:\n      name: $1\n      key: $2\n    sure: ${3:true}"
        );
    }
}
