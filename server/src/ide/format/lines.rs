//! A text as numbered lines.

use crate::ide::Span;

/// Where the lines of a text are. A line's own span is without its break.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Lines end at `\n`, `\r\n` and `\r`, as in YAML. What follows the last break is a line if it is not empty.
    pub(super) fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            if ends && at + 1 < bytes.len() {
                starts.push(at + 1);
            }
        }
        Self { text, starts }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The number of the line that a byte lies in.
    pub(super) fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Where a line starts; the end of the text for the number behind the last.
    pub(super) fn start(&self, number: usize) -> usize {
        self.starts.get(number).copied().unwrap_or(self.text.len())
    }

    /// A line without its break.
    pub(super) fn line(&self, number: usize) -> &'t str {
        self.text[self.start(number)..self.start(number + 1)].trim_end_matches(['\n', '\r'])
    }

    /// The blanks at the start of a line.
    pub(super) fn indentation(&self, number: usize) -> Span {
        let line = self.line(number);
        let start = self.start(number);
        Span::new(start, start + line.len() - line.trim_start_matches([' ', '\t']).len())
    }

    /// Where the first character stands that is no blank.
    pub(super) fn content(&self, number: usize) -> usize {
        self.indentation(number).end
    }

    /// The blanks at the end of a line.
    pub(super) fn trailing(&self, number: usize) -> Span {
        let line = self.line(number);
        let start = self.start(number);
        Span::new(start + line.trim_end_matches([' ', '\t']).len(), start + line.len())
    }

    pub(super) fn is_blank(&self, number: usize) -> bool {
        self.line(number).trim_matches([' ', '\t']).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_all_line_breaks() {
        let lines = Lines::new("a \r\n b\r\n\r\n");
        assert_eq!(lines.len(), 3);
        assert_eq!((lines.line(0), lines.line(1), lines.line(2)), ("a ", " b", ""));
        assert_eq!(lines.trailing(0), Span::new(1, 2));
        assert_eq!(lines.content(1), 5);
        assert_eq!(lines.number(5), 1);
        assert_eq!(Lines::new("").len(), 1);
        assert_eq!(Lines::new("a\rb").len(), 2);
    }
}
