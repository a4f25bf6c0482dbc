//! The known name that a mistyped one probably meant.

use strsim::osa_distance;

/// Longer names, in bytes, are not looked at: the time grows with the product of the lengths.
const LONGEST: usize = 128;

/// The candidate closest to `written`, if any is close enough to suggest. A third of the letters may differ, and three
/// at most; a swap of neighbours counts as one, case and the separators `-` and `_` count for nothing. Names of one or
/// two letters have no neighbours but by case. Of equals the first is taken; `written` itself never.
///
/// ```
/// use crd_validator::nearest::nearest;
///
/// assert_eq!(nearest("max-tokns", ["maxTokens", "model"]), Some("maxTokens"));
/// assert_eq!(nearest("url", ["model", "tools"]), None);
/// ```
pub fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    nearest_within(written, candidates, 3)
}

/// As [`nearest`], with `most` changes at most.
pub fn nearest_within<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    most: usize,
) -> Option<&'c str> {
    let folded = fold(written);
    if folded.len() > LONGEST {
        return None;
    }
    let length = folded.chars().count();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = fold(candidate);
        let other_length = other.chars().count();
        let limit = (length.max(other_length) / 3).min(most);
        if candidate == written || length.abs_diff(other_length) > limit {
            continue;
        }
        let distance = osa_distance(&folded, &other);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> String {
    name.chars().filter(|char| !matches!(char, '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_what_was_meant_and_nothing_else() {
        let keys = ["models", "tools", "shields", "provider"];
        for (written, expected) in [
            ("modles", Some("models")),
            ("Models", Some("models")),
            ("model", Some("models")),
            ("shield", Some("shields")),
            ("providr", Some("provider")),
            ("x", None),
            ("vllm_url", None),
            ("storage", None),
            ("models", None),
        ] {
            assert_eq!(nearest(written, keys), expected, "{written}");
        }
        assert_eq!(nearest("max-tokens", ["max_tokens"]), Some("max_tokens"));
        assert_eq!(nearest("ab", ["ax"]), None);
        assert_eq!(nearest("kv", ["KV"]), Some("KV"));
    }
}
