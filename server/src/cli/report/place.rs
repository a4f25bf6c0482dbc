//! Lines and columns of byte offsets, for terminals and reports.

/// The starts of a text's lines.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The line, counted from 1.
    pub(super) line: usize,
    /// The column in characters (Unicode scalar values), counted from 1.
    pub(super) column: usize,
}

impl<'t> Lines<'t> {
    /// Finds the lines of `text`: they end at `\n`, `\r\n` or `\r`.
    pub(super) fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        Self { text, starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The place of an offset; past the end it is the end.
    pub(super) fn place(&self, offset: usize) -> Place {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        Place { line, column: 1 + self.text[start..offset].chars().count() }
    }

    /// The text of a line (from 1) without its end; empty if there is none.
    pub(super) fn text(&self, line: usize) -> &'t str {
        let Some(start) = self.starts.get(line.wrapping_sub(1)) else { return "" };
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        self.text[*start..end].trim_end_matches(['\r', '\n'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let lines = Lines::new("a: é\u{1F999}x\r\nb\rc");
        assert_eq!(lines.place(0), Place { line: 1, column: 1 });
        assert_eq!(lines.place(9), Place { line: 1, column: 6 });
        assert_eq!(lines.place(12), Place { line: 2, column: 1 });
        assert_eq!(lines.place(99), Place { line: 3, column: 2 });
        assert_eq!((lines.text(1), lines.text(2), lines.text(3), lines.text(4)), ("a: é\u{1F999}x", "b", "c", ""));
    }
}
