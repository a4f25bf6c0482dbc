//! The reference of a version as Markdown, from its schema: `docs/api.md`.

use llsd_generator::api::{ApiVersion, crd};
use serde_json::Value;

/// What is written about one object: its place in a resource, and its fields.
struct Section<'a> {
    path: String,
    schema: &'a Value,
}

/// The page about a version: a table for each object that it describes, in the order in which they contain each other.
pub(super) fn page(version: ApiVersion) -> String {
    let schema = crd::schema(version);
    let mut page = format!(
        "# {} {}\n\nThe fields of `{}`. Written by `llsd schema {} --markdown` from the definition of the resource. Of types \
         that are Kubernetes' own, only the name of the field is told.\n",
        version.kind().name(),
        version.name(),
        version.api_version(),
        version.name(),
    );
    let mut sections = Vec::new();
    for part in ["spec", "status"] {
        let schema = &schema["properties"][part];
        if !schema.is_null() {
            collect(part.to_owned(), schema, &mut sections);
        }
    }
    for section in &sections {
        describe(section, &sections, &mut page);
    }
    page
}

/// The section of an object and those of what is in it. One that is equal to another that is there already has none: lists
/// of the same items stand side by side.
fn collect<'a>(path: String, schema: &'a Value, sections: &mut Vec<Section<'a>>) {
    if sections.iter().any(|known| is_same(known.schema, schema)) {
        return;
    }
    sections.push(Section { path: path.clone(), schema });
    for (name, field) in properties(schema) {
        let (inner, suffix) = content(field);
        if is_described(inner) {
            collect(format!("{path}.{name}{suffix}"), inner, sections);
        }
    }
}

/// The fields of an object, in the order of the schema.
fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// What a field holds one or more of, and how that is written behind its name.
fn content(field: &Value) -> (&Value, &'static str) {
    if field["items"].is_object() {
        (&field["items"], "[]")
    } else if field["additionalProperties"].is_object() {
        (&field["additionalProperties"], ".*")
    } else {
        (field, "")
    }
}

/// Whether an object says what its fields mean. Those of Kubernetes do not.
fn is_described(schema: &Value) -> bool {
    properties(schema).any(|(_, field)| field["description"].is_string())
}

/// Whether two objects have the same fields, whatever is said of the objects.
fn is_same(one: &Value, other: &Value) -> bool {
    one["properties"] == other["properties"] && one["required"] == other["required"]
}

fn describe(section: &Section<'_>, sections: &[Section<'_>], page: &mut String) {
    page.push_str(&format!("\n## {}\n\n", section.path));
    if let Some(description) = section.schema["description"].as_str() {
        page.push_str(&format!("{}\n\n", description.trim()));
    }
    page.push_str("| Field | Type | Meaning |\n|---|---|---|\n");
    let required = section.schema["required"].as_array();
    for (name, field) in properties(section.schema) {
        let mut meaning: Vec<String> = field["description"].as_str().map(in_cell).into_iter().collect();
        if required.is_some_and(|names| names.iter().any(|required| required == name.as_str())) {
            meaning.push("Required.".to_owned());
        }
        meaning.extend(bounds(field));
        let (inner, _) = content(field);
        let told = sections.iter().find(|known| is_described(inner) && is_same(known.schema, inner));
        if let Some(told) = told {
            meaning.push(format!("See [{}](#{}).", told.path, anchor(&told.path)));
        }
        page.push_str(&format!("| `{name}` | {} | {} |\n", kind(field), meaning.join(" ")));
    }
    let rules: Vec<_> = section.schema["x-kubernetes-validations"].as_array().into_iter().flatten().collect();
    if !rules.is_empty() {
        page.push_str("\nRefused by the API server:\n\n");
        for rule in rules {
            let words = rule["message"].as_str().or_else(|| rule["rule"].as_str()).unwrap_or_default();
            page.push_str(&format!("- {}\n", in_cell(words)));
        }
    }
}

/// The type of a field, in words.
fn kind(field: &Value) -> String {
    if field["x-kubernetes-int-or-string"] == true {
        return "integer or text".to_owned();
    }
    match field["type"].as_str() {
        Some("string") => "text".to_owned(),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("array") => format!("list of {}", plural(&field["items"])),
        Some("object") if field["additionalProperties"].is_object() => {
            format!("map to {}", plural(&field["additionalProperties"]))
        }
        Some(other) => other.to_owned(),
        None => "any value".to_owned(),
    }
}

fn plural(item: &Value) -> String {
    match item["type"].as_str() {
        Some("string") => "texts".to_owned(),
        Some(other) => format!("{other}s"),
        None => "values".to_owned(),
    }
}

/// What a value is held to, and what counts without one, each as a sentence.
fn bounds(field: &Value) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(values) = field["enum"].as_array() {
        let values: Vec<_> = values.iter().map(|value| format!("`{}`", bare(value))).collect();
        told.push(format!("One of {}.", values.join(", ")));
    }
    for (least, most, what) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " entries"),
    ] {
        match (field[least].as_i64(), field[most].as_i64()) {
            (Some(least), Some(most)) => told.push(format!("{least} to {most}{what}.")),
            (Some(least), None) => told.push(format!("At least {least}{what}.")),
            (None, Some(most)) => told.push(format!("At most {most}{what}.")),
            (None, None) => {}
        }
    }
    if !field["default"].is_null() {
        told.push(format!("Default: `{}`.", bare(&field["default"])));
    }
    told
}

/// A value without the quotes of a text.
fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text on one line of a table.
fn in_cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// The id that a heading gets from GitHub and from mdBook: letters and digits in lower case, blanks as `-`.
fn anchor(path: &str) -> String {
    path.to_lowercase().chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_reference_is_that_of_the_definition() {
        expect_test::expect_file!["../../../docs/api.md"].assert_eq(&page(ApiVersion::V1Alpha2));
    }

    #[test]
    fn every_link_leads_to_one_section() {
        for version in ApiVersion::ALL {
            let page = page(version);
            let mut headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor).collect();
            let all = headings.len();
            headings.sort();
            headings.dedup();
            assert_eq!(headings.len(), all, "two headings of {version:?} have one id");
            for link in page.split("](#").skip(1) {
                let id = link.split(')').next().unwrap_or_default();
                assert!(headings.iter().any(|heading| heading == id), "{id}");
            }
        }
    }

    #[test]
    fn bounds_are_told() {
        let told = |field: Value| bounds(&field).join(" ");
        assert_eq!(told(json!({"minimum": 1, "maximum": 9, "default": 4})), "1 to 9. Default: `4`.");
        assert_eq!(told(json!({"maxLength": 63, "enum": ["a", "b"]})), "One of `a`, `b`. At most 63 characters.");
        assert_eq!(told(json!({"minItems": 1})), "At least 1 items.");
        assert_eq!(kind(&json!({"type": "array", "items": {"type": "string"}})), "list of texts");
        assert_eq!(in_cell("a | b\n  c"), "a \\| b c");
    }
}
