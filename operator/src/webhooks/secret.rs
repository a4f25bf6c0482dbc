//! The Secret through which all replicas share one certificate.
//!
//! Whoever comes first creates it, or renews it; the API server's optimistic locking decides who that is, and the
//! others take what they find.

use super::certificates::{CertificateError, Serving, bundle, make};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use std::collections::BTreeMap;
use std::time::Duration;
use time::OffsetDateTime;

/// Name of the Secret, in the operator's namespace.
pub const SECRET_NAME: &str = "llama-stack-operator-webhook-cert";

/// Attempts to write the Secret while other replicas write it, too; then they are given a rest.
const ATTEMPTS: usize = 8;

/// The certificate of all replicas.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) serving: Serving,
    /// PEM: the authority of the certificate, and those of certificates that may still be shown somewhere.
    pub(super) authorities: String,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub(super) enum SecretError {
    #[error("secret {SECRET_NAME}: {0}")]
    Api(#[from] kube::Error),
    #[error("secret {SECRET_NAME}: {0}")]
    Certificate(#[from] CertificateError),
    #[error("secret {SECRET_NAME} is changed by others all the time")]
    Contended,
}

/// Where the Secret is, and what its certificate is for.
pub(super) struct Store {
    api: Api<Secret>,
    names: Vec<String>,
    lifetime: Duration,
}

impl Store {
    pub(super) fn new(client: Client, namespace: &str, names: Vec<String>, lifetime: Duration) -> Self {
        Self { api: Api::namespaced(client, namespace), names, lifetime }
    }

    pub(super) fn api(&self) -> &Api<Secret> {
        &self.api
    }

    /// The certificate to serve: the one that is there if it is good and not soon to be renewed, else a new one.
    pub(super) async fn get(&self) -> Result<Shared, SecretError> {
        for _ in 0..ATTEMPTS {
            let now = OffsetDateTime::now_utc();
            let found = self.api.get_opt(SECRET_NAME).await?;
            if let Some(shared) = found.as_ref().and_then(|secret| self.read(secret, now)) {
                return Ok(shared);
            }
            let written = match found {
                None => self.api.create(&PostParams::default(), &self.fresh(now)?).await,
                Some(secret) => {
                    tracing::info!("the webhook certificate is renewed");
                    self.api.replace(SECRET_NAME, &PostParams::default(), &self.renewed(secret, now)?).await
                }
            };
            match written {
                Ok(secret) => {
                    if let Some(shared) = self.read(&secret, now) {
                        return Ok(shared);
                    }
                }
                // Created, changed or removed by another replica in between: look again.
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(SecretError::Contended)
    }

    /// What a Secret holds, if it can be served and need not be renewed.
    fn read(&self, secret: &Secret, now: OffsetDateTime) -> Option<Shared> {
        let part = |key: &str| secret.data.as_ref()?.get(key).map(|bytes| bytes.0.as_slice());
        let serving = Serving::read(part("tls.crt")?, part("tls.key")?).ok()?;
        let authorities = part("ca.crt")?;
        let good = serving.renewal() > now && serving.convinces(authorities, &self.names, now);
        good.then(|| Shared { authorities: bundle(&[authorities], now), serving })
    }

    fn fresh(&self, now: OffsetDateTime) -> Result<Secret, CertificateError> {
        let labels = [("app.kubernetes.io/managed-by", "llama-stack-operator")];
        let secret = Secret {
            metadata: ObjectMeta {
                name: Some(SECRET_NAME.to_owned()),
                labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
                ..ObjectMeta::default()
            },
            type_: Some("kubernetes.io/tls".to_owned()),
            ..Secret::default()
        };
        self.renewed(secret, now)
    }

    /// The Secret with a new certificate. The authorities that it had stay: theirs are the certificates that other
    /// replicas show until they have heard of this one.
    fn renewed(&self, mut secret: Secret, now: OffsetDateTime) -> Result<Secret, CertificateError> {
        let made = make(&self.names, now, self.lifetime)?;
        let data = secret.data.get_or_insert_with(BTreeMap::new);
        let old = data.get("ca.crt").map(|bytes| bytes.0.as_slice()).unwrap_or_default();
        let authorities = bundle(&[made.authority.as_bytes(), old], now);
        for (key, text) in [("tls.crt", made.certificate), ("tls.key", made.key), ("ca.crt", authorities)] {
            data.insert(key.to_owned(), ByteString(text.into_bytes()));
        }
        Ok(secret)
    }
}
