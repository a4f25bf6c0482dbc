//! A resource as the API server sends it, before anything of it becomes values.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope, ObjectMeta};
use llsd_generator::api::ApiVersion;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The parts of a resource, as texts: values take ten times as much, and a page of a list has many resources.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Seen {
    /// What the resource is known by; nothing else of its metadata.
    identity: ObjectMeta,
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) metadata: Box<RawValue>,
    pub(super) spec: Option<Box<RawValue>>,
    pub(super) status: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    metadata: Box<RawValue>,
    spec: Option<Box<RawValue>>,
    status: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
}

impl TryFrom<Parts> for Seen {
    type Error = serde_json::Error;

    fn try_from(Parts { api_version, kind, metadata, spec, status }: Parts) -> Result<Self, Self::Error> {
        let Identity { name, namespace, uid, resource_version, generation, creation_timestamp, deletion_timestamp } =
            serde_json::from_str(metadata.get())?;
        let identity = ObjectMeta {
            name,
            namespace,
            uid,
            resource_version,
            generation,
            creation_timestamp,
            deletion_timestamp,
            ..ObjectMeta::default()
        };
        Ok(Self { identity, api_version, kind, metadata, spec, status })
    }
}

impl Resource for Seen {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }

    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        resource.api_version.as_str().into()
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.identity
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.identity
    }
}

/// What `managedFields` tell of who wrote a resource; the other fields in them are passed over.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Managers {
    #[serde(default)]
    managed_fields: Vec<Manager>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manager {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    subresource: String,
    #[serde(rename = "fieldsV1", default)]
    fields: Fields,
}

#[derive(Default, Deserialize)]
struct Fields {
    #[serde(rename = "f:spec", default)]
    spec: SpecFields,
}

#[derive(Default, Deserialize)]
struct SpecFields {
    #[serde(rename = "f:server", default)]
    server: ServerFields,
    #[serde(rename = "f:overrideConfig")]
    override_config: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct ServerFields {
    #[serde(rename = "f:userConfig")]
    user_config: Option<IgnoredAny>,
}

impl Managers {
    /// The version that the resource's configuration was last written in: v1alpha1 if someone set `userConfig` and nobody
    /// set `overrideConfig`.
    pub(super) fn written_as(&self) -> ApiVersion {
        let of = |version: ApiVersion| {
            self.managed_fields.iter().filter(move |entry| entry.api_version == version.api_version())
        };
        let older = of(ApiVersion::V1Alpha1).any(|entry| entry.fields.spec.server.user_config.is_some());
        let newer = of(ApiVersion::V1Alpha2).any(|entry| entry.fields.spec.override_config.is_some());
        if older && !newer { ApiVersion::V1Alpha1 } else { ApiVersion::V1Alpha2 }
    }

    /// Whether fields of it were written in v1alpha1.
    pub(super) fn is_older(&self) -> bool {
        let mut main = self.managed_fields.iter().filter(|entry| entry.subresource.is_empty());
        main.any(|entry| entry.api_version == ApiVersion::V1Alpha1.api_version())
    }
}
