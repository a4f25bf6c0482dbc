//! From a validated resource to the llama-stack configuration that it stands for.
//!
//! [`generate`] is the pipeline; each stage is one file and works on the draft that the stages before left.
//! Every value of the draft knows its [`Origin`], and [`render`] writes text and origins together. The same input
//! gives the same bytes.

mod base;
mod config;
mod disabled;
mod draft;
mod error;
mod external;
mod origin;
mod providers;
mod render;
mod resources;
mod secrets;
mod server;
mod storage;
mod tracked;
mod version;
mod warning;

pub use base::{Base, BaseSource, printed};
pub(crate) use base::{embedded_base, read as read_base};
pub use config::Config;
pub(crate) use draft::plain_id;
pub use error::GenerateError;
pub use external::{ConfigError, External, Merged, merge_external};
pub use origin::Origin;
pub(crate) use providers::of_api;
pub use providers::{ProviderTypeError, resolve_type};
pub use render::{Rendered, render};
pub use secrets::{DerivedKind, DerivedSecret, EnvSource, EnvVar, SecretKey, variable_name};
pub use server::{TLS_CERTIFICATE, TLS_KEY, TLS_MOUNT_PATH};
pub use tracked::{Data, Map, Tracked};
pub use warning::Warning;

use crate::api::v1alpha2::LlamaStackDistributionSpec;
use crate::catalog::Catalog;
use crate::validated::Validated;
use draft::Draft;

/// A generated configuration, and all that goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The server's config with origins; [`super::generate::Rendered`] is its text.
    pub config: Config,
    /// The environment variables that the config reads secrets from.
    pub env: Vec<EnvVar>,
    /// The Secrets that the operator makes from Secrets of the user, because llama-stack cannot read these as they
    /// are.
    pub derived_secrets: Vec<DerivedSecret>,
    /// Number of providers in the config, those of the base included.
    pub providers: usize,
    /// Number of registered resources in the config, those of the base included.
    pub resources: usize,
    /// Schema version of the config: 1 or 2.
    pub config_version: u32,
    /// What was settled in a way that the user may not expect.
    pub warnings: Vec<Warning>,
}

/// What the server runs with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// The config of a ConfigMap of the user, in the resource's namespace.
    Override {
        /// `metadata.name` of the ConfigMap that holds the config.
        config_map: String,
    },
    /// The operator generates the config into a ConfigMap of its own.
    Generated,
    /// The config that the image brings.
    Image,
}

impl ConfigSource {
    /// What a resource asks for.
    #[must_use]
    pub fn of(spec: &LlamaStackDistributionSpec) -> Self {
        match &spec.override_config {
            Some(config) => Self::Override { config_map: config.config_map_name.clone() },
            None if spec.generates() => Self::Generated,
            None => Self::Image,
        }
    }
}

/// The catalog of the llama-stack version that a distribution runs, and that version as far as it is known: from the
/// image's tag, else from the list of distributions.
#[must_use]
pub fn target(spec: &LlamaStackDistributionSpec) -> (Option<&'static Catalog>, Option<String>) {
    let version = base::version_of(&spec.distribution);
    (version.as_deref().and_then(Catalog::for_version), version)
}

/// Generates the config of a resource from the base config of its distribution. `catalog` is that of the llama-stack
/// version that will read the config; without it names and settings of providers cannot be checked, and conventions
/// stand in for knowledge.
///
/// A resource that declares nothing to generate ([`ConfigSource::Image`]) gives the base config.
///
/// # Errors
/// What stands in the way, with the place in the resource. An error quotes no secret.
pub fn generate(resource: &Validated, base: &Base, catalog: Option<&Catalog>) -> Result<Generated, GenerateError> {
    if let ConfigSource::Override { config_map } = ConfigSource::of(resource.spec()) {
        return Err(GenerateError::Overridden { config_map });
    }
    let mut draft = Draft::new(resource, base::read(base)?, catalog);
    let config_version = version::check(&draft.config)?;
    draft.warnings.extend(version::of_label(base, &resource.spec().distribution, config_version));
    providers::overlay(&mut draft)?;
    storage::apply(&mut draft)?;
    disabled::remove(&mut draft)?;
    resources::register(&mut draft)?;
    server::apply(&mut draft);
    let Draft { config, env, derived_secrets, warnings, .. } = draft;
    let env = secrets::distinct(env)?;
    Ok(Generated {
        providers: providers::count(&config),
        resources: resources::count(&config),
        config: Config::new(config),
        env,
        derived_secrets,
        config_version,
        warnings,
    })
}
