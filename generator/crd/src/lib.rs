//! Validates an object against a `CustomResourceDefinition` as the Kubernetes API server does, without one.
//!
//! The answer has the API server's order, places and words, and says beside it in plain words what is wrong:
//!
//! - unknown fields, as strict field validation finds them;
//! - defaults, and nulls that the API server drops;
//! - the structure: types, required fields, bounds, patterns, formats, lists that are sets or maps, alternatives;
//! - the rules of `x-kubernetes-validations`, in Kubernetes' dialect of CEL, unless the structure is broken;
//! - ratcheting: what was wrong in the old object and has not changed is not held against the new one.
//!
//! What cannot be decided as the API server would is reported as [`NotChecked`], never as passed. The crate is pure: no
//! clock, no file system, no network, and no `unsafe` code.
//!
//! ```
//! use crd_validator::{CompiledSchema, FaultKind};
//! use serde_json::json;
//!
//! let schema = CompiledSchema::new(&json!({
//!     "type": "object",
//!     "properties": {"spec": {
//!         "type": "object",
//!         "required": ["replicas"],
//!         "properties": {
//!             "replicas": {"type": "integer", "minimum": 1},
//!             "maxReplicas": {"type": "integer", "default": 3},
//!         },
//!         "x-kubernetes-validations": [{
//!             "rule": "self.replicas <= self.maxReplicas",
//!             "message": "replicas must not exceed maxReplicas",
//!         }],
//!     }},
//! }));
//! let object = json!({
//!     "apiVersion": "example.com/v1",
//!     "kind": "Shop",
//!     "metadata": {"name": "corner"},
//!     "spec": {"replicas": 5},
//! });
//!
//! let verdict = schema.validate(&object, None);
//! let fault = &verdict.faults[0];
//! assert_eq!((fault.kind, fault.path.to_string().as_str()), (FaultKind::Rule, "spec"));
//! assert_eq!(fault.server_message, "Invalid value: replicas must not exceed maxReplicas");
//! assert!(verdict.not_checked.is_empty());
//! // The default that the rule saw.
//! assert_eq!(verdict.defaulted["spec"]["maxReplicas"], 3);
//! ```
//!
//! A whole definition is read with [`Definition`], which finds the schema of an object's `apiVersion`.
//!
//! # What is not checked
//!
//! - `metadata`, which no CRD describes beyond name and generateName.
//! - The definition itself: the API server refuses a schema that is not structural, a rule that does not type-check or
//!   costs too much. [`CompiledSchema::uncheckable_rules`] tells the rules that cannot be evaluated here.

mod cel;
mod definition;
mod fault;
mod format;
pub mod nearest;
pub mod path;
mod pattern;
mod place;
pub mod quantity;
mod schema;
mod text;
mod validate;
mod verdict;
mod walk;

pub use definition::{Definition, DefinitionError};
pub use fault::{Fault, FaultKind};
pub use path::{Path, Segment};
pub use schema::CompiledSchema;
pub use validate::MAX_DEPTH;
pub use verdict::{Check, NotChecked, Reason, Verdict};
