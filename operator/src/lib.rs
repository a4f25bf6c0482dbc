//! The operator for `LlamaStackDistribution` resources.

pub mod backoff;
pub mod external;
pub mod health;
pub mod lease;
pub mod oci;
pub mod rbac;
pub mod resources;
pub mod webhooks;
