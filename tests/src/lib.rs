//! What the tests share.

pub mod cluster;
pub mod llama_stack;
pub mod llsd;
pub mod operator;
