//! Plain requests to the API server: a path, a JSON body, and an answer that is looked at as JSON.

use anyhow::{Context, Result, bail};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::Method;
use kube::client::Body;
use llsd_test_client::PATIENCE;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The collection of CustomResourceDefinitions.
pub const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// How many requests are under way at once in [`send_all`]. More does not help on two cores.
const AT_ONCE: usize = 8;

/// A request to the API server that is put together step by step.
#[derive(Clone, Debug)]
pub struct Request {
    method: Method,
    path: String,
    body: Vec<u8>,
    content: &'static str,
}

const JSON: &str = "application/json";

impl Request {
    /// Reads what is at `path`.
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), body: Vec::new(), content: JSON }
    }

    /// Creates `body` in the collection at `path`.
    pub fn post(path: impl Into<String>, body: &Value) -> Self {
        Self { method: Method::POST, path: path.into(), body: body.to_string().into_bytes(), content: JSON }
    }

    /// Replaces what is at `path` by `body`.
    pub fn put(path: impl Into<String>, body: &Value) -> Self {
        Self { method: Method::PUT, path: path.into(), body: body.to_string().into_bytes(), content: JSON }
    }

    /// Removes what is at `path`.
    pub fn delete(path: impl Into<String>) -> Self {
        Self { method: Method::DELETE, path: path.into(), body: Vec::new(), content: JSON }
    }

    /// Changes what is at `path` by a JSON merge patch.
    pub fn merge(path: impl Into<String>, body: &Value) -> Self {
        let content = "application/merge-patch+json";
        Self { method: Method::PATCH, path: path.into(), body: body.to_string().into_bytes(), content }
    }

    /// Applies `body` at `path` from the server's side, as the field manager `manager` and with force.
    pub fn apply(path: impl Into<String>, manager: &str, body: &Value) -> Self {
        let path = format!("{}?fieldManager={manager}&force=true", path.into());
        let content = "application/apply-patch+yaml";
        Self { method: Method::PATCH, path, body: body.to_string().into_bytes(), content }
    }

    /// The same request, judged with strict field validation, and nothing is stored.
    #[must_use]
    pub fn dry(mut self) -> Self {
        self.path.push_str(if self.path.contains('?') { "&" } else { "?" });
        self.path.push_str("dryRun=All&fieldValidation=Strict");
        self
    }

    pub(super) async fn send(self, client: &kube::Client) -> Result<Answer> {
        let request = http::Request::builder()
            .method(self.method)
            .uri(&self.path)
            .header(http::header::CONTENT_TYPE, self.content)
            .body(Body::from(self.body))?;
        let response = client.send(request).await.with_context(|| self.path.clone())?;
        let status = response.status().as_u16();
        let warnings = response.headers().get_all(http::header::WARNING).iter().filter_map(warning).collect();
        let bytes = response.into_body().collect_bytes().await?;
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into());
        Ok(Answer { status, body, warnings })
    }
}

/// Sends all requests, [`AT_ONCE`] at a time; the answers are in the order of the requests.
pub(super) async fn send_all(requests: Vec<Request>, client: &kube::Client) -> Result<Vec<Answer>> {
    let tasks = requests.into_iter().map(|request| {
        let client = client.clone();
        // A task of its own, so that answers are read on all cores.
        async move { tokio::spawn(async move { request.send(&client).await }).await? }
    });
    stream::iter(tasks).buffered(AT_ONCE).try_collect().await
}

/// Waits until the resources of the CRD `name` are served.
pub(super) async fn until_served(name: &str, client: &kube::Client) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        let answer = Request::get(format!("{CRDS}/{name}")).send(client).await?;
        let conditions = answer.body["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if conditions.iter().any(|is| is["type"] == "Established" && is["status"] == "True") {
            let spec = &answer.body["spec"];
            let versions = spec["versions"].as_array().cloned().unwrap_or_default();
            for version in versions.iter().filter(|version| version["served"] == true) {
                let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let (group, plural) = (part(&spec["group"]), part(&spec["names"]["plural"]));
                let path = format!("/apis/{group}/{}/{plural}", part(&version["name"]));
                until_found(&path, client).await?;
            }
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("{name} is not established")
}

/// Waits until a collection can be read: that comes a moment after the CRD is established.
async fn until_found(path: &str, client: &kube::Client) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if Request::get(path).send(client).await?.status == 200 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("{path} is not served")
}

/// What the API server answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// The object, or a `Status` that says what is wrong.
    pub body: Value,
    /// What the server has to say beside it.
    pub warnings: Vec<String>,
}

/// The text of a header `299 - "text"`, in which quotes and backslashes have a backslash before them.
fn warning(header: &http::HeaderValue) -> Option<String> {
    let text = std::str::from_utf8(header.as_bytes()).ok()?;
    let quoted = text.split_once('"')?.1.strip_suffix('"')?;
    Some(quoted.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// One reason of a refusal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// The place, as the server writes it: `spec.m[key]`, `<nil>`.
    pub field: String,
    /// Its words, without the place.
    pub message: String,
}

impl Answer {
    /// Whether the request was carried out (or would have been).
    #[must_use]
    pub fn accepted(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The server's one-line account of a refusal.
    #[must_use]
    pub fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    /// The reasons of a refusal, in the server's order. A request that could not even be decoded has none.
    #[must_use]
    pub fn causes(&self) -> Vec<Cause> {
        let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
        let causes = self.body["details"]["causes"].as_array();
        causes
            .into_iter()
            .flatten()
            .map(|cause| Cause { field: text(cause, "field"), message: text(cause, "message") })
            .collect()
    }
}
