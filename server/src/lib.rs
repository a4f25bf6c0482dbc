//! The language server and command line for `LlamaStackDistribution` resources.
//!
//! `ide` answers questions about text in plain data and byte offsets; everything else carries its answers to an
//! editor or a terminal.

#[cfg(feature = "system")]
pub mod built;
#[cfg(feature = "system")]
pub mod cli;
#[cfg(feature = "system")]
pub mod cluster;
#[cfg(feature = "system")]
pub mod documents;
pub mod ide;
#[cfg(feature = "system")]
pub mod lsp;
#[cfg(feature = "system")]
pub mod project;
#[cfg(feature = "system")]
pub mod schedule;
#[cfg(feature = "system")]
pub mod session;
#[cfg(feature = "system")]
pub mod settings;
pub mod severities;
#[cfg(feature = "system")]
pub mod subprocess;
#[cfg(feature = "system")]
pub mod surroundings;
#[cfg(feature = "system")]
pub mod workspace;
