//! The language server and command line for `LlamaStackDistribution` resources.
//!
//! `ide` answers questions about text in plain data and byte offsets; everything else carries its answers to an
//! editor or a terminal.

pub mod ide;
