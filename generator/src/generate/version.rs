//! Stage: the config's own schema version.

use super::error::GenerateError;
use super::tracked::{Data, Tracked};

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
