//! The config that a generated one starts from.

use super::error::GenerateError;
use super::origin::Origin;
use super::tracked::Tracked;
use crate::api::v1alpha2::Distribution;
use crate::distribution::{BaseConfig, Distributions, version_of_image};
use std::borrow::Cow;

/// Where a base config was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseSource {
    /// In this program, under the distribution's name.
    Embedded {
        /// The distribution.
        distribution: String,
    },
    /// In the labels of the image.
    OciLabel {
        /// The image.
        image: String,
    },
    /// Given by the user.
    Given,
}

/// A base config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The YAML text. [`Origin::Base`] counts its lines.
    pub text: Cow<'static, str>,
    /// Where it was found.
    pub source: BaseSource,
}

impl Base {
    /// The base config that this program has for a distribution.
    ///
    /// # Errors
    /// The name is unknown, or the distribution is an image: then its labels may hold one, or nothing does.
    pub fn embedded(distribution: &Distribution) -> Result<Self, GenerateError> {
        let Some(name) = &distribution.name else { return Err(GenerateError::BaseConfigRequired) };
        let known = Distributions::embedded().get(name)?;
        let text = BaseConfig::embedded(&known.name).ok_or(GenerateError::BaseConfigRequired)?;
        Ok(Self { text: Cow::Borrowed(text), source: BaseSource::Embedded { distribution: known.name.clone() } })
    }
}

/// The llama-stack version of a distribution: of the image's tag, else of the list of distributions.
pub(super) fn version_of(distribution: &Distribution) -> Option<String> {
    if let Some(image) = &distribution.image {
        return version_of_image(image);
    }
    let known = Distributions::embedded().get(distribution.name.as_deref()?).ok()?;
    version_of_image(&known.image).or_else(|| Some(known.llama_stack_version.clone()))
}

/// Reads a base config. Lines are not told apart yet.
///
/// # Errors
/// It is no YAML.
pub(super) fn read(base: &Base) -> Result<Tracked, GenerateError> {
    let value: serde_json::Value =
        serde_yaml::from_str(&base.text).map_err(|e| GenerateError::InvalidBase { message: e.to_string(), line: 0 })?;
    Ok(Tracked::from_json(&value, &crate::path::Path::root(), &|_| Origin::Base { line: 0 }))
}
