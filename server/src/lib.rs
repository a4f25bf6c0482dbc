//! The language server and command line for `LlamaStackDistribution` resources.
//!
//! `ide` answers questions about text in plain data and byte offsets; everything else carries its answers to an
//! editor or a terminal.

pub mod cli;
pub mod cluster;
pub mod documents;
pub mod ide;
pub mod lsp;
pub mod project;
pub mod schedule;
pub mod session;
pub mod settings;
pub mod severities;
pub mod subprocess;
pub mod workspace;
