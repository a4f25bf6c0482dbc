//! What a `LlamaStackDistribution` and an `OGXServer` mean: their types and schemas, what is wrong with one, which
//! configuration of the server it stands for, and how one becomes the other.
//!
//! The crate is pure: no clock, no file system, no network, no async.

pub mod api;
pub mod catalog;
pub mod chart;
pub mod check;
pub mod config;
pub mod convert;
pub mod distribution;
pub mod document;
pub mod fold;
pub mod generate;
pub mod kustomize;
pub mod names;
pub mod ogx;
pub mod references;
mod validated;

pub use crd_validator::{nearest, path, quantity};
