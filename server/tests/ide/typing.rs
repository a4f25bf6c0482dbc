//! Files typed from the first character to the last.

use llsd::ide::{self, Analysis, Diagnostic, Span, Workspace};
use std::collections::BTreeSet;
use std::fs;

fn samples() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap()))
        .collect();
    found.sort();
    assert!(found.len() >= 10);
    found
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count()
}

/// Rules that say what is missing: fields that are required, and names that are declared further down.
const OF_SOMETHING_MISSING: [&str; 7] = [
    "llsd::schema::required",
    "llsd::kind::unknown-kind",
    "llsd::provider::missing-setting",
    "llsd::distribution::missing",
    "llsd::reference::no-key",
    "llsd::config::missing-key",
    "llsd::storage::bad-endpoint",
];

fn of_something_missing(found: &Diagnostic) -> bool {
    match found.code {
        "llsd::metadata::field" => found.message.contains("needs a name"),
        // the API server's place for it is the object, while the number is still being typed
        "llsd::cel::rule" => ["must be specified", "is required", "greater than or equal"]
            .iter()
            .any(|words| found.message.contains(words)),
        code => OF_SOMETHING_MISSING.contains(&code),
    }
}

#[test]
fn typing_disturbs_no_other_line() {
    let mut surprises = BTreeSet::new();
    for (name, text) in samples() {
        let finished = diagnostics(&ide::analyse(text.as_str().into(), None, &Workspace::new()));
        // long files in steps of a few characters, which end at other places in each word
        let step = 1 + text.len() / 800;
        let mut analysis: Option<Analysis> = None;
        for end in (0..=text.len()).step_by(step).filter(|end| text.is_char_boundary(*end)) {
            let typed = &text[..end];
            let now = ide::analyse(typed.into(), analysis.as_ref(), &Workspace::new());
            let line = line_of(typed, end);
            for found in now.diagnostics() {
                let place = line_of(typed, found.span.start);
                let known = finished.contains(&(place, found.code));
                if place != line && !known && !of_something_missing(&found) {
                    surprises.insert(format!("{name}:{}: [{}] {}", place + 1, found.code, found.message));
                }
            }
            ask_everything(&now, end, end % 20 == 0);
            analysis = Some(now);
        }
    }
    assert!(surprises.is_empty(), "{surprises:#?}");
}

#[test]
fn deleting_anywhere_breaks_nothing() {
    for (_, text) in samples() {
        let whole = ide::analyse(text.as_str().into(), None, &Workspace::new());
        for start in (0..text.len()).step_by(41).filter(|start| text.is_char_boundary(*start)) {
            let end = (start + 7).min(text.len());
            let mut cut = text.clone();
            cut.replace_range(start..end, "");
            let now = ide::analyse(cut.as_str().into(), Some(&whole), &Workspace::new());
            let fresh = ide::analyse(cut.as_str().into(), None, &Workspace::new());
            assert_eq!(now.diagnostics(), fresh.diagnostics());
            ask_everything(&now, start, true);
        }
    }
}

/// Spans are inside the text and at characters; nothing panics.
fn ask_everything(analysis: &Analysis, at: usize, thoroughly: bool) {
    let text = analysis.text();
    let sound = |span: Span| assert!(text.get(span.start..span.end).is_some(), "{span:?}");
    for item in ide::complete(analysis, at) {
        sound(item.insert.span);
    }
    if let Some(found) = ide::hover(analysis, at) {
        sound(found.span);
    }
    if thoroughly {
        for action in ide::code_actions(analysis, Span::new(at, at)) {
            action.edits.iter().for_each(|edit| sound(edit.span));
        }
        ide::symbols(analysis).iter().for_each(|symbol| sound(symbol.span));
        let previews = analysis.resources().len();
        assert!((0..previews).filter_map(|number| ide::preview(analysis, number)).count() <= previews);
    }
}

fn diagnostics(analysis: &Analysis) -> BTreeSet<(usize, &'static str)> {
    let text = analysis.text();
    analysis.diagnostics().iter().map(|found| (line_of(&text, found.span.start), found.code)).collect()
}
