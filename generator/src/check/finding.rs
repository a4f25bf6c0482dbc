//! What a check has to say about one place of an object.

use super::rule::Rule;
use crate::api::CrdRule;
use crate::generate::GenerateError;
use crate::path::Path;
use crate::references::{NeededBy, ReferenceKind};
use serde_json::Value;

/// How much a finding weighs. `Error`: the API server, the operator or llama-stack would refuse the object or drop
/// what was written. `Warning`: accepted, but hardly meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Refused, or silently without effect.
    Error,
    /// Accepted by the API server and the operator, but hardly meant: another server runs than the text suggests.
    Warning,
    /// Nothing is wrong, but something is worth knowing.
    Information,
    /// A remark that a reader may pass over, such as one that only holds in some clusters or versions.
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
    /// The place uses something that still works and should be left: LSP clients strike it through.
    Deprecated,
    /// The place has no effect: LSP clients grey it out.
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
        /// The entry whose key changes. Its value and comments stay.
        path: Path,
        /// The new key, without quotes.
        to: String,
    },
    /// Puts `value` in place of the value at `path`.
    Replace {
        /// The value that is replaced. It has to exist.
        path: Path,
        /// The new value, of any type.
        value: Value,
    },
    /// Writes the text at `path` in double quotes.
    Quote {
        /// The scalar that is quoted. Its text stays as it is written.
        path: Path,
    },
    /// Removes the entry or list item at `path`.
    Remove {
        /// A mapping's entry, or a list's item with all that is in it.
        path: Path,
    },
    /// Adds an entry at `path`, whose parent exists or is made.
    Insert {
        /// The place of the new entry.
        path: Path,
        /// The value of the new entry, of any type.
        value: Value,
    },
    /// Moves the entry at `from`, with its comments, to `to`.
    Move {
        /// The path of the entry before the move.
        from: Path,
        /// The path of the entry after the move, its new key included.
        to: Path,
    },
}

impl FixEdit {
    /// The places that it speaks of.
    pub(crate) fn paths_mut(&mut self) -> Vec<&mut Path> {
        match self {
            Self::RenameKey { path, .. }
            | Self::Replace { path, .. }
            | Self::Quote { path }
            | Self::Remove { path }
            | Self::Insert { path, .. } => vec![path],
            Self::Move { from, to } => vec![from, to],
        }
    }
}

/// A change that makes a finding go away.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What the change does, in the imperative: `Rename "modles" to "models"`.
    pub title: String,
    /// The changes in their order. They are applied together or not at all.
    pub edits: Vec<FixEdit>,
    /// Whether it is safe to apply without asking (`llsd fix`, `source.fixAll`).
    pub preferred: bool,
}

impl Fix {
    /// A change that chooses between possibilities, or makes up a name: not to be applied without asking.
    pub fn new(title: impl Into<String>, edits: Vec<FixEdit>) -> Self {
        Self { title: title.into(), edits, preferred: false }
    }

    /// Writes `value` at `path`, in place of what is there.
    pub fn replace(title: impl Into<String>, path: Path, value: impl Into<Value>) -> Self {
        Self::new(title, vec![FixEdit::Replace { path, value: value.into() }])
    }

    /// Writes `name` at `path`, and says so.
    pub fn change_to(path: Path, name: &str) -> Self {
        Self::replace(format!("Change to \"{name}\""), path, name)
    }

    /// Adds an entry at `path`; mappings that are missing on the way are made. Not preferred: see [`Fix::new`].
    pub fn insert(title: impl Into<String>, path: Path, value: impl Into<Value>) -> Self {
        Self::new(title, vec![FixEdit::Insert { path, value: value.into() }])
    }

    /// Removes the entry or list item at `path`.
    pub fn remove(title: impl Into<String>, path: Path) -> Self {
        Self::new(title, vec![FixEdit::Remove { path }])
    }
}

/// What is wrong, as far as somebody may have to decide by it: nobody should read it out of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cause {
    /// The rule and the place say it all.
    #[default]
    Plain,
    /// A rule of the CRD is broken.
    Crd(CrdRule),
    /// No config can be generated.
    Generation(Box<GenerateError>),
    /// An object that the resource names is missing, or has not what it should.
    Object(ReferenceKind, NeededBy),
}

impl Cause {
    /// The rule of the CRD that says the same.
    #[must_use]
    pub fn crd_rule(&self) -> Option<CrdRule> {
        match self {
            Self::Crd(rule) => Some(*rule),
            Self::Generation(error) => error.crd_rule(),
            Self::Plain | Self::Object(..) => None,
        }
    }
}

/// One thing a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule that was broken. Its id, documentation and default severity are shown with the finding.
    pub rule: &'static Rule,
    /// What is wrong, beyond rule and place.
    pub cause: Cause,
    /// The severity of this finding. Usually that of the rule; settings of the user may replace it later.
    pub severity: Severity,
    /// The place it speaks of. A missing field's path is the path that it would have.
    pub path: Path,
    /// Key or value of that place.
    pub target: Target,
    /// The sentence shown to the user on every surface.
    pub message: String,
    /// The API server's own words, where it would say it too: its `field: …` prefix is not part of it.
    pub api_server_message: Option<String>,
    /// The API server's spelling of the path, where it differs from `path`'s (`spec.m[key]`, `<nil>`).
    pub api_server_path: Option<String>,
    /// Other places that belong to it.
    pub related: Vec<Related>,
    /// Changes that would mend it.
    pub fixes: Vec<Fix>,
    /// How an editor may show it.
    pub tags: Vec<Tag>,
}

impl Finding {
    /// A finding about the value at `path`, as severe as the rule says.
    pub fn new(rule: &'static Rule, path: Path, message: impl Into<String>) -> Self {
        Self {
            rule,
            cause: Cause::Plain,
            severity: rule.severity,
            path,
            target: Target::Value,
            message: message.into(),
            api_server_message: None,
            api_server_path: None,
            related: Vec::new(),
            fixes: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// The same finding with its cause.
    #[must_use]
    pub fn because(mut self, cause: Cause) -> Self {
        self.cause = cause;
        self
    }

    /// The same finding, of another weight than the rule's.
    #[must_use]
    pub fn weighing(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Whether `other` is the same fault in another state of the object: of the same rule, at the same place, and either
    /// for the same cause or about a value that is still the same. `value` and `others` are the two objects.
    #[must_use]
    pub fn is_same_fault(&self, value: &Value, other: &Self, others: &Value) -> bool {
        let unchanged = || self.path.find(value) == other.path.find(others);
        self.rule == other.rule
            && self.path == other.path
            && self.cause.crd_rule() == other.cause.crd_rule()
            && ((self.cause != Cause::Plain && self.cause == other.cause) || unchanged())
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
