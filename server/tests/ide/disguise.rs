//! The same file in another dress: line ends, a byte order mark, templates, and what editors and version control leave
//! behind; and files that are made to be too much.

use crate::ide::replay::changes::{lines, words};
use crate::ide::replay::files::{self, File};
use crate::ide::replay::rule::{Finished, line_of};
use crate::ide::support::{analyse, v1alpha2};
use llsd::ide;
use rayon::prelude::*;
use std::collections::BTreeSet;

const SYNTAX: &str = "llsd::yaml::syntax";

/// The remark that a value is to be replaced, which is what some disguises ask for.
const PLACEHOLDER: &str = "llsd::value::placeholder";

fn said(text: &str) -> BTreeSet<(usize, &'static str, String)> {
    let found = analyse(text).diagnostics().into_iter();
    found.map(|one| (line_of(text, one.span.start), one.code, one.path)).collect()
}

fn codes(text: &str) -> Vec<&'static str> {
    analyse(text).diagnostics().into_iter().map(|one| one.code).collect()
}

#[test]
fn line_ends_change_nothing() {
    for file in files::all() {
        assert_eq!(said(&file.text.replace('\n', "\r\n")), said(&file.text), "{}", file.name);
    }
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    for file in files::all() {
        assert_eq!(said(&format!("\u{feff}{}", file.text)), said(&file.text), "{}", file.name);
    }
}

/// A file in disguise, and for each of its lines which one of the file it is; `None` for lines of the disguise.
type Disguised = (String, Vec<Option<usize>>);

/// What files in disguise say beyond what the files themselves say. `change` gives all disguises of a file.
fn invented(change: impl Fn(&File) -> Vec<Disguised> + Sync) -> Vec<String> {
    let all = files::all().into_par_iter().flat_map_iter(|file| {
        let finished = Finished::new(&file.text);
        let mut kinds = BTreeSet::new();
        let mut shown = Vec::new();
        for (text, origin) in change(&file) {
            for found in analyse(&text).diagnostics() {
                let line = line_of(&text, found.span.start);
                let Some(before) = origin.get(line).copied().flatten() else { continue };
                // A line that is at fault may be told so by another rule: some need to know the whole resource.
                let known = finished.said().iter().any(|(line, _)| *line == before) || found.code == PLACEHOLDER;
                if !known && kinds.insert((found.code, found.message.clone())) {
                    let changed = origin.iter().position(|line| line.is_none()).unwrap_or(line);
                    let lines: Vec<_> = text.lines().skip(line.min(changed).saturating_sub(2)).take(9).collect();
                    let (name, message) = (&file.name, &found.message);
                    shown.push(format!("{name} line {}: [{}] {message}\n{}", line + 1, found.code, lines.join("\n")));
                }
            }
        }
        shown
    });
    all.collect()
}

/// The file with the line at `at`, which is number `number`, in another shape: `None` stands for an added line,
/// `Some` for the line itself.
fn reshaped(text: &str, at: usize, number: usize, shape: &[(String, Option<usize>)]) -> Disguised {
    let new: String = shape.iter().map(|(line, _)| line.as_str()).collect();
    let end = at + text[at..].find('\n').map_or(text.len() - at, |length| length + 1);
    let behind = number + 1..text.lines().count();
    let origin = (0..number).map(Some).chain(shape.iter().map(|(_, line)| *line)).chain(behind.map(Some));
    ([&text[..at], &new, &text[end..]].concat(), origin.collect())
}

/// Every third line with text, outside of block scalars, with its number and offset.
fn plain_lines(file: &File) -> impl Iterator<Item = (usize, usize, &str)> {
    let all = lines(&file.text).enumerate().map(|(number, (start, line))| (number, start, line));
    let filled = all.filter(|(_, _, line)| line.ends_with('\n') && !line.trim().is_empty());
    filled.filter(|(_, start, _)| start % 3 == 0 && !is_in_block(file, *start))
}

