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
