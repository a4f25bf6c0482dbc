//! What to replace in one text to get another, line by line.

use crate::ide::Span;
use crate::ide::delta::shared_ends;
use crate::ide::types::TextEdit;

/// Number of line pairs that are compared at most; beyond it, all between the first and the last difference is
/// replaced in one piece.
const PAIRS: usize = 1_000_000;

/// Edits of `old` that make it `new`; lines that both have are not touched.
pub(crate) fn difference(old: &str, new: &str) -> Vec<TextEdit> {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let (head, tail) = shared_ends(&old_lines, &new_lines, |one, other| one == other);
    let start: usize = old_lines[..head].iter().map(|line| line.len()).sum();
    let old_middle = &old_lines[head..old_lines.len() - tail];
    let new_middle = &new_lines[head..new_lines.len() - tail];
    hunks(old_middle, new_middle, start)
}

fn hunks(old: &[&str], new: &[&str], start: usize) -> Vec<TextEdit> {
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.len().saturating_mul(new.len()) > PAIRS {
        let length: usize = old.iter().map(|line| line.len()).sum();
        return vec![TextEdit { span: Span::new(start, start + length), new_text: new.concat() }];
    }
    let common = common_lengths(old, new);
    let mut edits: Vec<TextEdit> = Vec::new();
    let (mut down, mut across, mut offset) = (0, 0, start);
    let mut open: Option<TextEdit> = None;
    while down < old.len() || across < new.len() {
        if down < old.len() && across < new.len() && old[down] == new[across] {
            edits.extend(open.take());
            offset += old[down].len();
            (down, across) = (down + 1, across + 1);
            continue;
        }
        let edit = open.get_or_insert_with(|| TextEdit { span: Span::new(offset, offset), new_text: String::new() });
        let take_new =
            down == old.len() || (across < new.len() && common[down][across + 1] >= common[down + 1][across]);
        if take_new {
            edit.new_text.push_str(new[across]);
            across += 1;
        } else {
            offset += old[down].len();
            edit.span.end = offset;
            down += 1;
        }
    }
    edits.extend(open);
    edits
}

/// For each pair of positions, how many lines the rests have in common at most.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut lengths = vec![vec![0; new.len() + 1]; old.len() + 1];
    for down in (0..old.len()).rev() {
        for across in (0..new.len()).rev() {
            lengths[down][across] = if old[down] == new[across] {
                lengths[down + 1][across + 1] + 1
            } else {
                lengths[down + 1][across].max(lengths[down][across + 1])
            };
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use llsd_yaml::edit;

    fn check(old: &str, new: &str, edits: usize) {
        let found = difference(old, new);
        assert_eq!(found.len(), edits, "{found:?}");
        assert_eq!(edit::apply(old, &found), new);
    }

    #[test]
    fn touches_only_what_differs() {
        check("a\nb\nc\n", "a\nb\nc\n", 0);
        check("a\nb\nc\nd\n", "a\nx\nc\ny\n", 2);
        check("a\nb\n", "b\n", 1);
        check("", "a", 1);
        check("a\nb", "a\nb\n", 1);
    }
}
