//! Configs in the labels of images, read from a real registry.

#![allow(clippy::unwrap_used, reason = "tests")]

mod keychain;
mod labels;
mod registry;
mod trouble;
