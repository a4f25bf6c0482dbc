//! What there is to tell of a migration.

pub use crate::fold::Class;
use std::fmt;

/// One thing that is not as it was, or that somebody has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// How much it matters. What is told is ordered by it, worst first.
    pub class: Class,
    /// The place in the old resource, or what it is about.
    pub place: String,
    /// What happens to it, and what to do.
    pub message: String,
}

impl fmt::Display for Told {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}: {}", self.class.word(), self.place, self.message)
    }
}
