//! The place of a value during a walk, from which a path is made only where there is something to say: most places of a
//! config are in order, and a path costs more than looking at them.

use crate::path::{Path, Segment};

/// A step of a walk, and those before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trail<'t> {
    /// The path of the value that the walk begins with.
    Start(&'t Path),
    /// An entry of a mapping.
    Key(&'t Trail<'t>, &'t str),
    /// An item of a list.
    Index(&'t Trail<'t>, usize),
}

impl Trail<'_> {
    /// The path of the value. As deep as the walk is.
    pub(crate) fn path(&self) -> Path {
        let (outer, segment) = match self {
            Self::Start(path) => return (*path).clone(),
            Self::Key(outer, name) => (outer, Segment::Key((*name).to_owned())),
            Self::Index(outer, position) => (outer, Segment::Index(*position)),
        };
        let mut path = outer.path();
        path.push(segment);
        path
    }
}
