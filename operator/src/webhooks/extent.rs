//! How much a JSON text holds, told without reading it into memory.

/// Values that are read at once: each takes some hundred bytes of memory, however short it is as text, and there are
/// several copies.
pub(super) const VALUES: usize = 150_000;
/// How deep values that are read may lie inside of each other. Readers of JSON give up at 128.
const DEPTH: usize = 120;

/// What a JSON text holds. Of a text that is no JSON it says something, too.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Values at most: one more than there are commas and opening brackets outside of texts.
    pub(super) values: usize,
    /// Entries of the outermost object or list, at most.
    pub(super) entries: usize,
    /// The deepest nesting of brackets.
    pub(super) depth: usize,
}

impl Extent {
    /// Looks at each byte once.
    pub(super) fn of(json: &[u8]) -> Self {
        let (mut found, mut depth) = (Self { values: 1, entries: 1, depth: 0 }, 0_usize);
        let (mut in_text, mut escaped) = (false, false);
        for byte in json {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_text => escaped = true,
                b'"' => in_text = !in_text,
                _ if in_text => {}
                b',' => {
                    found.values += 1;
                    found.entries += usize::from(depth == 1);
                }
                b'[' | b'{' => {
                    found.values += 1;
                    depth += 1;
                    found.depth = found.depth.max(depth);
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        found
    }

    /// Whether it can be read into memory.
    pub(super) fn is_readable(&self) -> bool {
        self.values <= VALUES && self.depth <= DEPTH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_counted() {
        for (json, values, entries, depth) in [
            ("1", 1, 1, 0),
            ("[0,0,0]", 4, 3, 1),
            (r#"{"a,[":"\"{,","b":{}}"#, 4, 2, 2),
            ("[[0,0],[[0]]]", 7, 2, 3),
            ("", 1, 1, 0),
            ("]]]", 1, 1, 0),
        ] {
            assert_eq!(Extent::of(json.as_bytes()), Extent { values, entries, depth }, "{json}");
        }
    }

    #[test]
    fn what_would_take_all_memory_or_stack_is_not_read() {
        assert!(Extent::of(b"[0,0]").is_readable());
        assert!(!Extent::of(format!("[{}0]", "0,".repeat(VALUES)).as_bytes()).is_readable());
        assert!(!Extent::of("[".repeat(DEPTH + 1).as_bytes()).is_readable());
    }
}
