//! Byte ranges of a text.

/// A half-open range of bytes, `start..end`, in the text it was taken from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte; equal to `start` for an empty span.
    pub end: usize,
}

impl Span {
    /// The span from `start` up to, but without, `end`. A reversed span has the length 0.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// The empty span at `at`.
    pub fn empty(at: usize) -> Span {
        Span { start: at, end: at }
    }

    /// Length in bytes; 0 if the span is reversed.
    pub fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span has no bytes.
    pub fn is_empty(&self) -> bool {
        self.end <= self.start
    }

    /// Whether `offset` lies in the span or directly behind its last byte (where a cursor still touches it).
    pub fn contains(&self, offset: usize) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// The same span, `by` bytes further on.
    pub fn shift(&self, by: usize) -> Span {
        Span { start: self.start + by, end: self.end + by }
    }

    /// The bytes of `text` in this span; empty if the span does not fit the text or cuts a character.
    pub fn slice<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or("")
    }
}
