//! The walks over an object and its schema: what the API server does to an object before it looks at it, and what it
//! says about its structure.

mod embedded;
mod lists;
pub(crate) mod prepare;
mod structure;

pub(crate) use embedded::check as check_embedded;
pub(crate) use lists::{OldItems, check as check_lists, child_path};
pub(crate) use structure::check as check_structure;
