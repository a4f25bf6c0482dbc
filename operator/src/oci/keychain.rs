//! The credentials with which a pod would pull its image.

use super::{Credential, parse_docker_config};
use crate::api::{Api, ApiError, SECRETS};
use crate::backoff::Backoff;
use crate::resources::Kind;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use llsd_generator::names::{Namespace, ObjectName};
use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::Instant;

/// How long what was read counts. Pull secrets change seldom, and a missing one shows as a refusal.
const FRESH: Duration = Duration::from_secs(300);
/// Namespaces and service accounts that are remembered, so that a cluster with many costs a bounded amount of memory.
const REMEMBERED: usize = 4096;
/// Pull secrets of one account that are read, and so logins that a registry is tried with.
const PULL_SECRETS: usize = 8;

struct Read {
    credentials: Vec<Credential>,
    until: Instant,
}

/// Reads pull secrets by way of service accounts.
pub struct Keychain {
    api: Api,
    read: std::sync::Mutex<HashMap<(Namespace, ObjectName), Read>>,
}

impl Keychain {
    /// An empty keychain. Secrets are read when an image needs them.
    #[must_use]
    pub fn new(api: Api) -> Self {
        Self { api, read: std::sync::Mutex::default() }
    }

    /// The credentials of a service account, then those of the namespace's default one. Service accounts and Secrets
    /// that are missing or unreadable are logged and passed over, as the kubelet does.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn credentials(&self, namespace: &Namespace, account: &ObjectName) -> Result<Vec<Credential>, ApiError> {
        let key = (namespace.clone(), account.clone());
        {
            let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = read.get(&key).filter(|known| known.until > Instant::now()) {
                return Ok(known.credentials.clone());
            }
        }
        let mut credentials = self.of(namespace, account).await?;
        if account.as_str() != "default" {
            credentials.extend(self.of(namespace, &ObjectName::parse("default")?).await?);
        }
        let until = Instant::now() + FRESH + Backoff::new(FRESH, FRESH).jitter(FRESH / 10);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.len() >= REMEMBERED {
            let now = Instant::now();
            read.retain(|_, known| known.until > now);
        }
        if read.len() < REMEMBERED {
            read.insert(key, Read { credentials: credentials.clone(), until });
        }
        Ok(credentials)
    }

    async fn of(&self, namespace: &Namespace, account: &ObjectName) -> Result<Vec<Credential>, ApiError> {
        let mut found = Vec::new();
        let object = self.api.get(Kind::ServiceAccount.into(), Some(namespace), account).await?;
        let object: Option<ServiceAccount> =
            object.map(serde_json::from_value).transpose().map_err(ApiError::Unreadable)?;
        let names = object.and_then(|account| account.image_pull_secrets).unwrap_or_default();
        for reference in names.into_iter().take(PULL_SECRETS) {
            let Ok(name) = ObjectName::parse(&reference.name) else {
                tracing::warn!(%namespace, %account, "a pull secret has a name that no Secret can have");
                continue;
            };
            let Some(secret) = self.secret(namespace, &name).await? else {
                tracing::warn!(%namespace, %account, secret = %name, "a pull secret is missing");
                continue;
            };
            let data = secret.data.unwrap_or_default();
            let text = [".dockerconfigjson", ".dockercfg"].iter().find_map(|key| data.get(*key));
            match text.map(|text| parse_docker_config(&text.0)) {
                Some(Ok(credentials)) => found.extend(credentials),
                Some(Err(error)) => {
                    tracing::warn!(%namespace, %account, secret = %name, %error, "a pull secret cannot be used");
                }
                None => tracing::warn!(%namespace, %account, secret = %name, "a pull secret has no .dockerconfigjson"),
            }
        }
        Ok(found)
    }

    async fn secret(&self, namespace: &Namespace, name: &ObjectName) -> Result<Option<Secret>, ApiError> {
        let object = self.api.get(SECRETS, Some(namespace), name).await?;
        object.map(serde_json::from_value).transpose().map_err(ApiError::Unreadable)
    }
}