/// A value that is not known is not wrong: not on its line, and not elsewhere. Every fifth value is replaced.
#[test]
fn a_template_in_place_of_a_value_invents_nothing() {
    let mut all = Vec::new();
    for template in ["{{ .Values.it }}", "\"{{ .Values.it }}\"", "<it>", "\"${IT}\""] {
        let found = invented(|file| {
            let plain =
                words(&file.text).into_iter().filter(|word| !word.is_key && !word.is_quoted && word.start % 5 == 0);
            let put = |start, end| {
                let mut text = file.text.clone();
                text.replace_range(start..end, template);
                (text, (0..file.text.lines().count()).map(Some).collect())
            };
            plain.map(|word| put(word.start, word.end)).collect()
        });
        all.extend(found);
    }
    assert!(all.is_empty(), "{} found\n{}", all.len(), all.join("\n\n"));
}

#[test]
fn lines_of_template_control_are_not_there() {
    let found = invented(|file| {
        let put = |(number, start, line): (usize, usize, &str)| {
            let indent = " ".repeat(line.len() - line.trim_start_matches(' ').len());
            let control = |words: &str| (format!("{indent}{{{{- {words} }}}}\n"), None);
            let shape = [control("if .Values.it"), (line.to_owned(), Some(number)), control("end")];
            reshaped(&file.text, start, number, &shape)
        };
        plain_lines(file).map(put).collect()
    });
    assert!(found.is_empty(), "{} found\n{}", found.len(), found.join("\n\n"));
}

/// Two sides of a value: both are there, the marks are faults, and nothing around them is. (Where the sides are lines
/// with more below them, what is below belongs to one side alone, and the other one is rightly said to lack it.)
#[test]
fn a_conflict_about_a_value_is_a_fault_of_its_own_lines() {
    let found = invented(|file| {
        let values: Vec<_> = words(&file.text).into_iter().filter(|word| !word.is_key).collect();
        let has_value = |(_, start, line): &(usize, usize, &str)| {
            let here = |at: usize| (*start..start + line.len()).contains(&at);
            !line.trim_start().starts_with('-') && values.iter().any(|word| here(word.start))
        };
        let put = |(number, start, line): (usize, usize, &str)| {
            let shape = ["<<<<<<< ours\n", line, "=======\n", line, ">>>>>>> theirs\n"];
            reshaped(&file.text, start, number, &shape.map(|line| (line.to_owned(), None)))
        };
        plain_lines(file).filter(has_value).map(put).collect()
    });
    // Known: in one file, which ends in a half-typed key, that key is read as more of the value above it.
    assert!(found.len() <= 1, "{} found\n{}", found.len(), found.join("\n\n"));
}

/// A block scalar keeps every line as text, also one of template control.
fn is_in_block(file: &File, at: usize) -> bool {
    let stream = llsd_yaml::Stream::parse(&file.text);
    let located = stream.documents().iter().rfind(|located| located.offset <= at);
    located.is_some_and(|located| {
        let mut blocks = located.document.nodes().filter_map(|node| node.block());
        blocks.any(|block| {
            let content = block.content.shift(located.offset);
            content.start <= at && at <= content.end
        })
    })
}

#[test]
fn conflict_markers_hide_nothing_else() {
    let text = v1alpha2("distribution:\n  name: startr\nworkload:\n@\n  replicas: 2\n@\n  replicas: 3\n@\n");
    // markers stand at the margin
    let marks = ["<<<<<<< ours", "=======", ">>>>>>> theirs"];
    let text = marks.iter().fold(text, |text, mark| text.replacen("  @", mark, 1));
    let codes = codes(&text);
    assert!(codes.contains(&SYNTAX), "{codes:?}");
    assert!(codes.contains(&"llsd::distribution::unknown"), "{codes:?}");
    assert!(!codes.contains(&"llsd::schema::unknown-field"), "{codes:?}");
}

#[test]
fn tabs_are_one_fault() {
    let text = v1alpha2("distribution:\n\tname: starter\nnetworking:\n  port: 80\n");
    let codes = codes(&text);
    assert_eq!(codes.iter().filter(|code| **code == SYNTAX).count(), 1, "{codes:?}");
    assert!(codes.contains(&"llsd::schema::bounds"), "{codes:?}");
}

