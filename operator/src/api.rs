//! Requests to the API server: counted, and bounded in bytes and time. Bodies are plain values: what is sent is what the
//! builders made.
//!
//! `kube::Api` is not used for them: it collects an answer of any size, waits for it as long as it takes, and writes
//! answers that it cannot read into the log. Here a name can get into a URL in no other form than as [`ObjectName`] or
//! [`Namespace`].

use crate::lease::Permit;
use crate::metrics::Metrics;
use crate::resources::Kind;
use crate::served::Served;
use crate::stores::Seen;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::Client;
use kube::core::Status;
use llsd_generator::names::{NameError, Namespace, ObjectName};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Asks for an answer without `spec` and `status`, where only the metadata is of interest.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const JSON: &str = "application/json";

/// From sending a request to the last byte of its answer. The API server itself gives up after a minute.
const TIME: Duration = Duration::from_secs(30);
/// Bytes of an answer that holds one object or one page of a list. The API server takes objects of 3 MiB at most.
const ANSWER: usize = 8 << 20;
/// Bytes of an answer that says what is wrong: a `Status` with its causes.
const FAILURE: usize = 64 << 10;
/// Objects of one page, and pages of one list. Who has more objects with one label gets an error, not more memory.
const PAGE: usize = 100;
const PAGES: usize = 10;

/// A kind of objects, by the parts of its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupVersionResource {
    group: &'static str,
    version: &'static str,
    /// The plural name, in lower case.
    pub plural: &'static str,
}

/// ConfigMaps: generated configs, those of users, and trusted certificates.
pub const CONFIG_MAPS: GroupVersionResource = GroupVersionResource { group: "", version: "v1", plural: "configmaps" };
/// Secrets: read where a resource refers to one, and the derived ones are written.
pub const SECRETS: GroupVersionResource = GroupVersionResource { group: "", version: "v1", plural: "secrets" };
/// ReplicaSets: read to find the generated ConfigMaps that older revisions of a Deployment still mount.
pub const REPLICA_SETS: GroupVersionResource =
    GroupVersionResource { group: "apps", version: "v1", plural: "replicasets" };
/// Pods: read to tell how far external providers have got.
pub const PODS: GroupVersionResource = GroupVersionResource { group: "", version: "v1", plural: "pods" };

impl From<&'static Served> for GroupVersionResource {
    fn from(served: &'static Served) -> Self {
        Self { group: served.kind().group(), version: served.version.name(), plural: served.plural }
    }
}

impl From<Kind> for GroupVersionResource {
    fn from(kind: Kind) -> Self {
        let (group, version, _) = kind.gvk();
        Self { group, version, plural: kind.plural() }
    }
}

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The API server answered that it failed.
    #[error("{}", .0.message)]
    Refused(Box<Status>),
    /// There is no whole answer yet.
    #[error("the API server did not answer within {} seconds", .0.as_secs())]
    Timeout(Duration),
    /// The answer is larger than an object can be.
    #[error("the answer of the API server is larger than {0} bytes")]
    TooLarge(usize),
    /// More objects have a label than can be looked at.
    #[error("there are more than {0} {1} with the labels of this resource. Delete those that are not needed")]
    TooMany(usize, &'static str),
    /// The answer is not JSON. What it is instead is not shown.
    #[error("the answer of the API server cannot be read: {0}")]
    Unreadable(#[source] serde_json::Error),
    /// Another replica may hold the lease by now.
    #[error("the lease has run out: nothing more is written")]
    NoLease,
    /// A name that was to go into the request is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The request never got an answer: name resolution, TLS or the connection itself failed.
    #[error("{}", causes(.0))]
    Connection(#[source] kube::Error),
}

impl ApiError {
    /// The HTTP status of the answer, if there was one.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        self.status().map(|status| status.code)
    }

    /// What the API server answered, if it did.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Refused(status) => Some(status),
            _ => None,
        }
    }
}

impl From<kube::Error> for ApiError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Refused(status),
            other => Self::Connection(other),
        }
    }
}

/// An error with the causes that a bare "error sending request" does not tell.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}

/// What a request comes to.
pub type Result<T> = std::result::Result<T, ApiError>;

impl GroupVersionResource {
    /// The URL of a collection, of an object in it, or of a part of that object such as `/status`.
    fn url(self, namespace: Option<&Namespace>, name: Option<&ObjectName>, part: &'static str, query: &str) -> String {
        let root = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        let scope = namespace.map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
        let name = name.map(|name| format!("/{name}")).unwrap_or_default();
        format!("{root}{scope}/{}{name}{part}{query}", self.plural)
    }
}

