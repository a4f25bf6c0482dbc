//! Tells the API server whom to trust: writes `caBundle` into the CRD and the webhook configuration, and nothing else.

use super::certificates::{bundle, ours};
use super::{CONVERT_PATH, OGX_WEBHOOK_NAME, VALIDATE_OGX_PATH, VALIDATE_PATH, WEBHOOK_NAME};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Api, Client};
use llsd_generator::api::CRD_NAME;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::OffsetDateTime;

/// Owns the fields that are written here, and only those.
const FIELD_MANAGER: &str = "llama-stack-operator-webhooks";

/// Where the API server reaches the endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A Service in the operator's namespace. The CRD and the webhook configuration name it already.
    Service {
        /// Name of the Service.
        name: String,
    },
    /// An address, as `https://127.0.0.1:9443`: for an operator outside the cluster. It is written into the CRD and
    /// the webhook configuration, in place of a Service.
    Url(String),
}

impl Endpoint {
    /// The names that the certificate must have.
    pub(super) fn names(&self, namespace: &str) -> Vec<String> {
        match self {
            Self::Service { name } => {
                ["", ".cluster.local"].map(|ending| format!("{name}.{namespace}.svc{ending}")).into_iter().collect()
            }
            Self::Url(url) => {
                let host = url.parse::<http::Uri>().ok().and_then(|url| url.host().map(str::to_owned));
                vec![host.unwrap_or_default().trim_matches(['[', ']']).to_owned()]
            }
        }
    }

    fn url(&self, path: &str) -> Option<String> {
        match self {
            Self::Service { .. } => None,
            Self::Url(url) => Some(format!("{}{path}", url.trim_end_matches('/'))),
        }
    }
}

/// Why the API server does not know.
#[derive(Debug, thiserror::Error)]
pub(super) enum InjectError {
    #[error("{object}: {source}")]
    Api {
        object: String,
        #[source]
        source: kube::Error,
    },
    #[error("the CRD {CRD_NAME} is not installed")]
    NoCrd,
    #[error(
        "the CRD {CRD_NAME} has no conversion webhook: resources of the other version lose fields when they are read. \
         Install the CRD that comes with this operator"
    )]
    NoConversion,
}

/// The part of a CRD that matters here; its schemas are large.
#[derive(Deserialize)]
struct SparseCrd {
    spec: SparseSpec,
}

#[derive(Deserialize)]
struct SparseSpec {
    #[serde(default)]
    conversion: Conversion,
}

#[derive(Default, Deserialize)]
struct Conversion {
    #[serde(default)]
    strategy: String,
    #[serde(default)]
    webhook: Option<Webhook>,
}

#[derive(Deserialize)]
struct SparseConfiguration {
    #[serde(default)]
    webhooks: Vec<Webhook>,
}

