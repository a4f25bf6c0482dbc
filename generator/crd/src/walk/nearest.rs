//! The name that somebody probably meant.

/// The candidate nearest to `name`, if one is near enough to be a slip of the pen. Case does not count.
pub(crate) fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let wanted: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    if wanted.len() > 64 {
        return None;
    }
    let allowed = match wanted.len() {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    };
    candidates
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.chars().flat_map(char::to_lowercase).collect();
            if letters.len().abs_diff(wanted.len()) > allowed {
                return None;
            }
            let distance = distance(&wanted, &letters);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
fn distance(from: &[char], to: &[char]) -> usize {
    let width = to.len() + 1;
    let mut rows = vec![0_usize; (from.len() + 1) * width];
    for row in 0..=from.len() {
        for column in 0..=to.len() {
            rows[row * width + column] = if row == 0 || column == 0 {
                row + column
            } else {
                let replaced = usize::from(from[row - 1] != to[column - 1]);
                let mut best = (rows[(row - 1) * width + column] + 1)
                    .min(rows[row * width + column - 1] + 1)
                    .min(rows[(row - 1) * width + column - 1] + replaced);
                let swapped =
                    row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
                if swapped {
                    best = best.min(rows[(row - 2) * width + column - 2] + 1);
                }
                best
            };
        }
    }
    rows[from.len() * width + to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_but_not_other_words() {
        let names = ["models", "tools", "shields", "provider"];
        for (name, expected) in [
            ("modles", Some("models")),
            ("Models", Some("models")),
            ("model", Some("models")),
            ("providr", Some("provider")),
            ("x", None),
            ("storage", None),
        ] {
            assert_eq!(nearest(name, names.into_iter()), expected, "{name}");
        }
    }
}
