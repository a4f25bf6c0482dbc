//! The kinds of resources that the operator serves, and what differs between them as data: names, labels, paths. Each
//! has stores, a queue and workers of its own, and all of them run the same code.

use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::ogx;

/// By which labels an image tells the base config that it brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// Those of llama-stack's distributions: the config itself, or the layer and the path where it is.
    LlamaStack,
    /// Those of ogx's distributions: the name of a file, and the file.
    Ogx,
}

/// A kind of resource, as the operator sees it.
#[derive(Debug, PartialEq, Eq)]
pub struct Served {
    /// The version of the kind that the operator works with.
    pub version: ApiVersion,
    /// The plural name in URLs.
    pub plural: &'static str,
    /// The version that owner references of children name.
    pub owner_version: ApiVersion,
    /// The field manager of what is applied, and what the label `app.kubernetes.io/managed-by` says.
    pub manager: &'static str,
    /// What the label `app.kubernetes.io/part-of` of children says.
    pub part_of: &'static str,
    /// The label, with the value `true`, of all children.
    pub watch: &'static str,
    /// What the label `app` of pods says.
    pub app: &'static str,
    /// The name of the server's container.
    pub container: &'static str,
    /// The ConfigMap with the operator's settings for the kind, in the operator's namespace.
    pub settings: &'static str,
    /// Where the config is mounted.
    pub config_folder: &'static str,
    /// The path of the config in the container.
    pub config_path: &'static str,
    /// The name of the volume for the server's state.
    pub storage: &'static str,
    /// Where that volume is mounted unless the resource says otherwise.
    pub mount_path: &'static str,
    /// Hex digits of a config's hash in the name of its ConfigMap.
    pub digits: usize,
    /// Whose labels of images lead to a base config.
    pub labels: Labels,
    /// The annotation of pods that changes with the Secrets that they read.
    pub secrets_mark: &'static str,
    /// The greatest length of a resource's name: with the longest suffix it has to be a DNS label.
    pub max_name: usize,
}

/// `LlamaStackDistribution`. Its owner references name v1alpha1, as the Go operator's do: the garbage collector must be
/// able to look the owner up whichever of the two operators is installed.
pub static LLAMA_STACK: Served = Served {
    version: ApiVersion::V1Alpha2,
    plural: "llamastackdistributions",
    owner_version: ApiVersion::V1Alpha1,
    manager: "llama-stack-operator",
    part_of: "llama-stack",
    watch: "llamastack.io/watch",
    app: "llama-stack",
    container: "llama-stack",
    settings: "llama-stack-operator-config",
    config_folder: "/etc/llama-stack/",
    config_path: "/etc/llama-stack/config.yaml",
    storage: "lls-storage",
    mount_path: llsd_generator::api::v1alpha2::DEFAULT_MOUNT_PATH,
    digits: 8,
    labels: Labels::LlamaStack,
    secrets_mark: "llamastack.io/secrets-hash",
    max_name: llsd_generator::api::v1alpha2::MAX_NAME,
};

/// `OGXServer`, as ogx-k8s-operator has it, so that either operator can go on with what the other one made.
pub static OGX: Served = Served {
    version: ApiVersion::OgxV1Beta1,
    plural: "ogxservers",
    owner_version: ApiVersion::OgxV1Beta1,
    manager: "ogx-operator",
    part_of: "ogx",
    watch: ogx::WATCH_LABEL,
    app: "ogx",
    container: "ogx",
    settings: "ogx-operator-config",
    config_folder: "/etc/ogx/",
    config_path: "/etc/ogx/config.yaml",
    storage: "ogx-storage",
    mount_path: "/.ogx",
    digits: 16,
    labels: Labels::Ogx,
    secrets_mark: "secret.hash/referenced",
    max_name: 46,
};

impl Served {
    /// The kind itself.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.version.kind()
    }

    /// Whether it is `OGXServer`.
    #[must_use]
    pub fn is_ogx(&self) -> bool {
        self.kind() == Kind::OgxServer
    }
}
