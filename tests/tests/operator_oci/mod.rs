//! Configs in the labels of images, read from a real registry.

mod hostile;
mod keychain;
mod labels;
mod registry;
mod trouble;
