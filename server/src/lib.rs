//! The language server and command line for `LlamaStackDistribution` resources.
//!
//! `ide` answers questions about text in plain data and byte offsets; everything else carries its answers to an
//! editor or a terminal.

#[cfg(feature = "protocol")]
pub mod built;
#[cfg(feature = "system")]
pub mod cli;
#[cfg(feature = "protocol")]
pub mod cluster;
#[cfg(feature = "protocol")]
pub mod documents;
pub mod ide;
#[cfg(feature = "protocol")]
pub mod lsp;
#[cfg(feature = "protocol")]
pub mod project;
#[cfg(feature = "protocol")]
pub mod schedule;
#[cfg(feature = "protocol")]
pub mod session;
#[cfg(feature = "protocol")]
pub mod settings;
pub mod severities;
#[cfg(feature = "protocol")]
pub mod subprocess;
#[cfg(feature = "protocol")]
pub mod surroundings;
#[cfg(feature = "protocol")]
pub mod workspace;
