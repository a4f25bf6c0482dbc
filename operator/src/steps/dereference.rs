//! The Secrets and ConfigMaps that a resource refers to, read from the cluster once for each change.

use super::Refusal;
use crate::api::{self, Api};
use crate::queue::Key;
use crate::resources::ca_bundle::{self, Assembled, CaError, Source};
use crate::resources::{ODH_BUNDLE, V1Alpha1Only};
use crate::served::Served;
use crate::stores::references::{Content, Reference, References};
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

/// A ConfigMap with certificates that a bundle is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaSource {
    /// `metadata.namespace` of the ConfigMap.
    pub namespace: Namespace,
    /// `metadata.name` of the ConfigMap.
    pub name: ObjectName,
    /// The keys whose values are used, in this order.
    pub keys: Vec<String>,
}

impl CaSource {
    /// Where an `OGXServer` says its certificates are.
    ///
    /// # Errors
    /// It names no ConfigMap that could exist.
    pub fn of_ogx(own: &Namespace, object: &Value) -> Result<Vec<Self>, Refusal> {
        let all = object["spec"]["tls"]["trust"]["caCertificates"].as_array();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let read = |one: &Value| {
            let name = ObjectName::parse(&text(&one["name"])).map_err(|error| bad_name("the CA bundle", &error))?;
            Ok(Self { namespace: own.clone(), name, keys: vec![text(&one["key"])] })
        };
        all.into_iter().flatten().map(read).collect()
    }

    /// Where a `LlamaStackDistribution` says its certificates are.
    ///
    /// # Errors
    /// It names no namespace or no ConfigMap that could exist.
    pub fn of(
        own: &Namespace,
        spec: Option<&LlamaStackDistributionSpec>,
        v1alpha1_only: &V1Alpha1Only,
    ) -> Result<Vec<Self>, Refusal> {
        let newer = spec.and_then(|spec| spec.networking.as_ref()?.tls.as_ref()?.ca_bundle.as_ref());
        let (place, name, keys) = match (&v1alpha1_only.ca_bundle, newer) {
            (Some(older), _) => (&older.config_map_namespace, &older.config_map_name, &older.config_map_keys),
            (None, Some(newer)) => (&newer.config_map_namespace, &newer.config_map_name, &newer.config_map_keys),
            (None, None) => return Ok(Vec::new()),
        };
        let namespace = match place.as_deref().filter(|place| !place.is_empty()) {
            None => own.clone(),
            Some(place) => Namespace::parse(place).map_err(|error| bad_name("the CA bundle", &error))?,
        };
        let name = ObjectName::parse(name).map_err(|error| bad_name("the CA bundle", &error))?;
        Ok(vec![Self { namespace, name, keys: keys.clone().unwrap_or_default() }])
    }
}

fn bad_name(place: &str, error: &NameError) -> Refusal {
    Refusal::resources(format!("failed to read {place}: {error}"))
}

/// Everything that `object` refers to, by names that objects can have.
///
/// # Errors
/// A name that no object can have. It is looked at before anything is asked for.
pub fn wanted(key: &Key, object: &Value, served: &Served, ca: &[CaSource]) -> Result<BTreeSet<Reference>, Refusal> {
    let unknown = BTreeSet::new();
    let facts = Facts::default();
    let request = Request { version: served.version, value: object, old: None, unknown: &unknown, facts: &facts };
    let here = |kind, name: &str, place: &str| {
        let name = ObjectName::parse(name).map_err(|error| bad_name(place, &error))?;
        Ok(Reference { kind, namespace: key.namespace.clone(), name })
    };
    let mut wanted: BTreeSet<Reference> = required_references(&request)
        .iter()
        .map(|one| here(one.kind, one.name, &one.path.to_string()))
        .collect::<Result<_, Refusal>>()?;
    wanted.insert(here(ReferenceKind::ConfigMap, ODH_BUNDLE, "the trusted certificates")?);
    wanted.extend(ca.iter().map(|CaSource { namespace, name, .. }| {
        let kind = ReferenceKind::ConfigMap;
        Reference { kind, namespace: namespace.clone(), name: name.clone() }
    }));
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
            readings: [ReferenceKind::Secret, ReferenceKind::ConfigMap]
                .into_iter()
                .flat_map(|kind| of(kind).map(move |(key, content)| ((kind, key), content.readings())))
                .collect(),
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
        ca: &[CaSource],
        open_namespaces: &BTreeSet<String>,
    ) -> Result<Option<Assembled>, Refusal> {
        let texts = ca.iter().map(|source| self.certificates(namespace, source, open_namespaces));
        let texts = texts.collect::<Result<Vec<_>, CaError>>().map_err(refusal)?;
        let sources: Vec<Source<'_>> = ca
            .iter()
            .zip(&texts)
            .map(|(CaSource { namespace, name, keys }, data)| Source { namespace, name, keys, data })
            .collect();
        let odh = self.get(ReferenceKind::ConfigMap, namespace, ODH_BUNDLE).map(|content| content.texts());
        let assembled = ca_bundle::assemble(&sources, odh.as_ref()).map_err(refusal)?;
        for (key, error) in assembled.iter().flat_map(|assembled| &assembled.skipped) {
            tracing::warn!(%namespace, config_map = ODH_BUNDLE, key, %error, "a key was left out of the CA bundle");
        }
        Ok(assembled)
    }

    /// What a ConfigMap with certificates holds.
    fn certificates(
        &self,
        own: &Namespace,
        CaSource { namespace, name, keys }: &CaSource,
        open_namespaces: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, String>, CaError> {
        ca_bundle::check_keys(keys)?;
        match self.get(ReferenceKind::ConfigMap, namespace, name) {
            Some(content) if namespace == own || content.is_shared || open_namespaces.contains(&**namespace) => {
                Ok(content.texts())
            }
            // Whether it exists is not said.
            _ if namespace != own => {
                Err(CaError::NotShared { namespace: namespace.to_string(), name: name.to_string() })
            }
            _ => Err(CaError::NoConfigMap { namespace: namespace.to_string(), name: name.to_string() }),
        }
    }
}

fn refusal(error: CaError) -> Refusal {
    Refusal::resources(error.to_string())
}
