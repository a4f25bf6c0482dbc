//! Where two configs differ: hunks of lines, and which of them a reader would miss.

use super::super::fix::difference;
use super::super::types::{LineOrigin, Preview};
use std::ops::Range;

/// Lines that differ, counted from 0; one of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the older text.
    pub left: Range<usize>,
    /// Lines of the newer text.
    pub right: Range<usize>,
    /// Where the newer lines come from, each source once.
    pub origins: Vec<LineOrigin>,
}

/// The hunks between `left` and a preview, in the order of the lines.
pub(crate) fn hunks(left: &str, right: &Preview) -> Vec<Hunk> {
    let mut found = Vec::new();
    // how much further down a line of the right text stands than the same line of the left
    let mut shift = 0_isize;
    for edit in difference(left, &right.text) {
        let before = |offset: usize| lines(&left[..offset]);
        let removed = before(edit.span.start)..before(edit.span.end).max(before(edit.span.start));
        let start = removed.start.saturating_add_signed(shift);
        let added = start..start + lines(&edit.new_text);
        shift += added.len() as isize - removed.len() as isize;
        let mut origins: Vec<LineOrigin> = Vec::new();
        for origin in right.lines.get(added.clone()).unwrap_or_default() {
            if !origins.contains(origin) {
                origins.push(origin.clone());
            }
        }
        found.push(Hunk { left: removed, right: added, origins });
    }
    found
}

/// The number of lines in a text; a last line without a break counts.
fn lines(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::OriginKind;

    #[test]
    fn counts_lines_on_both_sides() {
        let origin = |path: &str| LineOrigin { kind: OriginKind::Rule, path: path.to_owned(), source_span: None };
        let right = Preview {
            text: "a\nx\ny\nb\nd\n".to_owned(),
            lines: ["1", "2", "2", "3", "4"].map(origin).to_vec(),
            ..Preview::default()
        };
        let found = hunks("a\nb\nc\nd\n", &right);
        let places: Vec<_> = found.iter().map(|hunk| (hunk.left.clone(), hunk.right.clone())).collect();
        assert_eq!(places, [(1..1, 1..3), (2..3, 4..4)]);
        assert_eq!(found[0].origins, [origin("2")]);
        assert_eq!(hunks(&right.text, &right), []);
    }
}
