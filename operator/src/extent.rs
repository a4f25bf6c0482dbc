//! How much a JSON text holds, told without reading it into memory, and how much of it is too much.

use serde_json::Value;

/// Values in a spec that is judged: objects, lists, texts and so on, each with those inside of it. What judging and
/// generating take of memory and time grows with them. The largest real ones have some hundreds.
pub(crate) const JUDGED_VALUES: usize = 10_000;
/// How deep values of a spec that is judged may lie inside of each other. Readers of JSON give up at 128, some of it used
/// up by what is around.
pub(crate) const JUDGED_DEPTH: usize = 100;

/// Values that are read at once: each takes some hundred bytes of memory, however short it is as text, and there are
/// several copies.
pub(crate) const VALUES: usize = 150_000;
/// How deep values that are read may lie inside of each other. Readers of JSON give up at 128.
const DEPTH: usize = 120;

/// What a JSON text holds. Of a text that is no JSON it says something, too.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Values at most: one more than there are commas and opening brackets outside of texts.
    pub(crate) values: usize,
    /// Entries of the outermost object or list, at most.
    pub(crate) entries: usize,
    /// The deepest nesting of brackets.
    pub(crate) depth: usize,
}

impl Extent {
    /// Looks at each byte once.
    pub(crate) fn of(json: &[u8]) -> Self {
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

    /// What is wrong with it, if it has more than `values` values, or some deeper than `depth`. `what` names it.
    pub(crate) fn fault(&self, what: &str, values: usize, depth: usize) -> Option<String> {
        if self.depth > depth {
            return Some(format!("the {what} has values inside of each other deeper than {depth}"));
        }
        (self.values > values).then(|| format!("the {what} has more than {values} values"))
    }

    /// Whether it can be read into memory.
    pub(crate) fn is_readable(&self) -> bool {
        self.values <= VALUES && self.depth <= DEPTH
    }
}

/// What is wrong with the extent of a resource; `None` if it can be judged.
pub(crate) fn extent_fault(object: &Value) -> Option<String> {
    let mut open = vec![(&object["spec"], 1)];
    let mut count = 0_usize;
    while let Some((value, depth)) = open.pop() {
        count += 1;
        if depth > JUDGED_DEPTH {
            return Some(format!("the spec has values inside of each other deeper than {JUDGED_DEPTH}"));
        }
        match value {
            Value::Object(fields) => open.extend(fields.values().map(|value| (value, depth + 1))),
            Value::Array(items) => open.extend(items.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
        if count + open.len() > JUDGED_VALUES {
            return Some(format!("the spec has more than {JUDGED_VALUES} values"));
        }
    }
    None
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
