//! One program for all tests that use the crate as others do: each further program would be linked once more.

#![allow(clippy::unwrap_used, reason = "tests")]

mod conversion;
mod crd;
mod generate;
mod generate_laws;
mod migration;
mod objects;
mod ogx;
mod rules;
mod server_config;