#[derive(Default, Deserialize)]
struct Webhook {
    #[serde(default)]
    name: String,
    #[serde(rename = "clientConfig", default)]
    client: ClientConfig,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct ClientConfig {
    #[serde(rename = "caBundle", default)]
    bundle: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// Writes the certificate authority into the CRD and into the ValidatingWebhookConfiguration.
pub(super) struct Injector {
    client: Client,
    endpoint: Endpoint,
    configuration: String,
}

impl Injector {
    pub(super) fn new(client: Client, endpoint: Endpoint, configuration: String) -> Self {
        Self { client, endpoint, configuration }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn configuration(&self) -> &str {
        &self.configuration
    }

    /// Makes the API server trust `authorities` (PEM), and those of ours that it trusts already and that are still
    /// valid: another replica may show a certificate that we do not know. Nothing is written where nothing changes.
    pub(super) async fn inject(&self, authorities: &str, now: OffsetDateTime) -> Result<(), InjectError> {
        self.crd(authorities, now).await?;
        self.webhook_configuration(authorities, now).await
    }

    async fn crd(&self, authorities: &str, now: OffsetDateTime) -> Result<(), InjectError> {
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{CRD_NAME}");
        let crd: SparseCrd = self.read(&path).await?.ok_or(InjectError::NoCrd)?;
        let conversion = crd.spec.conversion;
        let url = self.endpoint.url(CONVERT_PATH);
        if conversion.strategy != "Webhook" && url.is_none() {
            return Err(InjectError::NoConversion);
        }
        let current = conversion.webhook.unwrap_or_default().client;
        let Some(mut client) = wanted(&current, authorities, url.as_deref(), now) else { return Ok(()) };
        let mut webhook = json!({});
        if url.is_some() {
            client["service"] = Value::Null;
            webhook["conversionReviewVersions"] = json!(["v1"]);
        }
        webhook["clientConfig"] = client;
        let mut conversion = json!({"webhook": webhook});
        if url.is_some() {
            conversion["strategy"] = json!("Webhook");
        }
        let body = json!({"spec": {"conversion": conversion}});
        self.write::<CustomResourceDefinition>(CRD_NAME, body, "apiextensions.k8s.io/v1").await
    }

    async fn webhook_configuration(&self, authorities: &str, now: OffsetDateTime) -> Result<(), InjectError> {
        let name = &self.configuration;
        let path = format!("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}");
        let Some(found) = self.read::<SparseConfiguration>(&path).await? else {
            tracing::debug!(name, "there is no webhook configuration: writes are not checked on the way in");
            return Ok(());
        };
        if !found.webhooks.iter().any(|webhook| webhook.name == WEBHOOK_NAME) {
            tracing::warn!(name, "the webhook configuration has no webhook {WEBHOOK_NAME}");
        }
        let mut changed = false;
        // All of ours together: what an apply leaves out, it takes away.
        let mut webhooks = Vec::new();
        for (webhook, path) in found.webhooks.iter().filter_map(|webhook| Some((webhook, path_of(&webhook.name)?))) {
            let url = self.endpoint.url(path);
            let wanted = wanted(&webhook.client, authorities, url.as_deref(), now);
            changed |= wanted.is_some();
            let mut client = wanted.unwrap_or_else(|| json!(webhook.client));
            if url.is_some() {
                client["service"] = Value::Null;
            }
            webhooks.push(json!({"name": webhook.name, "clientConfig": client}));
        }
        if !changed {
            return Ok(());
        }
        let body = json!({ "webhooks": webhooks });
        self.write::<ValidatingWebhookConfiguration>(name, body, "admissionregistration.k8s.io/v1").await
    }

    async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, InjectError> {
        let failed = |source| InjectError::Api { object: path.to_owned(), source };
        let request =
            http::Request::get(path).body(Vec::new()).map_err(|error| failed(kube::Error::HttpError(error)))?;
        match self.client.request(request).await {
            Ok(found) => Ok(Some(found)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(source) => Err(failed(source)),
        }
    }

    /// Applies the fields of `body`, which become this manager's. A URL takes a Service's place, which only a patch
    /// that removes fields of other managers can do.
    async fn write<K>(&self, name: &str, mut body: Value, version: &str) -> Result<(), InjectError>
    where
        K: kube::Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
    {
        let api: Api<PartialObjectMeta<K>> = Api::all(self.client.clone());
        let written = if matches!(self.endpoint, Endpoint::Url(_)) {
            let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
            if body.get("webhooks").is_some() {
                api.patch(name, &params, &Patch::Strategic(body)).await
            } else {
                api.patch(name, &params, &Patch::Merge(body)).await
            }
        } else {
            body["apiVersion"] = json!(version);
            body["kind"] = json!(K::kind(&()));
            body["metadata"] = json!({"name": name});
            api.patch(name, &PatchParams::apply(FIELD_MANAGER).force(), &Patch::Apply(body)).await
        };
        let object = format!("{} {name}", K::kind(&()));
        written.map_err(|source| InjectError::Api { object: object.clone(), source })?;
        tracing::info!(object, "the API server knows the webhook certificate");
        Ok(())
    }
}

/// Where a webhook of ours is answered; `None` for those of others.
fn path_of(webhook: &str) -> Option<&'static str> {
    [(WEBHOOK_NAME, VALIDATE_PATH), (OGX_WEBHOOK_NAME, VALIDATE_OGX_PATH)]
        .into_iter()
        .find_map(|(name, path)| (name == webhook).then_some(path))
}

/// The client configuration to write; `None` if it is there already.
fn wanted(current: &ClientConfig, authorities: &str, url: Option<&str>, now: OffsetDateTime) -> Option<Value> {
    let live = STANDARD.decode(&current.bundle).unwrap_or_default();
    let text = bundle(&[authorities.as_bytes(), ours(&live).as_bytes()], now);
    if text.as_bytes() == live && current.url.as_deref() == url {
        return None;
    }
    let mut client = json!({"caBundle": STANDARD.encode(text)});
    if let Some(url) = url {
        client["url"] = json!(url);
    }
    Some(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_certificate() {
        let service = Endpoint::Service { name: "hooks".to_owned() };
        assert_eq!(service.names("ns"), ["hooks.ns.svc", "hooks.ns.svc.cluster.local"]);
        assert_eq!(Endpoint::Url("https://127.0.0.1:9443".to_owned()).names("ns"), ["127.0.0.1"]);
        assert_eq!(Endpoint::Url("https://[::1]:9443/".to_owned()).names("ns"), ["::1"]);
        assert_eq!(Endpoint::Url("https://h:1/".to_owned()).url(CONVERT_PATH).as_deref(), Some("https://h:1/convert"));
    }
}
