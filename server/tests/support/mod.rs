//! The language client of the tests, on the binary of this package.

#![allow(unused_imports, reason = "each test binary uses its own part")]

pub(crate) use llsd_test_client::{Client, at, edited, insert, llsd};
