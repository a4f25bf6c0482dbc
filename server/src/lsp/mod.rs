//! The thin edge to editors: JSON-RPC, positions, URIs. Nothing here knows what a resource means.

mod backend;
mod capabilities;
mod cluster;
mod configuration;
mod convert;
mod files;
mod guard;
mod handlers;
mod library;
mod navigate;
mod outgoing;
mod parent;
mod progress;
mod publish;
mod rendered;
mod server;
mod virtual_document;
mod wire;

pub use server::{Transport, run, run_over};
