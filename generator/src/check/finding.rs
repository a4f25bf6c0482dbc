//! What a check has to say about one place of an object.

use super::rule::Rule;
use super::rules::ReferenceKind;
use crate::api::CrdRule;
use crate::generate::GenerateError;
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

    /// Adds an entry.
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
    Object(ReferenceKind),
}

impl Cause {
    /// The rule of the CRD that says the same.
    #[must_use]
    pub fn crd_rule(&self) -> Option<CrdRule> {
        match self {
            Self::Crd(rule) => Some(*rule),
            Self::Generation(error) => error.crd_rule(),
            Self::Plain | Self::Object(_) => None,
        }
    }
}

/// One thing a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// What is wrong, beyond rule and place.
    pub cause: Cause,
    /// How much it weighs.
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
