//! The known name that a mistyped one probably meant.

/// The candidate closest to `written`, if any is close enough to suggest: at most a third of its letters differ,
/// counting a swap of neighbours as one; case and the separators `-` and `_` count for nothing. Of equals the first.
pub fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    nearest_within(written, candidates, usize::MAX)
}

/// As [`nearest`], with `most` changes at most: for long names, a third of which is another name.
pub fn nearest_within<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    most: usize,
) -> Option<&'c str> {
    let folded = fold(written);
    if folded.len() > 128 {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = fold(candidate);
        // At least one change is allowed, so that three-letter names have a neighbour.
        let limit = (folded.len().max(other.len()) / 3).max(1).min(most);
        if candidate == written || folded.len().abs_diff(other.len()) > limit {
            continue;
        }
        let distance = distance(&folded, &other);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> Vec<char> {
    name.chars().filter(|char| !matches!(char, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Edits between two words: insert, delete, replace, swap neighbours.
fn distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut rows: Vec<Vec<usize>> = vec![(0..width).collect()];
    for (down, from) in left.iter().enumerate() {
        let mut row = vec![down + 1; width];
        for (across, to) in right.iter().enumerate() {
            let change = rows[down][across] + usize::from(from != to);
            let mut least = change.min(row[across] + 1).min(rows[down][across + 1] + 1);
            if down > 0 && across > 0 && *from == right[across - 1] && left[down - 1] == *to {
                least = least.min(rows[down - 1][across - 1] + 1);
            }
            row[across + 1] = least;
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_what_was_meant_and_nothing_else() {
        let keys = ["models", "tools", "shields"];
        assert_eq!(nearest("modles", keys), Some("models"));
        assert_eq!(nearest("Models", keys), Some("models"));
        assert_eq!(nearest("shield", keys), Some("shields"));
        assert_eq!(nearest("vllm_url", keys), None);
        assert_eq!(nearest("models", keys), None);
        assert_eq!(nearest("max-tokens", ["max_tokens"]), Some("max_tokens"));
    }
}
