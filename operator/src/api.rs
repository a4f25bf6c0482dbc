//! Requests to the API server, counted. Bodies are plain values: what is sent is what the builders made.

use crate::lease::Permit;
use crate::metrics::Metrics;
use crate::resources::{FIELD_MANAGER, Kind};
use http::{Request, header};
use kube::Client;
use kube::core::Status;
use serde_json::{Value, json};
use std::sync::Arc;

/// Asks for an answer without `spec` and `status`, where only the metadata is of interest.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const JSON: &str = "application/json";

/// A kind of objects, by the parts of its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    group: &'static str,
    version: &'static str,
    /// The plural name, in lower case.
    pub plural: &'static str,
}

/// The resource itself, in the version that the operator works with.
pub const LLSD: Resource = Resource { group: "llamastack.io", version: "v1alpha2", plural: "llamastackdistributions" };
/// ConfigMaps.
pub const CONFIG_MAPS: Resource = Resource { group: "", version: "v1", plural: "configmaps" };
/// Secrets.
pub const SECRETS: Resource = Resource { group: "", version: "v1", plural: "secrets" };
/// ReplicaSets.
pub const REPLICA_SETS: Resource = Resource { group: "apps", version: "v1", plural: "replicasets" };
/// Pods.
pub const PODS: Resource = Resource { group: "", version: "v1", plural: "pods" };
/// ClusterRoleBindings.
pub const CLUSTER_ROLE_BINDINGS: Resource =
    Resource { group: "rbac.authorization.k8s.io", version: "v1", plural: "clusterrolebindings" };

impl From<Kind> for Resource {
    fn from(kind: Kind) -> Self {
        let (group, version, _) = kind.gvk();
        Self { group, version, plural: kind.plural() }
    }
}

impl Resource {
    fn url(self, namespace: &str, name: &str, query: &str) -> String {
        let root = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        let scope = if namespace.is_empty() { String::new() } else { format!("/namespaces/{namespace}") };
        let name = if name.is_empty() { String::new() } else { format!("/{name}") };
        format!("{root}{scope}/{}{name}{query}", self.plural)
    }
}

