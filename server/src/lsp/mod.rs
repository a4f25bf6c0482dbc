//! The thin edge to editors: JSON-RPC, positions, URIs. Nothing here knows what a resource means.

mod backend;
mod builds;
mod capabilities;
mod client_watchdog;
mod cluster;
mod codec;
mod computing;
mod configuration;
mod convert;
mod diagnostics_json;
#[cfg(target_family = "wasm")]
mod embedded;
mod files;
mod guard;
mod handlers;
mod navigate;
mod outgoing;
mod progress;
mod publish;
mod server;
mod virtual_document;
mod workspace_files;

#[cfg(target_family = "wasm")]
pub use embedded::Embedded;
pub use server::{Transport, run, run_over};