/// CustomResourceDefinitions: the operator writes the certificate authority of its conversion webhook into its own.
pub const CUSTOM_RESOURCE_DEFINITIONS: GroupVersionResource =
    GroupVersionResource { group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" };

/// The API server, for the reconcile.
#[derive(Clone)]
pub struct Api {
    client: Client,
    metrics: Arc<Metrics>,
    permit: Permit,
    served: &'static Served,
}

impl Api {
    /// Requests of this client are counted in `metrics`. Nothing is written any more once `permit` has run out. What is
    /// written is written as the field manager of the kind `served`.
    #[must_use]
    pub fn new(client: Client, metrics: Arc<Metrics>, permit: Permit, served: &'static Served) -> Self {
        Self { client, metrics, permit, served }
    }

    /// Creates an object; the answer holds its metadata, of a Deployment all of it.
    ///
    /// # Errors
    /// What the API server says; 409 if an object of that name exists.
    pub async fn create(&self, resource: GroupVersionResource, namespace: &Namespace, body: &Value) -> Result<Value> {
        let url = resource.url(Some(namespace), None, "", &format!("?fieldManager={}", self.served.manager));
        let request =
            Request::post(url).header(header::CONTENT_TYPE, JSON).header(header::ACCEPT, accept_header(resource));
        self.send("create", resource, request, body).await
    }

    /// Creates an object by a server-side apply, so that later ones may remove its fields. Without force: fields of others
    /// are a conflict, and nothing is changed.
    ///
    /// # Errors
    /// What the API server says; 409 if it conflicts with an object that is there.
    pub async fn create_applied(
        &self,
        resource: GroupVersionResource,
        namespace: &Namespace,
        name: &ObjectName,
        body: &Value,
    ) -> Result<Value> {
        let url = resource.url(
            Some(namespace),
            Some(name),
            "",
            &format!("?fieldManager={}&force=false", self.served.manager),
        );
        self.patch("apply", resource, &url, (APPLY, accept_header(resource)), body).await
    }

    /// Applies an object on the server side, and takes over the fields of others; the answer holds its metadata, of a
    /// Deployment all of it.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn apply(
        &self,
        resource: GroupVersionResource,
        namespace: &Namespace,
        name: &ObjectName,
        body: &Value,
    ) -> Result<Value> {
        let url =
            resource.url(Some(namespace), Some(name), "", &format!("?fieldManager={}&force=true", self.served.manager));
        self.patch("apply", resource, &url, (APPLY, accept_header(resource)), body).await
    }

    /// Changes single fields. The answer holds the metadata, of a Deployment all of it.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn merge(
        &self,
        resource: GroupVersionResource,
        namespace: &Namespace,
        name: &ObjectName,
        body: &Value,
    ) -> Result<Value> {
        let url = resource.url(Some(namespace), Some(name), "", &format!("?fieldManager={}", self.served.manager));
        self.patch("patch", resource, &url, (MERGE, accept_header(resource)), body).await
    }

    /// Changes single fields of the status of a resource; the answer holds all of the resource.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn merge_status(&self, namespace: &Namespace, name: &ObjectName, body: &Value) -> Result<Seen> {
        let resource = GroupVersionResource::from(self.served);
        let url =
            resource.url(Some(namespace), Some(name), "/status", &format!("?fieldManager={}", self.served.manager));
        self.patch("patch", resource, &url, (MERGE, JSON), body).await
    }

    /// Applies a JSON patch.
    ///
    /// # Errors
    /// What the API server says; 422 if a test in the patch fails.
    pub async fn json_patch(
        &self,
        resource: GroupVersionResource,
        namespace: &Namespace,
        name: &ObjectName,
        body: &Value,
    ) -> Result<Value> {
        let url = resource.url(Some(namespace), Some(name), "", &format!("?fieldManager={}", self.served.manager));
        self.patch("patch", resource, &url, (JSON_PATCH, METADATA), body).await
    }

    /// Reads an object; `None` if there is none. Without a namespace it is one of the cluster.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn get(
        &self,
        resource: GroupVersionResource,
        namespace: Option<&Namespace>,
        name: &ObjectName,
    ) -> Result<Option<Value>> {
        let request = Request::get(resource.url(namespace, Some(name), "", "")).header(header::ACCEPT, JSON);
        absent(self.send("get", resource, request, &Value::Null).await)
    }

    /// Reads the metadata of an object; `None` if there is none.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn metadata(
        &self,
        resource: GroupVersionResource,
        namespace: &Namespace,
        name: &ObjectName,
    ) -> Result<Option<Value>> {
        let request = Request::get(resource.url(Some(namespace), Some(name), "", "")).header(header::ACCEPT, METADATA);
        absent(self.send("get", resource, request, &Value::Null).await)
    }

    /// Whether an object exists, as far as the API server remembers: it answers from its cache, which is as new as its
    /// watches are, and does not ask etcd.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn exists(
        &self,
        resource: GroupVersionResource,
        namespace: &Namespace,
        name: &ObjectName,
    ) -> Result<bool> {
        let url = resource.url(Some(namespace), Some(name), "", "?resourceVersion=0");
        let request = Request::get(url).header(header::ACCEPT, METADATA);
        Ok(absent(self.send::<IgnoredAny>("get", resource, request, &Value::Null).await)?.is_some())
    }

    /// Lists objects that have a label: at most 1,000. Without a namespace they are those of the cluster.
    ///
    /// # Errors
    /// What the API server says; [`ApiError::TooMany`] if there are more.
    pub async fn list(
        &self,
        resource: GroupVersionResource,
        namespace: Option<&Namespace>,
        (label, value): (&'static str, &str),
    ) -> Result<Vec<Value>> {
        let selector = encoded(&format!("{label}={value}"));
        let mut found = Vec::new();
        let mut next = String::new();
        for _ in 0..PAGES {
            let query = format!("?labelSelector={selector}&limit={PAGE}{next}");
            let request = Request::get(resource.url(namespace, None, "", &query)).header(header::ACCEPT, JSON);
            let mut page: Value = self.send("list", resource, request, &Value::Null).await?;
            if let Some(items) = page.get_mut("items").and_then(Value::as_array_mut) {
                found.append(items);
            }
            match page["metadata"]["continue"].as_str().filter(|rest| !rest.is_empty()) {
                Some(rest) => next = format!("&continue={}", encoded(rest)),
                None => return Ok(found),
            }
        }
        Err(ApiError::TooMany(PAGE * PAGES, resource.plural))
    }

    /// Deletes the object with this UID, if it is still there.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn delete(
        &self,
        resource: GroupVersionResource,
        namespace: Option<&Namespace>,
        name: &ObjectName,
        uid: &str,
    ) -> Result<()> {
        let body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}, "propagationPolicy": "Background"});
        let request = Request::delete(resource.url(namespace, Some(name), "", "")).header(header::CONTENT_TYPE, JSON);
        match self.send::<IgnoredAny>("delete", resource, request, &body).await {
            // 409: another object has taken the name.
            Err(error) if matches!(error.code(), Some(404 | 409)) => Ok(()),
            other => other.map(drop),
        }
    }

    /// A change of the form `kind`; `accept` says which answer is wanted.
    async fn patch<T: DeserializeOwned>(
        &self,
        verb: &'static str,
        resource: GroupVersionResource,
        url: &str,
        (kind, accept): (&'static str, &'static str),
        body: &Value,
    ) -> Result<T> {
        let request = Request::patch(url).header(header::CONTENT_TYPE, kind).header(header::ACCEPT, accept);
        self.send(verb, resource, request, body).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        verb: &'static str,
        resource: GroupVersionResource,
        request: http::request::Builder,
        body: &Value,
    ) -> Result<T> {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = request.body(body.into()).map_err(|error| ApiError::Connection(kube::Error::HttpError(error)))?;
        if request.method() != http::Method::GET && !self.permit.is_good() {
            return Err(ApiError::NoLease);
        }
        let answer = match tokio::time::timeout(TIME, answered(&self.client, request)).await {
            Ok(answer) => answer,
            Err(_) => Err(ApiError::Timeout(TIME)),
        };
        let code = match &answer {
            Ok(_) => 200,
            Err(error) => error.code().unwrap_or_default(),
        };
        self.metrics.call(verb, resource.plural, code);
        answer
    }
}

