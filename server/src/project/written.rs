//! The shape of `llsd.toml`, as serde reads it.

use crate::ide::Severity;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use toml::Spanned;

/// Settings of llsd for the files in and below the folder of this one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "llsd.toml")]
pub(super) struct Written {
    /// The llama-stack version to assume where the distribution does not tell it, such as 0.4.7.
    #[schemars(with = "Option<String>", regex(pattern = r"^\d+\.\d+\.\d+$"))]
    pub(super) llama_stack_version: Option<Spanned<String>>,
    /// The only files that are looked at, as patterns of .gitignore relative to this folder. Without it: all.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) include: Option<Vec<Spanned<String>>>,
    /// Files that are left alone, as patterns of .gitignore relative to this folder.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) exclude: Vec<Spanned<String>>,
    /// Base configs, by the name or image of the distribution that starts from them: files in the folder of this one or
    /// below.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) bases: BTreeMap<Spanned<String>, Spanned<String>>,
    /// How findings are shown, by rule. A name that ends in * stands for all rules that begin so; the longest one counts.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Level>")]
    pub(super) severity: BTreeMap<Spanned<String>, Level>,
}

/// How a finding is shown. Errors and warnings make `llsd check` fail.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// Findings are errors.
    Error,
    /// Findings are warnings.
    Warning,
    /// Findings are information.
    Information,
    /// Findings are hints.
    Hint,
    /// Findings are left out.
    Off,
}

impl From<Level> for Option<Severity> {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Some(Severity::Error),
            Level::Warning => Some(Severity::Warning),
            Level::Information => Some(Severity::Information),
            Level::Hint => Some(Severity::Hint),
            Level::Off => None,
        }
    }
}

/// The JSON Schema of the file, for editors of TOML.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(Written).to_value()
}
