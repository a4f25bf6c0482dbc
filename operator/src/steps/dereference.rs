//! The Secrets and ConfigMaps that a resource refers to, read from the cluster once for each change.

use super::Refusal;
use crate::api::{self, Api};
use crate::queue::Key;
use crate::resources::ca_bundle::{self, Assembled, CaError, Source};
use crate::resources::{ODH_BUNDLE, V1Alpha1Only};
use crate::stores::references::{Content, Reference, References};
use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::LlamaStackDistributionSpec;
use llsd_generator::check::{Facts, Request, required_references};
use llsd_generator::names::{NameError, Namespace, ObjectName};
use llsd_generator::references::ReferenceKind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What the objects hold; `None` for one that does not exist.
#[derive(Debug, Default)]
pub struct Dereferenced {
    objects: HashMap<Reference, Option<Arc<Content>>>,
}

/// The certificates that a bundle is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaSource {
    /// Namespace and name of the ConfigMap that the resource names.
    pub explicit: Option<(Namespace, ObjectName)>,
    /// The keys whose values are used, in this order.
    pub keys: Vec<String>,
}

impl CaSource {
    /// Where the resource says its certificates are.
    ///
    /// # Errors
    /// It names no namespace or no ConfigMap that could exist.
    pub fn of(
        own: &Namespace,
        spec: Option<&LlamaStackDistributionSpec>,
        v1alpha1_only: &V1Alpha1Only,
    ) -> Result<Self, Refusal> {
        let newer = spec.and_then(|spec| spec.networking.as_ref()?.tls.as_ref()?.ca_bundle.as_ref());
        let (place, name, keys) = match (&v1alpha1_only.ca_bundle, newer) {
            (Some(older), _) => (&older.config_map_namespace, &older.config_map_name, &older.config_map_keys),
            (None, Some(newer)) => (&newer.config_map_namespace, &newer.config_map_name, &newer.config_map_keys),
            (None, None) => return Ok(Self::default()),
        };
        let place = match place.as_deref().filter(|place| !place.is_empty()) {
            None => own.clone(),
            Some(place) => Namespace::parse(place).map_err(|error| bad_name("the CA bundle", &error))?,
        };
        let name = ObjectName::parse(name).map_err(|error| bad_name("the CA bundle", &error))?;
        Ok(Self { explicit: Some((place, name)), keys: keys.clone().unwrap_or_default() })
    }
}

fn bad_name(place: &str, error: &NameError) -> Refusal {
    Refusal::resources(format!("failed to read {place}: {error}"))
}

/// Everything that `object` refers to, by names that objects can have.
///
/// # Errors
/// A name that no object can have. It is looked at before anything is asked for.
pub fn wanted(key: &Key, object: &Value, ca: &CaSource) -> Result<BTreeSet<Reference>, Refusal> {
    let unknown = BTreeSet::new();
    let facts = Facts::default();
    let request = Request { version: ApiVersion::V1Alpha2, value: object, old: None, unknown: &unknown, facts: &facts };
    let here = |kind, name: &str, place: &str| {
        let name = ObjectName::parse(name).map_err(|error| bad_name(place, &error))?;
        Ok(Reference { kind, namespace: key.namespace.clone(), name })
    };
    let mut wanted: BTreeSet<Reference> = required_references(&request)
        .iter()
        .map(|one| here(one.kind, one.name, &one.path.to_string()))
        .collect::<Result<_, Refusal>>()?;
    wanted.insert(here(ReferenceKind::ConfigMap, ODH_BUNDLE, "the trusted certificates")?);
    if let Some((namespace, name)) = &ca.explicit {
        let kind = ReferenceKind::ConfigMap;
        wanted.insert(Reference { kind, namespace: namespace.clone(), name: name.clone() });
    }
    Ok(wanted)
}

/// What the objects hold. They are watched from now on.
///
/// # Errors
/// What the API server says.
pub async fn dereference(
    api: &Api,
    store: &References,
    key: &Key,
    wanted: BTreeSet<Reference>,
) -> api::Result<Dereferenced> {
    store.set(key, wanted.clone());
    let mut objects = HashMap::with_capacity(wanted.len());
    for reference in wanted {
        let content = match reference.namespace == key.namespace {
            true => store.get(api, &reference).await?,
            false => References::read(api, &reference).await?,
        };
        objects.insert(reference, content);
    }
    Ok(Dereferenced { objects })
}

impl Dereferenced {
    /// The object of this kind and name; `None` if it does not exist or nobody refers to it.
    #[must_use]
    pub fn get(&self, kind: ReferenceKind, namespace: &Namespace, name: &str) -> Option<&Arc<Content>> {
        let name = ObjectName::parse(name).ok()?;
        self.objects.get(&Reference { kind, namespace: namespace.clone(), name })?.as_ref()
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

    /// The certificates for the server; `None` if there are none. Those of another namespace count if that namespace is
    /// among `open_namespaces`, or if the ConfigMap itself is shared: the operator may read more than the author of a
    /// resource.
    ///
    /// # Errors
    /// The ConfigMap, its key or its certificates are not there or not usable.
    pub fn ca_bundle(
        &self,
        namespace: &Namespace,
        ca: &CaSource,
        open_namespaces: &BTreeSet<String>,
    ) -> Result<Option<Assembled>, Refusal> {
        ca_bundle::check_keys(&ca.keys).map_err(refusal)?;
        let texts: Option<BTreeMap<String, String>> = match &ca.explicit {
            None => None,
            Some((place, name)) => match self.get(ReferenceKind::ConfigMap, place, name) {
                Some(content) if place == namespace || content.is_shared || open_namespaces.contains(&**place) => {
                    Some(content.texts())
                }
                // Whether it exists is not said.
                _ if place != namespace => {
                    return Err(refusal(CaError::NotShared { namespace: place.to_string(), name: name.to_string() }));
                }
                _ => {
                    return Err(refusal(CaError::NoConfigMap { namespace: place.to_string(), name: name.to_string() }));
                }
            },
        };
        let source = match (&ca.explicit, &texts) {
            (Some((namespace, name)), Some(data)) => Some(Source { namespace, name, keys: &ca.keys, data }),
            _ => None,
        };
        let odh = self.get(ReferenceKind::ConfigMap, namespace, ODH_BUNDLE).map(|content| content.texts());
        let assembled = ca_bundle::assemble(source.as_ref(), odh.as_ref()).map_err(refusal)?;
        for (key, error) in assembled.iter().flat_map(|assembled| &assembled.skipped) {
            tracing::warn!(%namespace, config_map = ODH_BUNDLE, key, %error, "a key was left out of the CA bundle");
        }
        Ok(assembled)
    }
}

fn refusal(error: CaError) -> Refusal {
    Refusal::resources(error.to_string())
}
