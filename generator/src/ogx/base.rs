//! Base configs of ogx's distributions.

use crate::distribution::BaseConfig;
use crate::generate::{Base, BaseSource};
use std::borrow::Cow;

/// The base config that this program has for a distribution in a version of ogx.
pub(crate) fn embedded(distribution: &str, version: &str) -> Option<Base> {
    let found = BaseConfig::of_version(distribution, version)?;
    Some(Base { text: Cow::Borrowed(found.text), source: BaseSource::Embedded(found) })
}
