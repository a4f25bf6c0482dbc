//! The Secrets and ConfigMaps that a resource refers to, read from the cluster once for each change.

use super::Refusal;
use crate::api::Api;
use crate::queue::Key;
use crate::resources::ca_bundle::{self, Assembled, CaError, Source};
use crate::resources::{Leftovers, ODH_BUNDLE};
use crate::stores::references::{Content, Reference, References};
use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::LlamaStackDistributionSpec;
use llsd_generator::check::{Facts, ReferenceKind, Request, references};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What the objects hold; `None` for one that does not exist.
#[derive(Debug, Default)]
pub struct Found {
    objects: HashMap<Reference, Option<Arc<Content>>>,
}

/// The certificates that a bundle is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaSource {
    /// Namespace and name of the ConfigMap that the resource names.
    pub explicit: Option<(String, String)>,
    /// Its keys that count.
    pub keys: Vec<String>,
}

impl CaSource {
    /// Where the resource says its certificates are.
    #[must_use]
    pub fn of(namespace: &str, spec: Option<&LlamaStackDistributionSpec>, leftovers: &Leftovers) -> Self {
        if let Some(older) = &leftovers.ca_bundle {
            let place = older
                .config_map_namespace
                .clone()
                .filter(|other| !other.is_empty())
                .unwrap_or_else(|| namespace.to_owned());
            return Self {
                explicit: Some((place, older.config_map_name.clone())),
                keys: older.config_map_keys.clone().unwrap_or_default(),
            };
        }
        let bundle = spec.and_then(|spec| spec.networking.as_ref()?.tls.as_ref()?.ca_bundle.as_ref());
        bundle.map_or_else(Self::default, |bundle| {
            let place = bundle.config_map_namespace.clone().unwrap_or_else(|| namespace.to_owned());
            Self {
                explicit: Some((place, bundle.config_map_name.clone())),
                keys: bundle.config_map_keys.clone().unwrap_or_default(),
            }
        })
    }
}

/// Everything that `object` refers to. What it refers to is watched from now on.
///
/// # Errors
/// What the API server says.
pub async fn dereference(
    api: &Api,
    store: &References,
    key: &Key,
    object: &Value,
    ca: &CaSource,
) -> kube::Result<Found> {
    let unknown = BTreeSet::new();
    let facts = Facts::default();
    let request = Request { version: ApiVersion::V1Alpha2, value: object, old: None, unknown: &unknown, facts: &facts };
    let here = |kind, name: &str| Reference { kind, namespace: Arc::clone(&key.namespace), name: name.into() };
    let mut wanted: BTreeSet<Reference> = references(&request).iter().map(|one| here(one.kind, one.name)).collect();
    wanted.insert(here(ReferenceKind::ConfigMap, ODH_BUNDLE));
    if let Some((namespace, name)) = &ca.explicit {
        let namespace = namespace.as_str().into();
        wanted.insert(Reference { kind: ReferenceKind::ConfigMap, namespace, name: name.as_str().into() });
    }
    store.set(key, wanted.clone());
    let mut objects = HashMap::with_capacity(wanted.len());
    for reference in wanted {
        let content = store.get(api, &reference).await?;
        objects.insert(reference, content);
    }
    Ok(Found { objects })
}

impl Found {
    /// The object of this kind and name; `None` if it does not exist or nobody refers to it.
    #[must_use]
    pub fn get(&self, kind: ReferenceKind, namespace: &str, name: &str) -> Option<&Arc<Content>> {
        self.objects.get(&Reference { kind, namespace: namespace.into(), name: name.into() })?.as_ref()
    }

    /// What the checks need to know: all that the resource refers to, and nothing else.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let of = |kind| {
            self.objects.iter().filter(move |(reference, _)| reference.kind == kind).filter_map(
                |(reference, content)| {
                    Some(((reference.namespace.to_string(), reference.name.to_string()), content.as_ref()?))
                },
            )
        };
        Facts {
            secrets: Some(
                of(ReferenceKind::Secret).map(|(key, content)| (key, content.data.keys().cloned().collect())).collect(),
            ),
            config_maps: Some(of(ReferenceKind::ConfigMap).map(|(key, content)| (key, content.texts())).collect()),
            ..Facts::default()
        }
    }

    /// The certificates for the server; `None` if there are none.
    ///
    /// # Errors
    /// The ConfigMap, its key or its certificates are not there or not usable.
    pub fn ca_bundle(&self, namespace: &str, ca: &CaSource) -> Result<Option<Assembled>, Refusal> {
        ca_bundle::check_keys(&ca.keys).map_err(refusal)?;
        let texts: Option<BTreeMap<String, String>> = match &ca.explicit {
            None => None,
            Some((place, name)) => match self.get(ReferenceKind::ConfigMap, place, name) {
                Some(content) => Some(content.texts()),
                None => return Err(refusal(CaError::NoConfigMap { namespace: place.clone(), name: name.clone() })),
            },
        };
        let source = match (&ca.explicit, &texts) {
            (Some((namespace, name)), Some(data)) => Some(Source { namespace, name, keys: &ca.keys, data }),
            _ => None,
        };
        let odh = self.get(ReferenceKind::ConfigMap, namespace, ODH_BUNDLE).map(|content| content.texts());
        let assembled = ca_bundle::assemble(source.as_ref(), odh.as_ref()).map_err(refusal)?;
        for (key, error) in assembled.iter().flat_map(|assembled| &assembled.skipped) {
            tracing::warn!(namespace, config_map = ODH_BUNDLE, key, %error, "a key was left out of the CA bundle");
        }
        Ok(assembled)
    }
}

fn refusal(error: CaError) -> Refusal {
    Refusal::resources(error.to_string())
}
