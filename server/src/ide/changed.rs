//! Which names something new is known about: what has to be judged again.

use std::collections::HashSet;

/// Names of objects and resources about which something is new.
#[derive(Debug)]
pub(crate) enum Changed {
    /// Whatever refers to an object, or is a resource, of one of these names.
    Names(HashSet<String>),
    /// Any verdict may be another one.
    All,
}

impl Changed {
    /// Whether there is nothing new.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::Names(names) if names.is_empty())
    }

    /// Whether one of the mentioned names is among them.
    pub(crate) fn touches(&self, mentioned: &HashSet<String>) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => share(names, mentioned),
        }
    }

    /// As [`touches`](Self::touches), for names that are no set.
    pub(crate) fn concern<'n>(&self, mut mentioned: impl Iterator<Item = &'n str>) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => mentioned.any(|name| names.contains(name)),
        }
    }
}

/// Whether two sets have a name in common. Only the smaller one is gone through.
pub(crate) fn share(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let (small, large) = if one.len() < other.len() { (one, other) } else { (other, one) };
    small.iter().any(|name| large.contains(name))
}
