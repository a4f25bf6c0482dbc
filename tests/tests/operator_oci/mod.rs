//! Configs in the labels of images, read from a real registry.

mod hostile;
mod keychain;
pub(crate) mod labels;
pub(crate) mod registry;
mod trouble;
