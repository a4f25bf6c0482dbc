//! The verdict on a resource.

pub mod facts;
pub mod finding;
mod validated;

pub use facts::Facts;
pub use validated::Validated;

use crate::api::ApiVersion;
use crate::path::Path;
use finding::Finding;
use serde_json::Value;
use std::collections::BTreeSet;

/// What is asked for a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The version whose rules apply.
    pub version: ApiVersion,
    /// The whole object.
    pub value: &'a Value,
    /// The object that it replaces, for rules about changes.
    pub old: Option<&'a Value>,
    /// Places whose value is not known, such as those that a template fills in. What is below them is unknown too.
    pub unknown: &'a BTreeSet<Path>,
    /// What the caller knows of the surroundings.
    pub facts: &'a Facts,
}

/// A rule that could not be decided. It is neither passed nor failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotChecked {
    /// The place that the rule speaks of.
    pub path: Path,
    /// The rule's id, or its CEL expression.
    pub rule: String,
    /// What is missing.
    pub reason: String,
}

/// The verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What was found: first what the API server says, in its order, then the rules beyond it.
    pub findings: Vec<Finding>,
    /// What could not be decided.
    pub not_checked: Vec<NotChecked>,
    /// The model of a v1alpha2 resource without errors.
    pub model: Option<Validated>,
}

/// Judges a resource. Every surface asks here, so all of them say the same.
#[must_use]
pub fn verdict(request: &Request<'_>) -> Outcome {
    let model = match request.version {
        ApiVersion::V1Alpha2 => Validated::read(request.value),
        ApiVersion::V1Alpha1 => None,
    };
    Outcome { findings: Vec::new(), not_checked: Vec::new(), model }
}
