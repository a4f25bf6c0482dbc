//! Stage: the config's own schema version.

use super::base::{Base, BaseSource};
use super::draft::spec_path;
use super::error::GenerateError;
use super::tracked::{Data, Tracked};
use super::warning::Warning;
use crate::api::v1alpha2::Distribution;

/// The schema version of a config: an integer, or a string that holds one. Absent means 1, which did not have the
/// field at first.
///
/// # Errors
/// Any version but 1 and 2.
pub(super) fn check(config: &Tracked) -> Result<u32, GenerateError> {
    let written = match config.get("version").map(|version| &version.data) {
        None => return Ok(1),
        Some(Data::Literal(text) | Data::Text(text)) => text.as_str(),
        Some(Data::List(_)) => "[…]",
        Some(Data::Map(_)) => "{…}",
    };
    match written.trim() {
        "1" => Ok(1),
        "2" => Ok(2),
        other => Err(GenerateError::UnsupportedVersion { version: other.to_owned() }),
    }
}

/// What there is to remark where the labels of an image say another version than their config has.
pub(super) fn of_label(base: &Base, distribution: &Distribution, version: u32) -> Option<Warning> {
    let BaseSource::OciLabel { image, version: Some(label) } = &base.source else { return None };
    if label.trim() == version.to_string() {
        return None;
    }
    let field = if distribution.name.is_some() { "name" } else { "image" };
    let path = spec_path().key("distribution").key(field);
    Some(Warning::LabelVersion { path, image: image.clone(), label: label.clone(), version })
}
