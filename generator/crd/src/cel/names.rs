//! Field names inside rules: what is no identifier there is written with escapes.

/// Words that a rule cannot use as a field name as they are.
const RESERVED: [&str; 19] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
];
const ALSO_RESERVED: [&str; 2] = ["void", "while"];

/// The plain name of a field; the name itself if it is not a valid escape.
pub(crate) fn unescape(name: &str) -> String {
    try_unescape(name).unwrap_or_else(|| name.to_owned())
}

fn try_unescape(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find("__") {
        let behind = &rest[start + 2..];
        let Some(length) = behind.find('_').filter(|length| *length > 0 && behind[*length..].starts_with("__")) else {
            // Not an escape: the first underscore is literal, what follows may be one.
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        };
        out.push_str(&rest[..start]);
        match &behind[..length] {
            "underscores" => out.push_str("__"),
            "dot" => out.push('.'),
            "dash" => out.push('-'),
            "slash" => out.push('/'),
            word if RESERVED.contains(&word) || ALSO_RESERVED.contains(&word) => out.push_str(word),
            _ => return None,
        }
        rest = &behind[length + 2..];
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn reads_escapes() {
        for (name, plain) in [
            ("a__dash__b", "a-b"),
            ("a__dot__b__slash__c", "a.b/c"),
            ("a__underscores__b", "a__b"),
            ("__namespace__", "namespace"),
            ("a_b", "a_b"),
            ("my__field", "my__field"),
            ("namespace", "namespace"),
        ] {
            assert_eq!(unescape(name), plain);
        }
    }
}
