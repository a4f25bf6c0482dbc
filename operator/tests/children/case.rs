//! A file of `cases/`: a resource of either version, what is known beside it, and the Deployment that runs.

use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::LlamaStackDistributionSpec;
use llsd_generator::check::{Facts, Request, verdict};
use llsd_generator::convert::to_v1alpha2;
use llsd_generator::distribution::Distributions;
use llsd_generator::generate::Generated;
use llsd_operator::resources::{
    BuildError, CaBundle, Child, Config, Derived, Desired, FeatureFlags, LiveDeployment, Owner, SCRIPT, V1Alpha1Only,
    children,
};
use llsd_operator::served::LLAMA_STACK;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A certificate would say no more: the builder takes the bundle as it is.
const PEM: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) owner: Owner,
    pub(crate) spec: LlamaStackDistributionSpec,
    pub(crate) v1alpha1_only: V1Alpha1Only,
    pub(crate) live: Option<LiveDeployment>,
    given: Given,
    written_as: ApiVersion,
    image: String,
    generated: Option<Generated>,
    derived: Vec<Derived>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Given {
    image: Option<String>,
    r#override: Option<Override>,
    ca_bundle: Option<Bundle>,
    network_policy: bool,
    openshift: bool,
    anyuid: bool,
    unrestricted_pods: bool,
    router_namespaces: Vec<String>,
    operator_namespace: Option<String>,
    secrets_digest: Option<String>,
    derived: BTreeMap<String, BTreeMap<String, String>>,
    written_as: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Override {
    resource_version: String,
    digest: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bundle {
    explicit: bool,
    #[serde(default)]
    live: bool,
}

impl Case {
    /// Reads every case of `cases/`, in the order of their names.
    pub(crate) fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
        let mut files: Vec<_> =
            fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("a case").path()).collect();
        files.sort();
        files
            .iter()
            .map(|path| {
                let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
                Self::read(name, &fs::read_to_string(path).expect("a case"))
            })
            .collect()
    }

    fn read(name: String, text: &str) -> Self {
        let mut documents =
            serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).expect("YAML"));
        let written = documents.next().expect("a resource");
        let given: Given = documents
            .next()
            .filter(|given| !given.is_null())
            .map_or_else(Given::default, |given| serde_json::from_value(given).expect("what is given"));
        let live = documents.next().map(|mut live| {
            // The Go operator's script is not carried here: ours stands in for it, which is kept for the same reason.
            if name == "taken-over-with-config" {
                live["spec"]["template"]["spec"]["containers"][0]["command"] =
                    serde_json::json!(["/bin/sh", "-c", SCRIPT]);
            }
            LiveDeployment::of(&serde_json::from_value(live).expect("a Deployment"))
        });
        Self::new(name, &written, given, live)
    }

    /// A resource about which nothing else is known.
    pub(crate) fn of(resource: &Value) -> Self {
        Self::new("resource".to_owned(), resource, Given::default(), None)
    }

    fn new(name: String, written: &Value, given: Given, live: Option<LiveDeployment>) -> Self {
        let object = to_v1alpha2(written).expect("a resource");
        let metadata = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let spec: LlamaStackDistributionSpec = serde_json::from_value(object["spec"].clone()).expect("a spec");
        let generated = spec.generates().then(|| {
            let unknown = BTreeSet::new();
            let facts = Facts::default();
            let outcome = verdict(&Request {
                version: ApiVersion::V1Alpha2,
                value: &object,
                old: None,
                unknown: &unknown,
                facts: &facts,
            });
            outcome.generated.unwrap_or_else(|| panic!("{name}: {:?}", outcome.findings))
        });
        let image = given.image.clone().or_else(|| spec.distribution.image.clone()).unwrap_or_else(|| {
            let name = spec.distribution.name.as_deref().unwrap_or_default();
            Distributions::embedded().get(name).expect("a distribution").image.clone()
        });
        let written_as = given.written_as.as_deref().or_else(|| written["apiVersion"].as_str()?.rsplit('/').next());
        let keys = ["db", "host", "password", "port", "user"];
        let derived = given.derived.iter().map(|(name, data)| Derived {
            name: name.clone(),
            data: data
                .iter()
                .map(|(key, value)| (*keys.iter().find(|known| *known == key).expect("a key"), value.clone()))
                .collect(),
        });
        Self {
            owner: Owner {
                served: &LLAMA_STACK,
                name: metadata("name"),
                namespace: metadata("namespace"),
                uid: metadata("uid"),
            },
            v1alpha1_only: V1Alpha1Only::of(&object),
            written_as: if written_as == Some("v1alpha1") { ApiVersion::V1Alpha1 } else { ApiVersion::V1Alpha2 },
            derived: derived.collect(),
            name,
            spec,
            live,
            image,
            generated,
            given,
        }
    }

    pub(crate) fn children(&self) -> Result<Vec<Child>, BuildError> {
        let unmarked = Override { resource_version: "1".to_owned(), digest: "0000000000000000".to_owned() };
        let config = match (&self.spec.override_config, &self.generated) {
            (Some(config), _) => {
                let found = self.given.r#override.as_ref().unwrap_or(&unmarked);
                Config::Override {
                    config_map: &config.config_map_name,
                    resource_version: &found.resource_version,
                    digest: &found.digest,
                }
            }
            (None, Some(generated)) => {
                Config::Generated { text: generated.config.text(), hash: generated.config.hash(), env: &generated.env }
            }
            (None, None) => Config::Image,
        };
        children(&Desired {
            owner: &self.owner,
            spec: &self.spec,
            v1alpha1_only: &self.v1alpha1_only,
            ogx: None,
            written_as: self.written_as,
            image: &self.image,
            config,
            ca_bundle: self.given.ca_bundle.as_ref().map(|bundle| CaBundle {
                pem: PEM,
                explicit: bundle.explicit,
                live: bundle.live.then_some(PEM),
            }),
            secrets_digest: self.given.secrets_digest.as_deref(),
            derived: &self.derived,
            flags: &FeatureFlags {
                network_policy: self.given.network_policy,
                router_namespaces: self.given.router_namespaces.clone(),
                restricted_pods: !self.given.unrestricted_pods,
                anyuid: self.given.anyuid,
            },
            operator_namespace: self.given.operator_namespace.as_deref().unwrap_or("llama-stack-k8s-operator-system"),
            operator_image: Some("quay.io/example/operator:1.0.0"),
            openshift: self.given.openshift,
            live: self.live.as_ref(),
        })
    }

    /// The children as YAML documents, or the error.
    pub(crate) fn manifest(&self) -> String {
        match self.children() {
            Ok(children) => children
                .iter()
                .map(|child| match child.is_left_alone {
                    true => format!("# Left alone: {} {}\n", child.object["kind"], child.name()),
                    false => serde_yaml::to_string(&child.object).expect("YAML"),
                })
                .collect::<Vec<_>>()
                .join("---\n"),
            Err(error) => format!("# Refused: {error}\n"),
        }
    }
}
