//! Where a line of the generated config comes from.

use crate::path::Path;

/// The reason a value of the generated config is what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A field of the resource.
    Resource(Path),
    /// A line of the base config, counted from 0.
    Base {
        /// The line in the base config, counted from 1.
        line: usize,
    },
    /// Nobody wrote it; this is what applies otherwise. The text says which default, as a short noun phrase.
    Default(&'static str),
    /// It follows from something else. The text says from what, as a short clause.
    Rule(&'static str),
}
