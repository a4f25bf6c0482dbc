//! Files typed from the first character to the last, deleted, edited and pasted.

use crate::replay::rule::Finished;
use crate::replay::{Gap, Typist, ask_everything, files};
use llsd::ide::{self, Workspace};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Runs `work` on every file; what was surprising is shown by kind, each with one example.
fn on_every_file(work: impl Fn(&mut Typist<'_>, &Finished) + Sync) {
    let all: Vec<_> = files::all()
        .into_par_iter()
        .map(|file| {
            let finished = Finished::new(&file.text);
            let mut typist = Typist::new(&finished);
            work(&mut typist, &finished);
            (file.name, typist.steps, typist.surprises)
        })
        .collect();
    let steps: usize = all.iter().map(|(_, steps, _)| steps).sum();
    let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (name, _, surprises) in all {
        for (what, example) in surprises {
            kinds.entry(what).or_insert_with(|| (0, format!("{name}: {example}"))).0 += 1;
        }
    }
    let shown: Vec<_> =
        kinds.iter().map(|(what, (count, example))| format!("{what} ({count} files)\n{example}")).collect();
    assert!(kinds.is_empty(), "{} surprises in {steps} steps\n\n{}", shown.len(), shown.join("\n\n"));
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
