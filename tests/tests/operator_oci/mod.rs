//! Configs in the labels of images, read from a real registry.

mod keychain;
mod labels;
mod registry;
mod trouble;
