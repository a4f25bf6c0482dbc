//! What a kustomization makes of the files around it. Source: kustomize 5 (`api/types`, `kyaml/yaml/merge2`) and what
//! it prints; the tests compare with the program itself.
//!
//! Pure: which text a path stands for is the caller's business. It is no second builder: it answers which file is what,
//! and what a patch makes of a `LlamaStackDistribution`.

mod between;
mod directive;
mod generator;
mod merge;
mod patch;
mod pointer;

pub use between::{merge_between, operations_between};
pub use directive::{DIRECTIVES, Undirected, is_directive, undirected};
pub use generator::{Behavior, Content, Generator, env_keys};
pub use merge::{MergeError, merge};
pub(crate) use patch::written;
pub use patch::{Identity, OperationFault, Operations, Patch, PatchError, Source, Target, apply};
pub use pointer::Pointer;

use serde_json::Value;

/// The names under which kustomize looks for its instructions.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Groups of kinds that kustomize reads; others, such as Flux's `Kustomization`, only share the name.
const GROUP: &str = "kustomize.config.k8s.io/";

/// Fields whose effect on a custom resource is not followed here.
const OPAQUE: [&str; 8] =
    ["configurations", "crds", "generators", "openapi", "replacements", "transformers", "validators", "vars"];

/// The instructions of one folder. Paths are as written, relative to the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kustomization {
    /// Whether it is a `Component`: it works on the resources of whoever includes it.
    pub is_component: bool,
    /// Files, folders and URLs of `resources` and the older `bases`.
    pub resources: Vec<String>,
    /// Folders of `components`, which work on the resources that `resources` brings.
    pub components: Vec<String>,
    /// All patches, in the order in which kustomize applies them.
    pub patches: Vec<Patch>,
    /// ConfigMaps and Secrets that it makes.
    pub generators: Vec<Generator>,
    /// Put in front of the names of all resources.
    pub name_prefix: String,
    /// Put behind the names of all resources; empty where it sets none.
    pub name_suffix: String,
    /// The namespace that all resources get; empty where it sets none.
    pub namespace: String,
    /// Everything that it would fetch, from anywhere in it.
    pub remote: Vec<String>,
    /// Whether it changes resources in ways that are not followed here, such as transformers of its own.
    pub is_opaque: bool,
}

impl Kustomization {
    /// Reads the plain value of a file with one of [`FILE_NAMES`]. `None` where it is not kustomize's, such as a
    /// `Kustomization` of Flux. What has another type than kustomize expects is passed over: it refuses the file.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default();
        let (group, kind) = (text("apiVersion"), text("kind"));
        let ours = (group.is_empty() || group.starts_with(GROUP)) && matches!(kind, "" | "Kustomization" | "Component");
        if !ours {
            return None;
        }
        let mut resources = texts(value, "resources");
        resources.append(&mut texts(value, "bases"));
        Some(Self {
            is_component: kind == "Component",
            resources,
            components: texts(value, "components"),
            patches: patch::read_all(value),
            generators: generator::read_all(value),
            name_prefix: text("namePrefix").to_owned(),
            name_suffix: text("nameSuffix").to_owned(),
            namespace: text("namespace").to_owned(),
            remote: remote(value),
            is_opaque: OPAQUE.iter().any(|field| fields.get(*field).is_some_and(|value| !value.is_null())),
        })
    }
}

/// Fields whose texts are paths, or have paths below keys of [`PATHS`].
const WITH_PATHS: [&str; 17] = [
    "bases",
    "components",
    "configMapGenerator",
    "configurations",
    "crds",
    "generators",
    "helmCharts",
    "helmChartInflationGenerator",
    "openapi",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "resources",
    "secretGenerator",
    "transformers",
    "validators",
];

/// Keys whose values are paths.
const PATHS: [&str; 6] = ["path", "files", "envs", "env", "repo", "valuesFile"];

/// Everything that a kustomization would fetch.
fn remote(kustomization: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for field in WITH_PATHS {
        let Some(value) = kustomization.get(field) else { continue };
        // patches and resources may be written in place of a path: those are no paths
        let own = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut paths: Vec<&str> = own.filter(|text| !text.contains('\n')).collect();
        let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for inner in items.iter().flat_map(|item| PATHS.iter().filter_map(|key| item.get(*key))) {
            paths.extend(inner.as_str());
            paths.extend(inner.as_array().into_iter().flatten().filter_map(Value::as_str));
        }
        // `key=path` of a generator
        let path = |text: &str| is_remote(text) || text.split_once('=').is_some_and(|(_, path)| is_remote(path));
        found.extend(paths.into_iter().filter(|text| path(text)).map(str::to_owned));
    }
    found
}

/// Whether a path of `resources` or `components` is fetched from somewhere: a URL, or a repository as git writes it.
/// Source: kustomize's `git.NewRepoSpecFromURL`, more broadly, so that nothing remote is taken for a file.
#[must_use]
pub fn is_remote(path: &str) -> bool {
    let host = path.split('/').next().unwrap_or_default();
    path.contains("://")
        || path.contains("git::")
        || path.contains("?ref=")
        || path.contains("&ref=")
        || path.contains("_git/")
        || path.contains(".git/")
        || path.ends_with(".git")
        || ["github.com", "gitlab.com", "bitbucket.org"].iter().any(|known| host.eq_ignore_ascii_case(known))
        || host.split_once(':').is_some_and(|(user, _)| user.contains('@') || user.contains('.'))
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    let list = value.get(field).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
