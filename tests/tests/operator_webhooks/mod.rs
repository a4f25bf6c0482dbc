//! The operator's webhooks, asked by a real API server.

mod admission;
mod certificates;
mod conversion;
mod exhaustion;
mod hooks;
mod mounted;
#[path = "../../../generator/tests/objects/mod.rs"]
mod objects;
mod surroundings;
