//! The verdict on a text, and the text after its fixes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use llsd::ide::{self, Workspace};

fuzz_target!(|text: &str| {
    let analysis = ide::analyse(text.into(), None, &Workspace::new());
    for found in analysis.diagnostics() {
        assert!(text.get(found.span.start..found.span.end).is_some(), "{found:?}");
        assert!(!found.message.is_empty());
    }
    let mut edits = ide::fix_all(&analysis);
    edits.sort_by_key(|edit| edit.span.start);
    let mut fixed = text.to_owned();
    for edit in edits.iter().rev() {
        fixed.replace_range(edit.span.start..edit.span.end, &edit.new_text);
    }
    let again = ide::analyse(fixed.as_str().into(), None, &Workspace::new());
    let _ = (again.diagnostics(), ide::symbols(&again));
});
