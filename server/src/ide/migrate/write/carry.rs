//! Comments of a folded config: they go to the line that says what they speak of.

use super::super::comments::{self, Stands};
use super::{Writer, find_text, strings};
use llsd_generator::document::Plain;
use llsd_generator::path::{Path, Segment};
use llsd_yaml::Document;
use serde_json::Value;

/// Characters of a text by which its new place is looked for: shorter ones are found by accident.
const TELLING: usize = 4;

impl Writer<'_> {
    /// Writes the comments of a config whose values the resource took in. Returns those that speak of what is not said
    /// there, or is said at several places: they stay behind.
    pub(super) fn carry(&mut self, config: &Document, value: &Value) -> Vec<String> {
        let Some(root) = config.root() else { return Vec::new() };
        let plain = Plain::read(config).value;
        let whole = comments::whole(config, root);
        let outside = config.comments().iter().filter(|one| one.span.start < whole.start || whole.end < one.span.end);
        let mut left: Vec<String> = outside.map(|one| one.span.slice(config.text()).trim_end().to_owned()).collect();
        for comment in comments::inside(config, root) {
            let about = if comment.stands == Stands::Last { None } else { said(&comment.path, &plain, value) };
            match about.and_then(|path| self.first_line(&path)) {
                Some(line) => self.put(line, comment.stands != Stands::Behind, comment.text),
                None => left.push(comment.text),
            }
        }
        left
    }

    /// The line that begins the field or item at `path`.
    fn first_line(&self, path: &Path) -> Option<usize> {
        self.lines.iter().position(|line| line.path.starts_with(path) && !line.text.starts_with('#'))
    }
}

/// Where the resource says what the config says at `path`; `None` if it does not, or at more than one place.
fn said(path: &Path, config: &Value, resource: &Value) -> Option<Path> {
    let spec = Path::root().key("spec");
    let new = spec.find(resource)?;
    let only = |mut found: Vec<Path>| (found.len() == 1).then(|| found.remove(0)).map(|path| joined(&spec, &path));
    let old = path.find(config)?;
    let found = match (path.last()?, old) {
        // an item: where one of its texts is
        (Segment::Index(_), _) => {
            let mut texts = Vec::new();
            strings(old, &mut texts);
            let place = |text: &&str| {
                let mut found = Vec::new();
                find_text(new, text, &Path::root(), &mut found);
                only(found)
            };
            let inside = texts.iter().filter(|text| text.len() >= TELLING).find_map(place)?;
            return item_of(&inside);
        }
        (Segment::Key(_), Value::Object(_) | Value::Array(_)) => return None,
        (Segment::Key(key), scalar) => {
            let mut found = Vec::new();
            entries(new, &[key.clone(), camel(key)], scalar, &Path::root(), &mut found);
            if found.is_empty()
                && let Some(text) = scalar.as_str().filter(|text| text.len() >= TELLING)
            {
                find_text(new, text, &Path::root(), &mut found);
            }
            found
        }
    };
    only(found)
}

fn joined(above: &Path, below: &Path) -> Path {
    above.segments().iter().chain(below.segments()).cloned().collect()
}

/// The innermost list item that a path leads into.
fn item_of(path: &Path) -> Option<Path> {
    let mut at = path.clone();
    while !matches!(at.last()?, Segment::Index(_)) {
        at = at.parent()?;
    }
    Some(at)
}

/// The entries of one of these keys with this value.
fn entries(value: &Value, keys: &[String; 2], wanted: &Value, at: &Path, out: &mut Vec<Path>) {
    match value {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                entries(item, keys, wanted, &at.index(number), out);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                if keys.contains(key) && value == wanted {
                    out.push(at.key(key));
                }
                entries(value, keys, wanted, &at.key(key), out);
            }
        }
        _ => {}
    }
}

/// `model_id` as the resource writes it: `modelId`.
fn camel(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    let mut upper = false;
    for char in key.chars() {
        if char == '_' {
            upper = true;
        } else if std::mem::take(&mut upper) {
            out.extend(char.to_uppercase());
        } else {
            out.push(char);
        }
    }
    out
}
