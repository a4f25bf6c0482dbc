//! The operator for `LlamaStackDistribution` resources, and for `OGXServer` ones where it is told to.

pub mod api;
pub mod backoff;
pub mod controller;
pub mod events;
mod extent;
pub mod external;
pub mod health;
mod lane;
pub mod leadership;
pub mod lease;
pub mod metrics;
pub mod oci;
pub mod operator_config;
pub mod probe;
pub mod process;
pub mod queue;
pub mod rbac;
pub mod reconcile;
pub mod resources;
pub mod served;
pub mod serving;
pub mod settings;
pub mod steps;
pub mod stores;
pub mod webhooks;
