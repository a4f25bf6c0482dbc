//! The verdict on a resource.

pub mod finding;
