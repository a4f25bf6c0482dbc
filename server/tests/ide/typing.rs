//! Files typed from the first character to the last, deleted, edited and pasted.

use crate::ide::replay::ask::wishes;
use crate::ide::replay::changes::{PASTED, blocks, joined, lines, words};
use crate::ide::replay::rule::Finished;
use crate::ide::replay::{Gap, Typist, ask_everything, files, line_end, line_start};
use llsd::ide::{self, Workspace};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What became of the work on all files.
struct Outcome {
    steps: usize,
    disturbed: usize,
    /// Steps with diagnostics elsewhere that are right, by the reason.
    granted: BTreeMap<&'static str, usize>,
    /// By kind: how many files, and one example.
    kinds: BTreeMap<String, (usize, String)>,
}

impl Outcome {
    #[expect(clippy::print_stdout, reason = "the list is asked for")]
    fn of(work: impl Fn(&mut Typist<'_>, &Finished) + Sync) -> Self {
        let all: Vec<_> = files::all()
            .into_par_iter()
            .map(|file| {
                let finished = Finished::new(&file.text);
                let mut typist = Typist::new(&finished);
                work(&mut typist, &finished);
                for found in typist.all.iter().flatten() {
                    println!("@ {}: {found}\n", file.name);
                }
                (file.name, typist.steps, typist.disturbed, typist.granted, typist.surprises)
            })
            .collect();
        let mut outcome = Self { steps: 0, disturbed: 0, granted: BTreeMap::new(), kinds: BTreeMap::new() };
        for (name, steps, disturbed, granted, surprises) in all {
            outcome.steps += steps;
            outcome.disturbed += disturbed;
            granted.into_iter().for_each(|(reason, count)| *outcome.granted.entry(reason).or_default() += count);
            for (what, example) in surprises {
                outcome.kinds.entry(what).or_insert_with(|| (0, format!("{name}: {example}"))).0 += 1;
            }
        }
        outcome
    }

    fn shown(&self, which: impl Fn(&str) -> bool) -> String {
        let kinds = self.kinds.iter().filter(|(what, _)| which(what));
        let shown: Vec<_> =
            kinds.map(|(what, (count, example))| format!("{what} ({count} files)\n{example}")).collect();
        shown.join("\n\n")
    }
}

/// Runs `work` on every file. Nothing may go against the rules; what does is shown by kind, each with one example.
fn on_every_file(work: impl Fn(&mut Typist<'_>, &Finished) + Sync) {
    let outcome = Outcome::of(work);
    let (kinds, steps) = (outcome.kinds.len(), outcome.steps);
    assert!(kinds == 0, "{kinds} surprises in {steps} steps\n\n{}", outcome.shown(|_| true));
}

/// Runs `work` on every file. No other document may be lost, nor what is said about it, and of a thousand steps at
/// least `calm` have to leave the lines around alone, too. The goal is all of them; each test says what was measured
/// and why.
#[expect(clippy::print_stdout, reason = "how much is let go is worth a look")]
fn mostly_on_every_file(calm: usize, work: impl Fn(&mut Typist<'_>, &Finished) + Sync) {
    let outcome = Outcome::of(work);
    let lost = outcome.shown(|what| what.starts_with("lost"));
    assert!(lost.is_empty(), "{lost}");
    let (steps, disturbed) = (outcome.steps, outcome.disturbed);
    println!("{disturbed} of {steps} steps disturb; right: {:?}", outcome.granted);
    let share = 1000 * (steps - disturbed) / steps.max(1);
    assert!(share >= calm, "{disturbed} of {steps} steps disturb\n{}", outcome.shown(|_| true));
}

fn boundaries(text: &str) -> impl DoubleEndedIterator<Item = usize> + '_ {
    (0..=text.len()).filter(|at| text.is_char_boundary(*at))
}

/// Every character of every file is one step.
#[test]
fn typing_disturbs_no_other_line() {
    on_every_file(|typist, finished| {
        let end = finished.text.len();
        boundaries(&finished.text).for_each(|start| _ = typist.step(Gap { start, end, typed: "" }));
    });
}

/// Every character of every file is one step.
#[test]
fn deleting_backwards_disturbs_no_other_line() {
    on_every_file(|typist, finished| {
        let end = finished.text.len();
        boundaries(&finished.text).rev().for_each(|start| _ = typist.step(Gap { start, end, typed: "" }));
    });
}

/// Each line is deleted from its end, character by character. Every eleventh line or so: those that begin at a multiple
/// of 11. Of 9,333 steps 21 are disturbed.
#[test]
fn writing_a_line_anew_mostly_disturbs_no_other() {
    mostly_on_every_file(997, |typist, finished| {
        let text = &finished.text;
        for (start, line) in lines(text).filter(|(start, _)| start % 11 == 0) {
            let end = line_end(text, start);
            let content = start + (line.len() - line.trim_start().len());
            for cursor in boundaries(text).rev().skip_while(|at| *at >= end).take_while(|at| *at >= content) {
                typist.step(Gap { start: cursor, end, typed: "" });
            }
            typist.step(Gap { start: end, end, typed: "" });
        }
    });
}

/// Keys and values in front of what stays behind them. Every third
/// word or so. (Of all 18,300 steps one is disturbed: a half-typed tool group makes a remark about the next one apply.)
#[test]
fn writing_a_word_anew_disturbs_no_other_line() {
    on_every_file(|typist, finished| {
        for word in words(&finished.text).into_iter().filter(|word| word.start % 3 == 0) {
            let length = word.end - word.start;
            for written in [0, 1, 2, 3, length / 2, length - 1] {
                let start = word.start + written;
                if written < length && finished.text.is_char_boundary(start) {
                    typist.step_in_sight(Gap { start, end: word.end, typed: "" });
                }
            }
        }
    });
}

/// A word is offered where it stood, in front of what stays behind it: of a key its colon and all that is below.
#[test]
fn a_word_written_anew_is_offered() {
    let missed: Vec<String> = files::all()
        .into_par_iter()
        .flat_map_iter(|file| {
            let (text, mut missed, mut before) = (&file.text, Vec::new(), None);
            // escapes are not written as they are read
            for wish in wishes(text).into_iter().filter(|wish| text[wish.start..].starts_with(&wish.text)) {
                for letters in (0..3).filter(|letters| wish.text.is_char_boundary(*letters)) {
                    let (cursor, end) = (wish.start + letters, wish.start + wish.text.len());
                    let now = format!("{}{}", &text[..cursor], &text[end..]);
                    let now = ide::analyse(now.into(), before.as_ref(), &Workspace::new());
                    let offers = ide::complete(&now, cursor);
                    if !offers.iter().any(|offer| offer.label == wish.text || offer.detail == wish.text) {
                        let line = &text[line_start(text, cursor)..line_end(text, end)];
                        let offers: Vec<_> = offers.iter().take(8).map(|offer| &offer.label).collect();
                        missed.push(format!(
                            "{} {} after {letters} letters of\n{line}\n{offers:?}",
                            file.name, wish.class
                        ));
                    }
                    before = Some(now);
                }
            }
            missed
        })
        .collect();
    // Two keys and two variables that are written twice are not offered a second time.
    assert!(missed.len() <= 12, "{} missed\n{}", missed.len(), missed.join("\n"));
}

/// Every third line or so with the next one. Of 1,846 steps 17 are disturbed, and in 28 more it is right to say something
/// elsewhere, ten of them because the line between two documents is joined and they are one. Known cause: what was
/// below the second line is below another key.
#[test]
fn joining_two_lines_loses_nothing() {
    mostly_on_every_file(990, |typist, finished| {
        for (start, _) in lines(&finished.text).filter(|(start, _)| start % 3 == 0) {
            joined(&finished.text, start).into_iter().flatten().for_each(|gap| _ = typist.step(gap));
        }
    });
}

/// Every fifth block or so. Of 1,920 steps 19 are disturbed; known cause: several lines behind a block that was moved
/// out belong to the block around it, which has ended.
#[test]
fn moving_a_block_loses_nothing() {
    mostly_on_every_file(990, |typist, finished| {
        for block in blocks(&finished.text).into_iter().filter(|block| block.start % 5 == 0) {
            for columns in block.shifts() {
                let typed = block.moved(&finished.text, columns);
                typist.step(Gap { start: block.start, end: block.end, typed: &typed });
            }
        }
    });
}

/// One line, and all of its block. Of 5,622 steps 43 are disturbed, and in some more it is right to say something elsewhere:
/// where the key of a list alone is commented out, its items are more items of the list above.
#[test]
fn commenting_mostly_disturbs_no_other_line() {
    mostly_on_every_file(992, |typist, finished| {
        for block in blocks(&finished.text) {
            typist.step(Gap { start: block.start, end: block.start, typed: "# " });
            let typed = block.commented(&finished.text);
            typist.step(Gap { start: block.start, end: block.end, typed: &typed });
        }
    });
}

/// A block of the file once more behind itself, where it belongs and where it does not. Every fifth block or so. Of
/// 2,196 steps 44 are disturbed, and in 60 more it is right to say something elsewhere: providers without ids that were
/// alone in their list are not alone any more. Known cause: a copy that stands half a level off is read as a part of
/// what is above it.
#[test]
fn pasting_a_copy_loses_nothing() {
    mostly_on_every_file(979, |typist, finished| {
        for block in blocks(&finished.text).into_iter().filter(|block| block.start % 5 == 0) {
            for columns in block.shifts().chain([0]) {
                let typed = block.moved(&finished.text, columns);
                typist.step(Gap { start: block.end, end: block.end, typed: &typed });
            }
        }
    });
}

/// Whole texts in front of every third line or so. Of 2,396 steps 121 are disturbed, and in 165 more it is right to say
/// something elsewhere: a marker cuts the document, and what is behind it is not in the one above any more; a resource
/// without a marker gives each key of the file twice. Known cause: a text at the margin ends the mapping that it is
/// pasted into, so that the lines behind it belong to none.
#[test]
fn pasting_something_else_loses_nothing() {
    mostly_on_every_file(949, |typist, finished| {
        for (number, (start, _)) in lines(&finished.text).enumerate().filter(|(_, (start, _))| start % 3 == 0) {
            let (_, typed) = PASTED[number % PASTED.len()];
            typist.step(Gap { start, end: start, typed });
        }
        for (_, typed) in PASTED {
            typist.step(Gap { start: finished.text.len(), end: finished.text.len(), typed });
        }
    });
}

/// What is known after an edit is what a fresh look finds.
#[test]
fn deleting_anywhere_is_understood_as_if_new() {
    files::all().into_par_iter().for_each(|file| {
        let text = file.text;
        let whole = ide::analyse(text.as_str().into(), None, &Workspace::new());
        for start in (0..text.len()).step_by(41).filter(|start| text.is_char_boundary(*start)) {
            let end = (start + 7).min(text.len());
            let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap();
            let mut cut = text.clone();
            cut.replace_range(start..end, "");
            let now = ide::analyse(cut.as_str().into(), Some(&whole), &Workspace::new());
            let fresh = ide::analyse(cut.as_str().into(), None, &Workspace::new());
            assert_eq!(now.diagnostics(), fresh.diagnostics());
            ask_everything(&now, start, true);
        }
    });
}
