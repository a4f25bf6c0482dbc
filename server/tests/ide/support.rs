//! Fixtures that many tests share.

use llsd::ide::{self, Analysis, Span, TextEdit, Workspace};

/// A resource whose `spec` holds `inside`, indented by two.
pub(crate) fn v1alpha2(inside: &str) -> String {
    let mut text =
        "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: demo\nspec:\n".to_owned();
    for line in inside.lines() {
        if !line.is_empty() {
            text.push_str("  ");
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Removes `$0` and says where it was.
pub(crate) fn cursor(text: &str) -> (String, usize) {
    let at = text.find("$0").expect("a cursor in the fixture");
    (text.replacen("$0", "", 1), at)
}

pub(crate) fn analyse(text: &str) -> Analysis {
    ide::analyse(text.into(), None, &Workspace::new())
}

/// Applies edits that refer to `text`, last one first.
pub(crate) fn apply(text: &str, edits: &[TextEdit]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.span.start..edit.span.end, &edit.new_text);
    }
    text
}

/// Line and column of both ends, from 1, and the text: `3:5-3:9 name`.
pub(crate) fn shown(text: &str, span: Span) -> String {
    let place = |offset: usize| {
        let before = &text[..offset];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{line}:{column}")
    };
    format!("{}-{} {}", place(span.start), place(span.end), &text[span.start..span.end])
}
