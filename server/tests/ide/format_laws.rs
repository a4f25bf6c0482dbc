//! Laws of formatting, on samples and cases that were damaged in thousands of ways: the value of no document changes,
//! a second pass changes nothing, broken texts and templates stay as they are.

use crate::ide::support::{analyse, apply};
use llsd::ide::{self, FormatOptions, Span};
use llsd_generator::document::Plain;
use llsd_yaml::Stream;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;

/// A small generator of random numbers, so that every run damages the same places.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound.max(1)
    }
}

fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files: Vec<_> = ["samples", "tests/cases"]
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut texts = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            texts.push(text);
        } else {
            let blocks = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
            texts.extend(blocks.map(str::to_owned));
        }
    }
    texts
}

/// A value in which the text of a config counts as what it says: it is formatted, too.
fn with_configs_read(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains("provider_type") => {
            json!({"a text with": Plain::read(&llsd_yaml::parse_document(&text)).value})
        }
        Value::Array(items) => items.into_iter().map(with_configs_read).collect(),
        Value::Object(entries) => {
            entries.into_iter().map(|(key, value)| (key, with_configs_read(value))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// What all documents of a text say, and whether they are well-formed.
fn values(text: &str) -> (Vec<Value>, bool) {
    let stream = Stream::parse(text);
    let well_formed =
        |one: &llsd_yaml::Located| one.document.errors().is_empty() && one.document.strict_error().is_none();
    let read = |one: &llsd_yaml::Located| with_configs_read(Plain::read(&one.document).value);
    (stream.documents().iter().map(read).collect(), stream.documents().iter().all(well_formed))
}

/// One change such as typing, pasting and other formatters leave.
fn damaged(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        let count = lines.len();
        let first = random.below(count);
        let last = (first + random.below(6)).min(count - 1);
        match random.below(9) {
            // a block further right, or further left
            0 | 1 => lines[first..=last].iter_mut().for_each(|line| line.insert_str(0, "  ")),
            2 => lines[first..=last].iter_mut().for_each(|line| _ = line.starts_with(' ').then(|| line.remove(0))),
            3 => lines[first] = lines[first].replace('\n', "   \n"),
            4 => lines.insert(first, "\n\n\n".to_owned()),
            5 => lines.insert(first, format!("{}# note\n", " ".repeat(random.below(9)))),
            6 => lines[first] = lines[first].replacen("- ", "-    ", 1),
            7 => lines[first] = lines[first].replace('\n', " # behind\n"),
            _ => {
                let place = random.below(lines[first].len());
                let signs = ["\t", "\"", "'", "[", "{", ": ", "|", "\r", "é", "&a ", "{{ x }}", "#"];
                if lines[first].is_char_boundary(place) {
                    lines[first].insert_str(place, signs[random.below(signs.len())]);
                }
            }
        }
    }
    lines.concat()
}

#[test]
fn damaged_texts_keep_their_meaning() {
    let mut random = Random(7);
    let mut moved = 0;
    for text in texts() {
        for _ in 0..40 {
            let text = damaged(&text, &mut random);
            let options = FormatOptions { indent: [2, 4, 3][random.below(3)], ..FormatOptions::default() };
            let start = random.below(text.len());
            let range = Span::new(start, start + random.below(text.len() - start));
            let (before, well_formed) = values(&text);
            for range in [None, Some(range)] {
                let edits = ide::format(&analyse(&text), range, &options);
                let after = apply(&text, &edits);
                let (now, still) = values(&after);
                assert_eq!(now, before, "{text}\n->\n{after}");
                assert_eq!(still, well_formed, "{text}\n->\n{after}");
                if range.is_none() {
                    moved += usize::from(!edits.is_empty());
                    let again = ide::format(&analyse(&after), None, &options);
                    assert!(again.is_empty(), "{text}\n->\n{after}\n{again:?}");
                }
            }
        }
    }
    // else nothing was proved
    assert!(moved > 500, "{moved}");
}
