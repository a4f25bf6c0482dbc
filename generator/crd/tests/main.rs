//! One program for all tests that use the crate as others do: each further program would be linked once more.

mod hostile;
mod recorded;
