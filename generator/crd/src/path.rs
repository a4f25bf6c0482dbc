//! Where something is inside a resource: `spec.providers.inference[0].id`.

use std::fmt;

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A field of an object, or a key of a map.
    Key(String),
    /// A position in a list, counted from 0.
    Index(usize),
}

/// The way from the root of an object to one of its values. The empty path is the object itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The path of the object itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The steps from the root of the object, outermost first; none for the root itself.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// This path extended by a field or map key.
    #[must_use]
    pub fn key(&self, name: impl Into<String>) -> Self {
        self.with(Segment::Key(name.into()))
    }

    /// This path extended by a list position.
    #[must_use]
    pub fn index(&self, position: usize) -> Self {
        self.with(Segment::Index(position))
    }

    /// This path extended by one step.
    #[must_use]
    pub fn with(&self, segment: Segment) -> Self {
        let mut steps = self.0.clone();
        steps.push(segment);
        Self(steps)
    }

    /// This path followed by the steps of `below`.
    #[must_use]
    pub fn join(&self, below: &Self) -> Self {
        Self(self.0.iter().chain(&below.0).cloned().collect())
    }

    /// Appends one step in place.
    pub fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    /// Removes and returns the last step.
    pub fn pop(&mut self) -> Option<Segment> {
        self.0.pop()
    }

    /// The path of the object or list that holds this value; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        Some(Self(rest.to_vec()))
    }

    /// The last step; `None` for the root.
    #[must_use]
    pub fn last(&self) -> Option<&Segment> {
        self.0.last()
    }

    /// Whether this path is `prefix` or lies below it.
    #[must_use]
    pub fn starts_with(&self, prefix: &Self) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// The value at this path inside `root`, if all of it exists.
    #[must_use]
    pub fn find<'v>(&self, root: &'v serde_json::Value) -> Option<&'v serde_json::Value> {
        self.0.iter().try_fold(root, |value, step| match step {
            Segment::Key(name) => value.as_object()?.get(name),
            Segment::Index(position) => value.as_array()?.get(*position),
        })
    }

    /// Reads the dotted form that [`Path`] prints: `spec.providers.inference[0].id`.
    /// Meant for constants in code; keys that themselves contain `.` or `[` cannot be written this way.
    #[must_use]
    pub fn parse(dotted: &str) -> Self {
        Self::root().below(dotted)
    }

    /// The path that leads on from here by the steps of a dotted form.
    #[must_use]
    pub fn below(mut self, dotted: &str) -> Self {
        for part in dotted.split('.').filter(|part| !part.is_empty()) {
            let mut pieces = part.split('[');
            if let Some(name) = pieces.next().filter(|name| !name.is_empty()) {
                self.push(Segment::Key(name.to_owned()));
            }
            for piece in pieces {
                if let Ok(position) = piece.trim_end_matches(']').parse() {
                    self.push(Segment::Index(position));
                }
            }
        }
        self
    }
}

impl FromIterator<Segment> for Path {
    fn from_iter<I: IntoIterator<Item = Segment>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Segment::Key(name) if number == 0 => out.write_str(name)?,
                Segment::Key(name) => write!(out, ".{name}")?,
                Segment::Index(position) => write!(out, "[{position}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_parses() {
        for text in ["", "spec", "spec.providers.inference[0].id", "a[1][2].b"] {
            assert_eq!(Path::parse(text).to_string(), text);
        }
    }
}
