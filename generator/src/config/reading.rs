//! What the server makes of the value of a variable. Source: the conversion behind `replace_env_vars` in llama-stack 0.3.5
//! to 0.7.3 and ogx 1.0.4 to 1.5.0, which asks Python: `true` and `false` in any case, then `int()`, then `float()`.

use k8s_openapi::ByteString;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a value is read as, where that is no text. It tells nothing more of the value, which may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// Digits, also with a sign, a fraction, an exponent or white space around, and words such as `nan`.
    Number,
    /// `true` or `false`, in capitals or not.
    TruthValue,
}

impl Reading {
    /// What the value of a variable is read as; `None`: it stays a text, or it is empty.
    #[must_use]
    pub fn of(value: &str) -> Option<Self> {
        if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") {
            return Some(Self::TruthValue);
        }
        let lower = value.trim().to_ascii_lowercase();
        let digits = lower.strip_prefix(['+', '-']).unwrap_or(&lower);
        let begins = digits.starts_with(|char: char| char.is_ascii_digit() || char == '.');
        let is_number = begins && digits_joined(digits).is_some_and(|plain| plain.parse::<f64>().is_ok());
        (is_number || matches!(digits, "nan" | "inf" | "infinity")).then_some(Self::Number)
    }

    /// What the keys of a Secret's manifest are read as: those of `stringData`, which win, and of `data`. Keys whose value
    /// stays a text are left out.
    #[must_use]
    pub fn of_secret(manifest: &Value) -> BTreeMap<String, Self> {
        let entries = |field: &str| manifest.get(field).and_then(Value::as_object).into_iter().flatten();
        let decoded = |value: &Value| {
            let ByteString(bytes) = serde_json::from_value(value.clone()).ok()?;
            Self::of(std::str::from_utf8(&bytes).ok()?)
        };
        let encoded = entries("data").map(|(key, value)| (key, decoded(value)));
        let plain = entries("stringData").map(|(key, value)| (key, value.as_str().and_then(Self::of)));
        let all: BTreeMap<&String, Option<Self>> = encoded.chain(plain).collect();
        all.into_iter().filter_map(|(key, reading)| Some((key.clone(), reading?))).collect()
    }

    /// What messages call such a value, with its article.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::TruthValue => "a truth value",
        }
    }

    /// A value of this kind, to see where one fits.
    pub(crate) fn example(self) -> Value {
        match self {
            Self::Number => 1.into(),
            Self::TruthValue => true.into(),
        }
    }
}

/// The text without the underscores that Python takes between digits; `None`: one stands elsewhere.
fn digits_joined(text: &str) -> Option<String> {
    let is_digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
    let stands = text
        .match_indices('_')
        .all(|(at, _)| is_digit(text[..at].chars().next_back()) && is_digit(text[at + 1..].chars().next()));
    stands.then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_that_look_like_something_else() {
        for text in ["123456", "007", "-1", "+1", "1.5", ".5", "1e5", "1_000", "inf", "-NaN", " 7 ", "1234\n"] {
            assert_eq!(Reading::of(text), Some(Reading::Number), "{text:?}");
        }
        assert_eq!(Reading::of("True"), Some(Reading::TruthValue));
        for text in ["", "fake", "sk-123", "1.2.3", "0x10", "12ab", "no", "true\n", "--1", "1__0", "_1", "1_", "."] {
            assert_eq!(Reading::of(text), None, "{text:?}");
        }
    }

    #[test]
    fn of_a_secret_the_plain_value_wins() {
        let manifest = json!({
            "data": {"a": "MTIz", "b": "MTIz", "c": "c2stMQ==", "d": "no base64", "e": 1, "f": "/w=="},
            "stringData": {"b": "sk-1", "g": "true", "h": 1234},
        });
        let read = Reading::of_secret(&manifest);
        let expected = [("a".to_owned(), Reading::Number), ("g".to_owned(), Reading::TruthValue)];
        assert_eq!(read, BTreeMap::from(expected));
    }
}
