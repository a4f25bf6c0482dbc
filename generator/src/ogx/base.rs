//! Base configs of ogx's distributions.

use super::versions;
use crate::distribution::{BaseConfig, version_of_image};
use crate::generate::{Base, BaseSource};
use std::borrow::Cow;

/// The base config that this program has for a distribution, in the version of ogx that an image tells.
#[must_use]
pub fn of_image(distribution: &str, image: &str) -> Option<Base> {
    embedded(distribution, versions::resolve(version_of_image(image).as_deref()))
}

/// The base config that this program has for a distribution in a version of ogx.
pub(crate) fn embedded(distribution: &str, version: &str) -> Option<Base> {
    let found = BaseConfig::of_version(distribution, version)?;
    Some(Base { text: Cow::Borrowed(found.text), source: BaseSource::Embedded(found) })
}
