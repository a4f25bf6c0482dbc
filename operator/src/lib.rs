//! The operator for `LlamaStackDistribution` resources.

pub mod resources;
