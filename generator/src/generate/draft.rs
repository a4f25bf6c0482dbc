//! The config while it is made.

use super::origin::Origin;
use super::secrets::{DerivedSecret, EnvVar};
use super::tracked::{Map, Tracked};
use super::warning::Warning;
use crate::api::v1alpha2::LlamaStackDistributionSpec;
use crate::catalog::Catalog;
use crate::path::Path;
use crate::validated::Validated;

/// The state that the stages of the pipeline hand on.
pub(super) struct Draft<'a> {
    /// `metadata.name` of the resource: names of derived Secrets begin with it.
    pub(super) name: &'a str,
    /// What the resource asks for.
    pub(super) spec: &'a LlamaStackDistributionSpec,
    /// What the target version knows.
    pub(super) catalog: Option<&'a Catalog>,
    /// The config as far as the stages have come, each value with its origin.
    pub(super) config: Tracked,
    /// Variables asked for so far; several may still have one name.
    pub(super) env: Vec<EnvVar>,
    /// Derived Secrets asked for so far.
    pub(super) derived_secrets: Vec<DerivedSecret>,
    /// What the stages found to remark, in their order.
    pub(super) warnings: Vec<Warning>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(resource: &'a Validated, config: Tracked, catalog: Option<&'a Catalog>) -> Self {
        Self {
            name: resource.name(),
            spec: resource.spec(),
            catalog,
            config,
            env: Vec::new(),
            derived_secrets: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The config's root, which is a mapping.
    pub(super) fn root(&mut self) -> &mut Map {
        self.config.map_mut(&Origin::Rule("a config is a mapping"))
    }

    /// Where the server keeps files.
    pub(super) fn data_folder(&self) -> &str {
        let workload = self.spec.workload.as_ref();
        let path = workload.and_then(|workload| workload.storage.as_ref()?.mount_path.as_deref());
        path.unwrap_or(crate::api::v1alpha2::DEFAULT_MOUNT_PATH).trim_end_matches('/')
    }
}

/// The id that a base config's `provider_id` stands for: `vllm` for `${env.VLLM_URL:+vllm}`.
pub(crate) fn plain_id(written: &str) -> &str {
    condition(written).map_or(written, |(_, id)| id)
}

/// Variable and id of a conditional `provider_id` such as `${env.VLLM_URL:+vllm}`; `None` if it is unconditional.
pub(super) fn condition(written: &str) -> Option<(&str, &str)> {
    written.strip_prefix("${env.")?.strip_suffix('}')?.split_once(":+")
}

/// The path `spec` of a resource.
pub(super) fn spec_path() -> Path {
    Path::root().key("spec")
}
