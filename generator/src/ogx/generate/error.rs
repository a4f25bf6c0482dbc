//! Why no config can be generated, in upstream's words.

use crate::generate::GenerateError;
use crate::path::Path;

/// What stands in the way of a config.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The base config cannot be read.
    #[error("{0}")]
    Base(#[from] GenerateError),
    /// The base config has no version.
    #[error("failed to validate base config: missing required 'version' field")]
    NoVersion,
    /// Two secrets would have to share a variable.
    #[error("failed to validate env var name collision for \"{variable}\": {one} conflicts with {other}")]
    Variable {
        /// The name that both would get.
        variable: String,
        /// The first secret, as `name/key`.
        one: String,
        /// The second secret, as `name/key`.
        other: String,
        /// Where the first one is named.
        first: Path,
        /// Where the second one is named.
        path: Path,
    },
    /// A setting that is a secret, too.
    #[error("failed to expand provider \"{id}\": key \"{key}\" appears in both secretRefs and settings")]
    SettingTwice {
        /// The place of the setting.
        path: Path,
        /// The id of the provider.
        id: String,
        /// The key that stands in both.
        key: String,
    },
    /// Settings that are no mapping.
    #[error("failed to unmarshal settings JSON for provider \"{id}\": settings must be an object")]
    Settings {
        /// The place of the settings.
        path: Path,
        /// The id of the provider.
        id: String,
    },
    /// A model that no provider can serve.
    #[error(
        "failed to assign provider for model \"{model}\": no explicit provider and no inference providers are configured"
    )]
    NoProvider {
        /// The place of the model.
        path: Path,
        /// The `name` of the model.
        model: String,
    },
}

impl Error {
    /// The place in the resource that it speaks of.
    #[must_use]
    pub fn path(&self) -> Path {
        match self {
            Self::Base(_) | Self::NoVersion => Path::parse("spec.baseConfig"),
            Self::Variable { path, .. }
            | Self::SettingTwice { path, .. }
            | Self::Settings { path, .. }
            | Self::NoProvider { path, .. } => path.clone(),
        }
    }
}
