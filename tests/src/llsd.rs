//! The binary `llsd` that tests run.

pub use llsd_test_client::{binary, build};
