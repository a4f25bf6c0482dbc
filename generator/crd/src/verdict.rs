//! The answer to a validation.

use crate::fault::Fault;
use crate::path::Path;
use serde_json::Value;
use std::fmt;

/// What schema and rules say about one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// What the API server would refuse, in its order.
    pub faults: Vec<Fault>,
    /// Checks that could not be decided: neither passed nor failed.
    pub not_checked: Vec<NotChecked>,
    /// The object as it would be stored and as the rules see it: with defaults, without unknown fields and without
    /// nulls where the schema does not allow them. Null where the object is too deep to be looked at.
    pub defaulted: Value,
}

/// A check that could not be decided. Whoever promises the API server's verdict must not count it as passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotChecked {
    /// The place that the check speaks of.
    pub path: Path,
    /// Which check it is, with what is needed to find it in the schema.
    pub check: Check,
    /// Why it could not be decided. It reads as a clause: "… was not checked: {reason}".
    pub reason: Reason,
}

/// Which check was not made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// None at all was made.
    Object,
    /// That of the named `format`.
    Format(String),
    /// That of the `pattern`, given as in the schema.
    Pattern(String),
    /// That of a rule of `x-kubernetes-validations`, given by its CEL expression.
    Rule(String),
}

/// Why a check was not made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A rule about a change, and no old object was given. The API server passes over it as well.
    NoOldObject,
    /// The answer depends on a value that the caller does not know.
    UnknownValue,
    /// The object is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep,
    /// The rule takes more steps than it may. The API server has a budget, too, counted in another way.
    TooManySteps,
    /// It cannot be told here what the API server would say; the text is a clause that tells why.
    Unsupported(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOldObject => out.write_str("there is no old object to compare with"),
            Self::UnknownValue => out.write_str("it depends on a value that is not known"),
            Self::TooDeep => write!(out, "the object is nested more than {} levels deep", crate::MAX_DEPTH),
            Self::TooManySteps => out.write_str("the rule takes too many steps"),
            Self::Unsupported(what) => out.write_str(what),
        }
    }
}
