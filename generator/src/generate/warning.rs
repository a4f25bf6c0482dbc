//! What generation has to remark about a config that it made.

use crate::path::Path;

/// A config came out, but hardly the one that was meant. The text is what the user reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// A setting of `config` that a field of the resource sets as well: the field wins.
    #[error("\"{key}\" has no effect: {by} sets the same key and wins")]
    Overridden {
        /// The place of the setting.
        path: Path,
        /// The key in the provider's `config`.
        key: String,
        /// The field that wins, as its dotted name.
        by: String,
    },
    /// A provider type that could not be looked up.
    #[error("No provider catalog for this distribution's llama-stack version: \"{provider_type}\" is used unchecked")]
    Unchecked {
        /// The place of the type.
        path: Path,
        /// The provider type with its prefix, `remote::vllm`.
        provider_type: String,
    },
    /// A model's provider that exists only under a condition.
    #[error(
        "Provider \"{id}\" exists only when the server's environment sets {variable}; without it the server does not \
         start"
    )]
    ConditionalProvider {
        /// The place of the provider's id.
        path: Path,
        /// The provider id that the model names.
        id: String,
        /// The variable on which it depends.
        variable: String,
    },
    /// Two labels of the image that do not go together.
    #[error(
        "The labels of {image} say that its config has version {label}, and the config has version {version}, which counts: \
         the image was labelled for another config"
    )]
    LabelVersion {
        /// The place of the distribution's name or image.
        path: Path,
        /// The image reference.
        image: String,
        /// The version that the label says, as it is written.
        label: String,
        /// The version that the config has.
        version: u32,
    },
    /// A tool group that goes to another provider than usual.
    #[error(
        "\"{tool}\" is registered with \"{provider}\", the first toolRuntime provider of the resource. The distribution \
         serves it with \"{usual}\""
    )]
    OtherProvider {
        /// The place of the tool group.
        path: Path,
        /// The id of the tool group.
        tool: String,
        /// The provider that it is registered with.
        provider: String,
        /// The provider of the distribution.
        usual: String,
    },
}

impl Warning {
    /// The place in the resource that the warning speaks of.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Overridden { path, .. }
            | Self::Unchecked { path, .. }
            | Self::ConditionalProvider { path, .. }
            | Self::LabelVersion { path, .. }
            | Self::OtherProvider { path, .. } => path,
        }
    }
}