/// CustomResourceDefinitions.
pub const CUSTOM_RESOURCE_DEFINITIONS: Resource =
    Resource { group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" };

/// The API server, for the reconcile.
#[derive(Clone)]
pub struct Api {
    client: Client,
    metrics: Arc<Metrics>,
    permit: Permit,
}

impl Api {
    /// Requests of this client are counted in `metrics`. Nothing is written any more once `permit` has run out.
    #[must_use]
    pub fn new(client: Client, metrics: Arc<Metrics>, permit: Permit) -> Self {
        Self { client, metrics, permit }
    }

    /// Creates an object; the answer holds its metadata, of a Deployment all of it.
    ///
    /// # Errors
    /// What the API server says; 409 if an object of that name exists.
    pub async fn create(&self, resource: Resource, namespace: &str, body: &Value) -> kube::Result<Value> {
        let url = resource.url(namespace, "", &format!("?fieldManager={FIELD_MANAGER}"));
        self.send(
            "create",
            resource,
            Request::post(url).header(header::CONTENT_TYPE, JSON).header(header::ACCEPT, answer(resource)),
            body,
        )
        .await
    }

    /// Creates an object by a server-side apply, so that later ones may remove its fields. Without force: fields of others
    /// are a conflict, and nothing is changed.
    ///
    /// # Errors
    /// What the API server says; 409 if it conflicts with an object that is there.
    pub async fn create_applied(
        &self,
        resource: Resource,
        namespace: &str,
        name: &str,
        body: &Value,
    ) -> kube::Result<Value> {
        let query = format!("?fieldManager={FIELD_MANAGER}&force=false");
        self.patch("apply", resource, &resource.url(namespace, name, &query), (APPLY, answer(resource)), body).await
    }

    /// Applies an object on the server side, and takes over the fields of others; the answer holds its metadata, of a
    /// Deployment all of it.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn apply(&self, resource: Resource, namespace: &str, name: &str, body: &Value) -> kube::Result<Value> {
        let query = format!("?fieldManager={FIELD_MANAGER}&force=true");
        self.patch("apply", resource, &resource.url(namespace, name, &query), (APPLY, answer(resource)), body).await
    }

    /// Changes single fields. `name` may end with a subresource, as `name/status`. The answer holds the metadata, of a
    /// Deployment and of the resource itself all of it.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn merge(&self, resource: Resource, namespace: &str, name: &str, body: &Value) -> kube::Result<Value> {
        let query = format!("?fieldManager={FIELD_MANAGER}");
        self.patch("patch", resource, &resource.url(namespace, name, &query), (MERGE, answer(resource)), body).await
    }

    /// Applies a JSON patch.
    ///
    /// # Errors
    /// What the API server says; 422 if a test in the patch fails.
    pub async fn json_patch(
        &self,
        resource: Resource,
        namespace: &str,
        name: &str,
        body: &Value,
    ) -> kube::Result<Value> {
        let query = format!("?fieldManager={FIELD_MANAGER}");
        self.patch("patch", resource, &resource.url(namespace, name, &query), (JSON_PATCH, METADATA), body).await
    }

    /// Reads an object; `None` if there is none.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn get(&self, resource: Resource, namespace: &str, name: &str) -> kube::Result<Option<Value>> {
        let request = Request::get(resource.url(namespace, name, "")).header(header::ACCEPT, JSON);
        absent(self.send("get", resource, request, &Value::Null).await)
    }

    /// Reads the metadata of an object; `None` if there is none.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn metadata(&self, resource: Resource, namespace: &str, name: &str) -> kube::Result<Option<Value>> {
        let request = Request::get(resource.url(namespace, name, "")).header(header::ACCEPT, METADATA);
        absent(self.send("get", resource, request, &Value::Null).await)
    }

    /// Whether an object exists, as far as the API server remembers: it answers from its cache, which is as new as its
    /// watches are, and does not ask etcd.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn is_there(&self, resource: Resource, namespace: &str, name: &str) -> kube::Result<bool> {
        let url = resource.url(namespace, name, "?resourceVersion=0");
        let request = Request::get(url).header(header::ACCEPT, METADATA);
        Ok(absent(self.send("get", resource, request, &Value::Null).await)?.is_some())
    }

    /// Lists objects by labels, written as in a URL.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn list(&self, resource: Resource, namespace: &str, labels: &str) -> kube::Result<Vec<Value>> {
        let labels = labels.replace('=', "%3D").replace('/', "%2F").replace(',', "%2C");
        let request =
            Request::get(resource.url(namespace, "", &format!("?labelSelector={labels}"))).header(header::ACCEPT, JSON);
        let mut answer = self.send("list", resource, request, &Value::Null).await?;
        Ok(answer.get_mut("items").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default())
    }

    /// Deletes the object with this UID, if it is still there.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn delete(&self, resource: Resource, namespace: &str, name: &str, uid: &str) -> kube::Result<()> {
        let body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}, "propagationPolicy": "Background"});
        let request = Request::delete(resource.url(namespace, name, "")).header(header::CONTENT_TYPE, JSON);
        match self.send("delete", resource, request, &body).await {
            // 409: another object has taken the name.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
            other => other.map(drop),
        }
    }

    /// A change of the form `kind`; `accept` says which answer is wanted.
    async fn patch(
        &self,
        verb: &'static str,
        resource: Resource,
        url: &str,
        (kind, accept): (&'static str, &'static str),
        body: &Value,
    ) -> kube::Result<Value> {
        let request = Request::patch(url).header(header::CONTENT_TYPE, kind).header(header::ACCEPT, accept);
        self.send(verb, resource, request, body).await
    }

    async fn send(
        &self,
        verb: &'static str,
        resource: Resource,
        request: http::request::Builder,
        body: &Value,
    ) -> kube::Result<Value> {
        let body =
            if body.is_null() { Vec::new() } else { serde_json::to_vec(body).map_err(kube::Error::SerdeError)? };
        let request = request.body(body).map_err(kube::Error::HttpError)?;
        if request.method() != http::Method::GET && !self.permit.is_good() {
            return Err(kube::Error::Service("the lease has run out: nothing more is written".into()));
        }
        let answer = self.client.request::<Value>(request).await;
        let code = match &answer {
            Ok(_) => 200,
            Err(kube::Error::Api(status)) => status.code,
            Err(_) => 0,
        };
        self.metrics.call(verb, resource.plural, code);
        answer
    }
}

/// The status tells of Deployments, and the resource itself is kept as it was written; of other objects the metadata is
/// enough.
fn answer(resource: Resource) -> &'static str {
    if resource == LLSD || resource == Resource::from(Kind::Deployment) { JSON } else { METADATA }
}

fn absent<T>(answer: kube::Result<T>) -> kube::Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

/// The status that the API server answered with, if it answered.
#[must_use]
pub fn status(error: &kube::Error) -> Option<&Status> {
    match error {
        kube::Error::Api(status) => Some(status),
        _ => None,
    }
}

/// What went wrong, in one line and without request bodies.
#[must_use]
pub fn text(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => other.to_string(),
    }
}
