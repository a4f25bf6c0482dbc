//! Lines that are looked at as a whole.

use super::scan::{self, is_space};

/// Whether the line starting at `at` is one that version control leaves in a file with conflicts.
pub(crate) fn is_conflict(bytes: &[u8], at: usize) -> bool {
    let Some(head) = bytes.get(at..at + 7) else { return false };
    let sign = head[0];
    if !matches!(sign, b'<' | b'=' | b'>' | b'|') || head.iter().any(|b| *b != sign) {
        return false;
    }
    match bytes.get(at + 7) {
        None | Some(b'\n' | b'\r') => sign != b'|' && sign != b'<',
        Some(b' ') => sign != b'=',
        Some(_) => false,
    }
}

/// Whether the line whose content starts at `at` holds only a template action, `{{ … }}`; returns its end.
pub(super) fn template_line(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at..at + 2) != Some(b"{{") {
        return None;
    }
    let mut end = scan::line_end(bytes, at);
    while end > at && is_space(bytes[end - 1]) {
        end -= 1;
    }
    (end >= at + 4 && &bytes[end - 2..end] == b"}}").then_some(end)
}

/// The most frequent number of columns by which a line is indented deeper than the line above it.
pub(super) fn usual_step(bytes: &[u8]) -> i32 {
    let mut counts = [0usize; 9];
    let (mut at, mut above) = (0, 0usize);
    while at < bytes.len() {
        let (spaces, content) = scan::indentation(bytes, at);
        if !matches!(bytes.get(content), None | Some(b'\n' | b'\r' | b'#')) {
            if let Some(count) = spaces.checked_sub(above).and_then(|step| counts.get_mut(step)) {
                *count += 1;
            }
            above = spaces;
        }
        at = crate::split::next_line(bytes, content);
    }
    let best = (2..counts.len()).rev().max_by_key(|step| counts[*step]);
    best.filter(|step| counts[*step] > 0).map_or(2, |step| step as i32)
}

/// Whether the dashes of lists mostly stand at the column of their key; `None` if there is no such habit.
pub(super) fn compact_lists(bytes: &[u8]) -> Option<bool> {
    let (mut compact, mut indented) = (0usize, 0usize);
    let mut at = 0;
    // The column of the key in the line above, if its value is to follow.
    let mut key = None;
    while at < bytes.len() {
        let (mut column, mut content) = scan::indentation(bytes, at);
        let end = scan::line_end(bytes, content);
        if content < end && bytes[content] != b'#' {
            let dash = bytes[content] == b'-' && bytes.get(content + 1).is_none_or(|b| scan::is_white(*b));
            if let Some(key) = key
                && dash
            {
                *(if column == key { &mut compact } else { &mut indented }) += 1;
            }
            while bytes[content..end].starts_with(b"- ") {
                column += 2;
                content += 2;
            }
            key = bytes[content..end].trim_ascii_end().ends_with(b":").then_some(column);
        }
        at = crate::split::next_line(bytes, end);
    }
    (compact != indented).then_some(compact > indented)
}
