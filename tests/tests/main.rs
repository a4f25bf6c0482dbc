//! One program for all tests across the crates: each further program would be linked once more.

#![allow(clippy::unwrap_used, reason = "tests")]

mod cases;
mod circles;
mod cluster;
mod docs;
mod editor_emacs;
mod editor_neovim;
mod end_to_end;
mod kustomize;
mod operator;
mod operator_external;
mod operator_faults;
mod operator_lease;
mod operator_manifests;
mod operator_oci;
mod operator_webhooks;
mod release;
mod server;
mod status;
mod walls;
