//! One program for all tests that use the crate as others do: each further program would be linked once more.

mod agreement;
mod common;
mod cursor;
mod edit;
mod hostile;
mod moved;
mod properties;
mod recovery;
mod streams;
mod suite;
