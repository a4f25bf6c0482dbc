//! The operator for `LlamaStackDistribution` resources.
