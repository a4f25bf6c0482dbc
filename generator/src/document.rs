//! From YAML text to the plain value that the checks look at.

mod control;
mod expand;
mod template;

pub(crate) use expand::{Shape, Tree, expand};
pub use template::Placeholder;
pub(crate) use template::{is_to_fill, placeholder};

use crate::path::{Path, Segment};
use llsd_yaml::{Document, Node, Resolved, Rules, Style};
use serde_json::{Map, Number, Value};
use std::collections::BTreeSet;

/// A document as `kubectl` would send it, and what is not known about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plain {
    /// The value; null for an empty document. Scalars are resolved as Kubernetes tools do.
    pub value: Value,
    /// Places whose value a template will fill in. They hold the text as written.
    pub unknown: BTreeSet<Path>,
    /// Places that are still to be filled in by the user, such as `<namespace>`. All of them are in `unknown` too.
    pub placeholders: BTreeSet<Path>,
    /// Places whose whole value is one shell variable without quotes, `${NAME}` or `$NAME`. All of them are in
    /// `unknown` too.
    pub bare: BTreeSet<Path>,
    /// Entries whose key occurs a second time in its mapping. The last one is in `value`.
    pub duplicates: Vec<Path>,
    /// Places whose value was left out, because aliases made the document too large or it is nested too deep. They
    /// hold null, and are in `unknown` too.
    pub exceeded: Vec<Path>,
}

impl Plain {
    /// Reads a document. Anchors and merge keys are expanded within a budget; never fails.
    #[must_use]
    pub fn read(document: &Document) -> Self {
        let mut plain = Self::default();
        if let Some(root) = document.root() {
            let tree = expand(root);
            plain.value = value(tree, &mut Path::root(), &mut plain);
        }
        if !document.skipped().is_empty() {
            plain.unknown.append(&mut control::uncertain(document));
            // An entry of each branch of a condition is no second one.
            plain.duplicates.retain(|path| !plain.unknown.contains(path));
        }
        plain
    }
}

/// The path that llsd-yaml's steps stand for.
#[must_use]
pub fn path_of(steps: &[llsd_yaml::Step]) -> Path {
    let segments = steps.iter().map(|step| match step {
        llsd_yaml::Step::Key(name) => Segment::Key(name.clone()),
        llsd_yaml::Step::Index(position) => Segment::Index(*position),
    });
    segments.collect()
}

// As deep as `expand` lets a tree become.
fn value(tree: Tree<'_>, at: &mut Path, plain: &mut Plain) -> Value {
    match tree.shape {
        Shape::Exceeded => {
            plain.unknown.insert(at.clone());
            plain.exceeded.push(at.clone());
            Value::Null
        }
        Shape::Dangling => {
            plain.unknown.insert(at.clone());
            Value::Null
        }
        Shape::Scalar => scalar(tree.node, at, plain),
        Shape::List(items) => {
            let mut values = Vec::with_capacity(items.len());
            for (position, item) in items.into_iter().enumerate() {
                at.push(Segment::Index(position));
                values.push(value(item, at, plain));
                at.pop();
            }
            Value::Array(values)
        }
        Shape::Map(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for entry in entries {
                let is_filled_in = template::placeholder(&entry.key).is_some();
                at.push(Segment::Key(entry.key));
                if entry.twice {
                    plain.duplicates.push(at.clone());
                }
                let inner = value(entry.value, at, plain);
                if is_filled_in {
                    plain.unknown.insert(at.clone());
                }
                if let Some(Segment::Key(key)) = at.pop() {
                    map.insert(key, inner);
                }
            }
            Value::Object(map)
        }
    }
}

fn scalar(node: Node<'_>, at: &Path, plain: &mut Plain) -> Value {
    let text = node.value();
    match template::placeholder(&text) {
        Some(Placeholder::Template) => {
            plain.unknown.insert(at.clone());
            if node.style() == Style::Plain && template::is_variable(&text) {
                plain.bare.insert(at.clone());
            }
            return Value::String(text.into_owned());
        }
        Some(Placeholder::ToFill) => {
            plain.unknown.insert(at.clone());
            plain.placeholders.insert(at.clone());
            return Value::String(text.into_owned());
        }
        None => {}
    }
    match node.resolve(Rules::Kubernetes) {
        Resolved::Null => Value::Null,
        Resolved::Bool(flag) => Value::Bool(flag),
        Resolved::Int(number) => integer(number),
        // JSON has no infinity: the text stands for it, and is as wrong as the number would be.
        Resolved::Float(number) => {
            Number::from_f64(number).map_or_else(|| Value::String(text.into_owned()), Value::Number)
        }
        Resolved::Str => Value::String(text.into_owned()),
    }
}

fn integer(number: i128) -> Value {
    if let Ok(small) = i64::try_from(number) {
        return Value::from(small);
    }
    if let Ok(small) = u64::try_from(number) {
        return Value::from(small);
    }
    Number::from_f64(number as f64).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Plain {
        Plain::read(&llsd_yaml::parse_document(text))
    }

    fn paths(found: &BTreeSet<Path>) -> Vec<String> {
        found.iter().map(Path::to_string).collect()
    }

    #[test]
    fn resolves_as_kubernetes_tools_do() {
        let plain = read("a: yes\nb: 0777\nc: 1.5\nd: ~\ne: '1'\nf:\n- x\n- {g: 1}\n1: y\n");
        assert_eq!(
            plain.value,
            json!({"a": true, "b": 511, "c": 1.5, "d": null, "e": "1", "f": ["x", {"g": 1}], "1": true})
        );
    }

    #[test]
    fn expands_aliases_and_merge_keys() {
        let plain = read("base: &b {x: 1, z: 2}\nuse:\n  <<: *b\n  z: 3\nagain: *b\n");
        assert_eq!(plain.value, json!({"base": {"x": 1, "z": 2}, "use": {"x": 1, "z": 3}, "again": {"x": 1, "z": 2}}));
        assert!(plain.duplicates.is_empty());
    }

    #[test]
    fn notes_duplicates_and_keeps_the_last() {
        let plain = read("a: 1\nb: {c: 1, c: 2}\na: 3\n");
        assert_eq!(plain.value, json!({"a": 3, "b": {"c": 2}}));
        let found: Vec<String> = plain.duplicates.iter().map(Path::to_string).collect();
        assert_eq!(found, ["a", "b.c"]);
    }

    #[test]
    fn what_templates_fill_in_is_unknown() {
        let plain = read(
            "a: ${HOST}\nb: ${env.VLLM_URL:=x}\nc: http://<host>:80\nd: \"{{ .Values.x }}\"\ne: $(POD)\nf: $name\ng: a < b > c\nh: {{ .Values.y }}\n",
        );
        assert_eq!(paths(&plain.unknown), ["a", "c", "d", "f", "h"]);
        assert_eq!(paths(&plain.placeholders), ["c"]);
    }

    #[test]
    fn an_alias_bomb_stays_small() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..30 {
            let inner = format!("*a{}", level - 1);
            text.push_str(&format!("a{level}: &a{level} [{}]\n", [inner.as_str(); 9].join(", ")));
        }
        let plain = read(&text);
        assert!(!plain.exceeded.is_empty());
    }

    #[test]
    fn depth_is_bounded() {
        let plain = read(&format!("{}{}", "[".repeat(5000), "]".repeat(5000)));
        assert_eq!(plain.exceeded.len(), 1);
    }
}
