//! What a `LlamaStackDistribution` means: its types and schema, what is wrong with one, which llama-stack
//! configuration it stands for, and how its versions translate into each other.
//!
//! The crate is pure: no clock, no file system, no network, no async.

pub mod api;
pub mod catalog;
pub mod check;
pub mod config;
pub mod convert;
pub mod distribution;
pub mod document;
pub mod fold;
pub mod generate;
pub mod kustomize;
pub mod names;
mod validated;

pub use crd_validator::{nearest, path, quantity};
