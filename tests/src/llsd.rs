//! The binary under test.

pub use llsd_test_client::{binary, build};
