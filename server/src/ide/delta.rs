//! What an edit changed, as one piece; and what is not the same in two lists.

use super::Span;
use std::borrow::Borrow;
use std::sync::Arc;

/// One piece of a text that became another. What stands before and behind it is the same in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    /// The piece in the old text.
    pub old: Span,
    /// The piece in the new text; it starts where the old one did.
    pub new: Span,
}

impl Delta {
    /// `old` was replaced by `length` bytes.
    #[must_use]
    pub fn replaced(old: Span, length: usize) -> Self {
        Self { old, new: Span::new(old.start, old.start + length) }
    }

    /// This edit and `next`, an edit of its result, as one piece: the smallest that holds both.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let start = self.new.start.min(next.old.start);
        let end = self.new.end.max(next.old.end);
        Self {
            old: Span::new(start, end - self.new.end + self.old.end),
            new: Span::new(start, end - next.old.end + next.new.end),
        }
    }
}

/// What stands between the start and the end that both lists share: the very same values, not equal ones.
pub(crate) fn differing<'l, T: ?Sized, P: Borrow<Arc<T>>>(old: &'l [P], new: &'l [P]) -> (&'l [P], &'l [P]) {
    let (head, tail) = shared_ends(old, new, |one, other| Arc::ptr_eq(one.borrow(), other.borrow()));
    (&old[head..old.len() - tail], &new[head..new.len() - tail])
}

/// How many items two lists share at their start, and behind those at their end.
pub(crate) fn shared_ends<A, B>(old: &[A], new: &[B], same: impl Fn(&A, &B) -> bool) -> (usize, usize) {
    let same = |(one, other): &(&A, &B)| same(one, other);
    let head = old.iter().zip(new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    (head, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn several_edits_are_one_piece(
            text in "[a-c]{0,20}",
            edits in prop::collection::vec((0_usize..20, 0_usize..6, "[d-f]{0,5}"), 1..6),
        ) {
            let mut after = text.clone();
            let mut all: Option<Delta> = None;
            for (start, length, new) in edits {
                let start = start.min(after.len());
                let end = (start + length).min(after.len());
                let delta = Delta::replaced(Span::new(start, end), new.len());
                after.replace_range(start..end, &new);
                all = Some(all.map_or(delta, |before| before.then(delta)));
            }
            let all = all.expect("at least one edit");
            let mut expected = text.clone();
            expected.replace_range(all.old.start..all.old.end, &after[all.new.start..all.new.end]);
            prop_assert_eq!(expected, after);
        }
    }
}