/// One request and its answer, no more of it than it may have.
async fn answered<T: DeserializeOwned>(client: &Client, request: Request<kube::client::Body>) -> Result<T> {
    let (head, body) = client.send(request).await?.into_parts();
    let limit = if head.status.is_success() { ANSWER } else { FAILURE };
    let bytes = Limited::new(body, limit).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() { ApiError::TooLarge(limit) } else { kube::Error::Service(error).into() }
    })?;
    let bytes = bytes.to_bytes();
    if head.status.is_success() {
        return serde_json::from_slice(&bytes).map_err(ApiError::Unreadable);
    }
    Err(ApiError::Refused(Box::new(failure(head.status, &bytes))))
}

/// What went wrong, in the API server's words; in those of HTTP where something in front of it answered.
fn failure(code: StatusCode, body: &[u8]) -> Status {
    let said = serde_json::from_slice::<Status>(body).ok().filter(|status| status.code == code.as_u16());
    said.unwrap_or_else(|| {
        let reason = code.canonical_reason().unwrap_or("unknown status");
        Status::failure(&format!("the API server answered {} {reason}", code.as_u16()), reason).with_code(code.as_u16())
    })
}

/// A text as a value in a query.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// The status tells of Deployments; of other objects the metadata is enough.
fn accept_header(resource: GroupVersionResource) -> &'static str {
    if resource == GroupVersionResource::from(Kind::Deployment) { JSON } else { METADATA }
}

fn absent<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}
