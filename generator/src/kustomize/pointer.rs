//! JSON pointers (RFC 6901), the paths of JSON 6902 operations.

use crate::path::{Path, Segment};
use serde_json::Value;
use std::fmt;

/// A pointer, its steps decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer(Vec<String>);

impl Pointer {
    /// Reads one; `None` where it does not begin with a slash. The empty pointer is the whole object.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Vec::new()));
        }
        let steps = text.strip_prefix('/')?.split('/');
        Some(Self(steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The path as the steps alone tell: a number, or the `-` behind the last item, is taken for a position.
    #[must_use]
    pub fn path(&self) -> Path {
        self.0.iter().map(|step| position(step).map_or_else(|| Segment::Key(step.clone()), Segment::Index)).collect()
    }

    /// The pointer to a place.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let step = |segment: &Segment| match segment {
            Segment::Key(name) => name.clone(),
            Segment::Index(number) => number.to_string(),
        };
        Self(path.segments().iter().map(step).collect())
    }

    /// This pointer with `to` in place of its first `taken` steps.
    #[must_use]
    pub fn behind(&self, taken: usize, to: &Path) -> Self {
        let mut moved = Self::of(to);
        moved.0.extend(self.0.iter().skip(taken).cloned());
        moved
    }

    /// The pointer of the first `length` steps, and the steps behind them.
    #[must_use]
    pub fn split_at(&self, length: usize) -> (Self, &[String]) {
        let (head, rest) = self.0.split_at(length.min(self.0.len()));
        (Self(head.to_vec()), rest)
    }

    /// How many steps lead to the first object above the place that is not there. `None`: all are there, so that an
    /// operation can add the last step.
    #[must_use]
    pub fn lacking(&self, object: &Value) -> Option<usize> {
        let above = self.0.len().saturating_sub(1);
        let missing = |length: &usize| {
            Self(self.0[..*length].to_vec()).path_in(object).is_none_or(|path| path.find(object).is_none())
        };
        (1..=above).find(missing)
    }

    /// The path in an object that has been changed at this place: `-` is the last item there.
    #[must_use]
    pub fn path_in(&self, object: &Value) -> Option<Path> {
        let mut path = Path::root();
        for step in &self.0 {
            match path.find(object)? {
                Value::Array(items) if step == "-" => path.push(Segment::Index(items.len().checked_sub(1)?)),
                Value::Array(_) => path.push(Segment::Index(step.parse().ok()?)),
                _ => path.push(Segment::Key(step.clone())),
            }
        }
        Some(path)
    }
}

fn position(step: &str) -> Option<usize> {
    if step == "-" { Some(0) } else { step.parse().ok() }
}

impl fmt::Display for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| write!(out, "/{}", step.replace('~', "~0").replace('/', "~1")))
    }
}
