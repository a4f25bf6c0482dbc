//! A text edited step by step: what is understood after each edit is what a fresh look finds, and every answer is
//! about the text.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use llsd::ide::{self, Span, Workspace};

/// The text before and after each edit, and where it was edited.
#[derive(Debug)]
struct Edits {
    first: String,
    then: Vec<(String, usize)>,
}

impl Arbitrary<'_> for Edits {
    fn arbitrary(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let first = llsd_fuzz::file(bytes)?;
        let mut text = first.clone();
        let mut then = Vec::new();
        for _ in 0..bytes.int_in_range(1..=6)? {
            let boundary = |text: &str, at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let start = boundary(&text, bytes.int_in_range(0..=text.len())?);
            let end = boundary(&text, bytes.int_in_range(start..=text.len().min(start + 40))?).max(start);
            let new = llsd_fuzz::text(bytes)?;
            text.replace_range(start..end, &new);
            then.push((text.clone(), start));
        }
        Ok(Self { first, then })
    }
}

fuzz_target!(|edits: Edits| {
    let workspace = Workspace::new();
    let mut analysis = ide::analyse(edits.first.as_str().into(), None, &workspace);
    for (text, at) in edits.then {
        analysis = ide::analyse(text.as_str().into(), Some(&analysis), &workspace);
        let fresh = ide::analyse(text.as_str().into(), None, &workspace);
        assert_eq!(*analysis.text(), *text);
        assert_eq!(analysis.diagnostics(), fresh.diagnostics());
        assert_eq!(ide::symbols(&analysis), ide::symbols(&fresh));
        for item in ide::complete(&analysis, at) {
            assert!(text.get(item.insert.span.start..item.insert.span.end).is_some());
        }
        let _ = ide::hover(&analysis, at);
        for action in ide::code_actions(&analysis, Span::new(at, at)) {
            for edit in action.edits {
                assert!(text.get(edit.span.start..edit.span.end).is_some());
            }
        }
    }
});
