//! The hover of `${env.NAME…}`: what the server puts there, in words.

use crate::ide::Span;
use llsd_yaml::Node;

/// The expression of the scalar that the offset lies in, in words.
pub(super) fn at(node: Node<'_>, offset: usize) -> Option<(Span, String)> {
    let span = node.span();
    let text = node.source();
    let at = offset.checked_sub(span.start)?;
    let start = text.get(..=at.min(text.len().saturating_sub(1)))?.rfind("${env.")?;
    let end = start + text[start..].find('}')? + 1;
    if at > end {
        return None;
    }
    let words = decode(&text[start..end])?;
    Some((Span::new(span.start + start, span.start + end), words))
}

/// What llama-stack does with the expression when it starts.
fn decode(expression: &str) -> Option<String> {
    let inside = expression.strip_prefix("${env.")?.strip_suffix('}')?;
    let (name, rest) = match inside.find(':') {
        Some(colon) => (&inside[..colon], &inside[colon..]),
        None => (inside, ""),
    };
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_') {
        return Some(format!("`{name}` is no name that llama-stack substitutes: only `A-Z`, `0-9` and `_`"));
    }
    Some(match (rest.strip_prefix(":="), rest.strip_prefix(":+")) {
        (Some(""), _) => format!("The environment variable `{name}`; nothing (null) if it is unset or empty"),
        (Some(default), _) => format!("The environment variable `{name}`; `{default}` if it is unset or empty"),
        (_, Some(value)) => format!("`{value}` if the environment variable `{name}` is set; nothing otherwise"),
        (None, None) => {
            format!("The environment variable `{name}`. The server does not start if it is unset or empty")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_happens() {
        assert_eq!(
            decode("${env.URL:=http://a}").as_deref(),
            Some("The environment variable `URL`; `http://a` if it is unset or empty")
        );
        assert_eq!(
            decode("${env.URL:+vllm}").as_deref(),
            Some("`vllm` if the environment variable `URL` is set; nothing otherwise")
        );
        assert!(decode("${env.url}").is_some_and(|text| text.contains("no name")));
    }
}