#[test]
fn letters_outside_the_basic_plane_are_letters() {
    let text = v1alpha2("distribution:\n  name: starter # 🦀\nproviders:\n  inference:\n    - provider: 🦀🦀\n");
    let analysis = analyse(&text);
    let found = analysis.diagnostics();
    assert!(found.iter().any(|one| &text[one.span.start..one.span.end] == "🦀🦀"), "{found:?}");
    let at = text.find("🦀🦀").unwrap();
    for offset in at..at + 8 {
        let _ = (ide::complete(&analysis, offset), ide::hover(&analysis, offset));
    }
}

/// The answers on a text that is too much: there are some, and they are not too much themselves.
fn is_answered(text: &str) {
    let analysis = analyse(text);
    let found = analysis.diagnostics();
    assert!(found.iter().all(|one| one.message.len() < 1 << 12), "a message repeats the text");
    for at in [0, text.len() / 2, text.len()] {
        let at = (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap();
        assert!(ide::complete(&analysis, at).len() < 200);
        assert!(ide::hover(&analysis, at).is_none_or(|found| found.markdown.len() < 1 << 16));
        let mut edited = text.to_owned();
        edited.insert(at, 'x');
        let now = ide::analyse(edited.into(), Some(&analysis), &ide::Workspace::new());
        let _ = now.diagnostics();
    }
    let _ = (ide::symbols(&analysis), ide::folds(&analysis), ide::tokens(&analysis, None).len());
}

#[test]
fn a_very_long_line_is_answered() {
    let long = "x".repeat(1 << 20);
    is_answered(&v1alpha2(&format!("distribution:\n  name: {long}\n")));
    is_answered(&v1alpha2(&format!("{long}: 1\n")));
    is_answered(&v1alpha2(&format!("# {long}\ndistribution: {{name: starter}}\n")));
    is_answered(&v1alpha2(&format!("disabled: [{}]\n", "eval, ".repeat(50_000))));
    is_answered(&long);
}

#[test]
fn very_many_lines_are_answered() {
    let resource = |inside: &str| v1alpha2(&format!("{inside}distribution:\n  name: starter\n"));
    is_answered(&resource(&"# nothing\n".repeat(10_000)));
    is_answered(&resource(&"\n".repeat(10_000)));
    let models: String = (0..5_000).map(|number| format!("  - name: m{number}\n    provider: vllm\n")).collect();
    is_answered(&resource(&format!("resources:\n models:\n{models}")));
    let unknown: String = (0..10_000).map(|number| format!("field{number}: x\n")).collect();
    is_answered(&resource(&unknown));
    is_answered(&"---\n".repeat(10_000));
    is_answered(&"}\n".repeat(10_000));
}

#[test]
fn very_deep_texts_are_answered() {
    is_answered(&v1alpha2(&format!("distribution: {}\n", "[".repeat(20_000))));
    is_answered(&v1alpha2(&format!("distribution: {}\n", "{a: ".repeat(10_000))));
    is_answered(&v1alpha2(&format!("{}x\n", "- ".repeat(10_000))));
    let stairs: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    is_answered(&v1alpha2(&stairs));
}

/// Dashes and colons without anything: the reader of YAML once went on for ever, and took all memory.
#[test]
fn signs_without_text_are_answered() {
    is_answered("::\n    - :\n    :");
    is_answered(&v1alpha2("::\n    - :\n    :"));
}

/// Ten aliases of ten aliases and so on: a thousand million values in a few lines.
#[test]
fn a_bomb_of_aliases_is_said_to_be_too_large() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let below = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [below.as_str(); 10].join(", ")));
    }
    let text = v1alpha2(&format!("{bomb}distribution:\n  name: startr\n"));
    is_answered(&text);
    let codes = codes(&text);
    assert!(codes.contains(&"llsd::yaml::too-large"), "{codes:?}");
    assert!(codes.contains(&"llsd::distribution::unknown"), "{codes:?}");
    is_answered(&v1alpha2("distribution: &a\n  name: *a\n  <<: *a\n"));
}
