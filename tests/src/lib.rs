//! What tests of several crates share: the API server, llama-stack, the operator as a process.

pub mod cases;
pub mod cluster;
pub mod helm;
pub mod llama_stack;
pub mod llsd;
pub mod operator;
