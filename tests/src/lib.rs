//! What the tests share.

pub mod cluster;
