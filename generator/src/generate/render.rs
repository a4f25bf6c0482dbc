//! Writes a tree as YAML, and the origin of every line with it.

use super::origin::Origin;
use super::tracked::{Data, Map, Tracked};
use crate::path::Path;
use llsd_yaml::edit::{is_printable, quote_block_scalar};
use std::collections::BTreeMap;
use std::ops::Range;

/// A config as text, with the origin of each line.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The YAML text; ends with a line break unless it is empty.
    pub text: String,
    /// One origin per line of `text`.
    pub lines: Vec<Origin>,
    /// For each path of the resource, and each path above one, the lines that it produced: sorted, disjoint, not
    /// touching. Lines are counted from 0.
    pub produced: BTreeMap<Path, Vec<Range<usize>>>,
}

/// Writes `config`, which is a mapping, in block style with two spaces per level. The same tree gives the same bytes.
#[must_use]
pub fn render(config: &Tracked) -> Rendered {
    let mut writer = Writer::default();
    match &config.data {
        Data::Map(map) if !map.is_empty() => writer.map(map, 0),
        Data::List(items) if !items.is_empty() => writer.list(items, 0),
        _ => writer.scalar_line(config, 0),
    }
    let produced = writer.produced.into_iter().map(|(path, ranges)| (path, joined(ranges))).collect();
    Rendered { text: writer.text, lines: writer.lines, produced }
}

#[derive(Default)]
struct Writer {
    text: String,
    lines: Vec<Origin>,
    produced: BTreeMap<Path, Vec<Range<usize>>>,
    /// Whether the current line has its `- ` or indentation already.
    opened: bool,
}

impl Writer {
    fn map(&mut self, map: &Map, indent: usize) {
        for (key, value) in map {
            let first = self.lines.len();
            self.open(indent);
            self.text.push_str(&quote_block_scalar(key));
            self.text.push(':');
            match &value.data {
                Data::Map(inner) if !inner.is_empty() => {
                    self.close(&value.origin);
                    self.map(inner, indent + 2);
                }
                // A list under a key starts at the key's own column.
                Data::List(items) if !items.is_empty() => {
                    self.close(&value.origin);
                    self.list(items, indent);
                }
                _ => {
                    self.text.push(' ');
                    self.scalar_line(value, indent + 2);
                }
            }
            self.note(&value.origin, first);
        }
    }

    fn list(&mut self, items: &[Tracked], indent: usize) {
        for item in items {
            let first = self.lines.len();
            self.open(indent);
            self.text.push_str("- ");
            match &item.data {
                Data::Map(inner) if !inner.is_empty() => {
                    self.opened = true;
                    self.map(inner, indent + 2);
                }
                Data::List(inner) if !inner.is_empty() => {
                    self.opened = true;
                    self.list(inner, indent + 2);
                }
                _ => self.scalar_line(item, indent + 2),
            }
            self.note(&item.origin, first);
        }
    }

    /// The rest of a line that holds a scalar or an empty collection; a block scalar takes more lines.
    fn scalar_line(&mut self, value: &Tracked, indent: usize) {
        match &value.data {
            Data::Literal(text) if text.is_empty() => self.text.push_str("null"),
            Data::Literal(text) => self.text.push_str(text),
            Data::List(_) => self.text.push_str("[]"),
            Data::Map(_) => self.text.push_str("{}"),
            Data::Text(text) if fits_block(text) => return self.block(text, indent.max(2), &value.origin),
            Data::Text(text) => self.text.push_str(&quote_block_scalar(text)),
        }
        self.close(&value.origin);
    }

    fn block(&mut self, text: &str, indent: usize, origin: &Origin) {
        let (body, header) = match text.strip_suffix('\n') {
            Some(body) => (body, "|"),
            None => (text, "|-"),
        };
        self.text.push_str(header);
        self.close(origin);
        for line in body.split('\n') {
            if !line.is_empty() {
                self.open(indent);
                self.text.push_str(line);
            }
            self.close(origin);
        }
    }

    fn open(&mut self, indent: usize) {
        if !std::mem::take(&mut self.opened) {
            self.text.extend(std::iter::repeat_n(' ', indent));
        }
    }

    fn close(&mut self, origin: &Origin) {
        self.opened = false;
        self.text.push('\n');
        self.lines.push(origin.clone());
    }

    /// Notes that everything since line `first` belongs to a path of the resource, and to the paths above it.
    fn note(&mut self, origin: &Origin, first: usize) {
        let Origin::Resource(path) = origin else { return };
        let range = first..self.lines.len();
        let mut path = path.clone();
        loop {
            match self.produced.get_mut(&path) {
                Some(ranges) => ranges.push(range.clone()),
                None => _ = self.produced.insert(path.clone(), vec![range.clone()]),
            }
            if path.pop().is_none() {
                break;
            }
        }
    }
}

/// Sorts ranges and joins those that overlap or touch.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Whether a literal block says exactly `text`: several lines, no blank at a line's end or at the start of the first,
/// one line break at the end at most, nothing that needs an escape.
fn fits_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && body.split('\n').all(|line| !line.ends_with([' ', '\t']) && line.chars().all(is_printable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(value: &serde_json::Value) -> String {
        let tree = Tracked::from_json(value, &Path::root(), &|path| Origin::Resource(path.clone()));
        render(&tree).text
    }

    #[test]
    fn writes_block_style() {
        let text = shown(&json!({"a": {"b": [1, {"c": "x", "d": []}, [true, {}]]}, "e": null}));
        assert_eq!(text, "a:\n  b:\n  - 1\n  - c: x\n    d: []\n  - - true\n    - {}\ne: null\n");
    }

    #[test]
    fn writes_several_lines_as_a_block() {
        assert_eq!(
            shown(&json!({"p": "one\n  two\n\nthree\n", "q": "a\nb"})),
            "p: |\n  one\n    two\n\n  three\nq: |-\n  a\n  b\n"
        );
        assert_eq!(shown(&json!({"p": "one \ntwo"})), "p: \"one \\ntwo\"\n");
    }

    #[test]
    fn every_line_has_its_origin_and_every_path_its_lines() {
        let tree = Tracked::from_json(&json!({"a": {"b": 1, "c": [2, 3]}}), &Path::parse("spec"), &|path| {
            Origin::Resource(path.clone())
        });
        let rendered = render(&tree);
        assert_eq!(rendered.text.lines().count(), rendered.lines.len());
        assert_eq!(rendered.produced[&Path::parse("spec.a.c")], vec![2..5]);
        assert_eq!(rendered.produced[&Path::parse("spec.a.c[1]")], vec![4..5]);
        assert_eq!(rendered.produced[&Path::parse("spec")], vec![0..5]);
    }
}
