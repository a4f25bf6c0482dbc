//! What a check has to say about one place of an object.

use crate::path::Path;
use serde_json::Value;

/// How much a finding weighs. `Error`: the API server, the operator or llama-stack would refuse the object or drop
/// what was written. `Warning`: accepted, but hardly meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Refused, or silently without effect.
    Error,
    /// Accepted, but surprising.
    Warning,
    /// Worth knowing.
    Information,
    /// A suggestion.
    Hint,
}

/// Which part of the entry at a path a finding speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The value (for a missing field: the place where it belongs).
    #[default]
    Value,
    /// The key, as for an unknown field.
    Key,
}

/// How an editor may show a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tag {
    /// Struck through.
    Deprecated,
    /// Greyed out.
    Unnecessary,
}

/// Another place that belongs to a finding, such as the first of two duplicates.
#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    /// The other place, in the same object.
    pub path: Path,
    /// What it has to do with the finding.
    pub message: String,
}

/// One change of the object's tree. Surfaces turn it into text edits that keep comments.
#[derive(Clone, Debug, PartialEq)]
pub enum FixEdit {
    /// Gives the entry at `path` another key.
    RenameKey {
        /// The entry.
        path: Path,
        /// Its new key.
        to: String,
    },
    /// Puts `value` in place of the value at `path`.
    Replace {
        /// The value's place.
        path: Path,
        /// What to put there.
        value: Value,
    },
    /// Writes the text at `path` in double quotes.
    Quote {
        /// The value's place.
        path: Path,
    },
    /// Removes the entry or list item at `path`.
    Remove {
        /// The entry or item.
        path: Path,
    },
    /// Adds an entry at `path`, whose parent exists or is made.
    Insert {
        /// The place of the new entry.
        path: Path,
        /// Its value.
        value: Value,
    },
    /// Moves the entry at `from`, with its comments, to `to`.
    Move {
        /// The entry's place now.
        from: Path,
        /// Its place afterwards.
        to: Path,
    },
}

/// A change that makes a finding go away.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What the change does, in the imperative: `Rename "modles" to "models"`.
    pub title: String,
    /// Applied together, in order.
    pub edits: Vec<FixEdit>,
    /// Whether it is safe to apply without asking (`llsd fix`, `source.fixAll`).
    pub preferred: bool,
}

/// One thing a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule's stable name: `llsd::provider::unknown-type`.
    pub rule: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// The place it speaks of. A missing field's path is the path that it would have.
    pub path: Path,
    /// Key or value of that place.
    pub target: Target,
    /// The sentence shown to the user on every surface.
    pub message: String,
    /// The API server's own words, where it would say it too: its `field: …` prefix is not part of it.
    pub server_text: Option<String>,
    /// The API server's spelling of the path, where it differs from `path`'s (`spec.m[key]`, `<nil>`).
    pub server_path: Option<String>,
    /// Other places that belong to it.
    pub related: Vec<Related>,
    /// Changes that would mend it.
    pub fixes: Vec<Fix>,
    /// How an editor may show it.
    pub tags: Vec<Tag>,
}

impl Finding {
    /// A finding about the value at `path`.
    pub fn new(rule: &'static str, severity: Severity, path: Path, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity,
            path,
            target: Target::Value,
            message: message.into(),
            server_text: None,
            server_path: None,
            related: Vec::new(),
            fixes: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// An error about the value at `path`.
    pub fn error(rule: &'static str, path: Path, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Error, path, message)
    }

    /// A warning about the value at `path`.
    pub fn warning(rule: &'static str, path: Path, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Warning, path, message)
    }

    /// The same finding, pointing at the key.
    #[must_use]
    pub fn at_key(mut self) -> Self {
        self.target = Target::Key;
        self
    }

    /// The same finding with one more fix.
    #[must_use]
    pub fn with_fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// The same finding with one more related place.
    #[must_use]
    pub fn with_related(mut self, path: Path, message: impl Into<String>) -> Self {
        self.related.push(Related { path, message: message.into() });
        self
    }
}
