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
