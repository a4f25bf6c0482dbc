//! Lines moved, commented out and pasted: what stands around them is read as before, and the fault is told where it is.

use std::collections::HashSet;
use std::ops::Range;

use crate::common::damage::key_paths;
use llsd_yaml::{Document, parse_document};

/// A resource-like text, indented by `step`; lists stand at the column of their key if `compact`.
fn text(step: usize, compact: bool) -> String {
    let lines = [
        (0, "head: x"),
        (0, "root:"),
        (1, "a: 1"),
        (1, "b:"),
        (2, "c: x"),
        (2, "d:"),
        (3, "e: y"),
        (3, "f: z"),
        (2, "g: w"),
        (1, "h:"),
        (2, "- i: 1"),
        (3, "j: 2"),
        (2, "- i: 3"),
        (3, "k:"),
        (4, "l: 4"),
        (3, "o: 5"),
        (1, "m: end"),
        (0, "n:"),
        (1, "p: q"),
        (1, "r: s"),
    ];
    let in_list = 10..16;
    let column = |number: usize, level: usize| match level {
        _ if !in_list.contains(&number) => step * level,
        2 => step * (2 - usize::from(compact)),
        _ => step * (2 - usize::from(compact)) + 2 + step * (level - 3),
    };
    let lines = lines
        .iter()
        .enumerate()
        .map(|(number, (level, line))| format!("{}{line}\n", " ".repeat(column(number, *level))));
    lines.collect()
}

fn texts() -> Vec<String> {
    [(2, false), (2, true), (4, false), (4, true)].map(|(step, compact)| text(step, compact)).to_vec()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The lines of the block that begins with line `number`: those below it that stand deeper, and for a key the list at
/// its own column.
fn block(lines: &[&str], number: usize) -> Range<usize> {
    let own = indent(lines[number]);
    let compact = !lines[number].trim().starts_with('-');
    let inside = |line: &&str| indent(line) > own || (compact && indent(line) == own && line.trim().starts_with("- "));
    number..number + 1 + lines[number + 1..].iter().take_while(|line| inside(line)).count()
}

/// The text with other lines instead of some.
fn with(lines: &[&str], range: Range<usize>, new: &[String]) -> String {
    let old = |line: &&str| format!("{line}\n");
    let new = new.iter().map(|line| format!("{line}\n"));
    lines[..range.start].iter().map(old).chain(new).chain(lines[range.end..].iter().map(old)).collect()
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count()
}

/// Asserts that all keys outside of `lines` of the text are where they were in the changed text, and that all errors of
/// that stand on `faults`.
fn stays(before: &str, lines: &Range<usize>, after: &str, faults: &Range<usize>) -> Document {
    let document = parse_document(after);
    let now: HashSet<String> = key_paths(after).into_iter().map(|(path, _)| path).collect();
    for (path, at) in key_paths(before) {
        let outside = !lines.contains(&line_of(before, at));
        assert!(!outside || now.contains(&path), "{path:?} is lost\n{after}\n{:?}", document.errors());
    }
    for error in document.errors() {
        assert!(faults.contains(&line_of(after, error.span.start)), "{error:?}\n{after}");
    }
    document
}

/// A key whose value is below it, commented out or emptied: what is below it is at fault, and nothing else.
#[test]
fn a_parent_that_is_gone() {
    let mut broken = 0;
    for text in texts() {
        let lines: Vec<&str> = text.lines().collect();
        for number in (0..lines.len()).filter(|number| lines[*number].ends_with(':')) {
            let own = indent(lines[number]);
            let blanks = " ".repeat(own);
            let gone = [format!("# {}", lines[number]), format!("{blanks}# {}", lines[number].trim()), blanks];
            for gone in gone {
                let after = with(&lines, number..number + 1, &[gone]);
                let document = parse_document(&after);
                if document.strict_error().is_none() {
                    continue;
                }
                broken += 1;
                let block = block(&lines, number);
                let document = stays(&text, &block, &after, &(number + 1..number + 2));
                assert_eq!(document.errors().len(), 1, "{after}");
            }
        }
    }
    assert!(broken >= 40, "{broken}");
}

/// The dash and first key of an item, commented out: the list goes on behind what is left of the item.
#[test]
fn the_first_line_of_an_item_that_is_gone() {
    for text in texts() {
        let lines: Vec<&str> = text.lines().collect();
        let number = lines.iter().position(|line| line.trim().starts_with("- ")).expect("an item");
        let after = with(&lines, number..number + 1, &[format!("# {}", lines[number])]);
        let list = number..number + 6;
        let document = stays(&text, &list, &after, &(number + 1..number + 2));
        assert_eq!(document.errors().len(), 1, "{after}");
        assert!(key_paths(&after).iter().any(|(path, _)| path.ends_with("h\u{1}0\u{1}k\u{1}l")), "{after}");
    }
}

/// A block moved in or out by half a level or a whole one: what is around it stays, and the fault is on its lines or
/// the next.
#[test]
fn a_block_that_is_moved() {
    let mut broken = 0;
    for text in texts() {
        let lines: Vec<&str> = text.lines().collect();
        for number in 0..lines.len() {
            let block = block(&lines, number);
            let opens = block.len() > 1 && lines[number].ends_with(':');
            for columns in [1isize, 2, -1] {
                let own = indent(lines[number]) as isize;
                if !opens || own + columns < 0 {
                    continue;
                }
                let moved = lines[block.clone()].iter().map(|line| {
                    let column = (indent(line) as isize + columns).unsigned_abs();
                    format!("{}{}", " ".repeat(column), line.trim_start())
                });
                let after = with(&lines, block.clone(), &moved.collect::<Vec<_>>());
                if parse_document(&after).strict_error().is_none() {
                    continue;
                }
                broken += 1;
                stays(&text, &block, &after, &(block.start..block.end + 1));
            }
        }
    }
    assert!(broken >= 60, "{broken}");
}

/// A list of mappings pasted below a key that has a value: the list is at fault, the value stays.
#[test]
fn a_list_below_a_value() {
    for text in texts() {
        let lines: Vec<&str> = text.lines().collect();
        for number in (0..lines.len()).filter(|number| !lines[*number].ends_with(':')) {
            let line = lines[number];
            let own = indent(line) + if line.trim().starts_with("- ") { 2 } else { 0 };
            for column in [own + 1, own + 2, own + 4] {
                // Where a list has just ended, it could go on, and the line between be the one at fault.
                if number > 0 && lines[..number].iter().rev().take(6).any(|above| above.find("- ") == Some(column)) {
                    continue;
                }
                let blanks = " ".repeat(column);
                let pasted = [format!("{blanks}- id: pasted"), format!("{blanks}  other: thing")];
                let after = with(&lines, number + 1..number + 1, &pasted);
                stays(&text, &(0..0), &after, &(number + 1..number + 3));
                let value = line.rsplit(": ").next().expect("a value");
                let document = parse_document(&after);
                assert!(document.nodes().any(|node| node.value() == value), "{after}");
            }
        }
    }
}
