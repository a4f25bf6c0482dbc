//! The credentials with which a pod would pull its image.

use super::{Credential, parse_docker_config};
use crate::backoff::Backoff;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::{Api, Client};
use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::Instant;

/// How long what was read counts. Pull secrets change seldom, and a missing one shows as a refusal.
const FRESH: Duration = Duration::from_secs(300);
/// Namespaces and service accounts that are remembered.
const REMEMBERED: usize = 4096;

struct Read {
    credentials: Vec<Credential>,
    until: Instant,
}

/// Reads pull secrets by way of service accounts.
pub struct Keychain {
    client: Client,
    read: std::sync::Mutex<HashMap<(String, String), Read>>,
}

impl Keychain {
    /// Nothing read yet.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, read: std::sync::Mutex::default() }
    }

    /// The credentials of a service account, then those of the namespace's default one. Service accounts and Secrets
    /// that are missing or unreadable are logged and passed over, as the kubelet does.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn credentials(&self, namespace: &str, account: &str) -> Result<Vec<Credential>, kube::Error> {
        let key = (namespace.to_owned(), account.to_owned());
        {
            let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = read.get(&key).filter(|known| known.until > Instant::now()) {
                return Ok(known.credentials.clone());
            }
        }
        let mut credentials = self.of(namespace, account).await?;
        if account != "default" {
            credentials.extend(self.of(namespace, "default").await?);
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

    async fn of(&self, namespace: &str, account: &str) -> Result<Vec<Credential>, kube::Error> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let mut found = Vec::new();
        let names = accounts.get_opt(account).await?.and_then(|account| account.image_pull_secrets).unwrap_or_default();
        for name in names.into_iter().map(|reference| reference.name) {
            let Some(secret) = secrets.get_opt(&name).await? else {
                tracing::warn!(namespace, account, secret = name, "a pull secret is missing");
                continue;
            };
            let data = secret.data.unwrap_or_default();
            let text = [".dockerconfigjson", ".dockercfg"].iter().find_map(|key| data.get(*key));
            match text.map(|text| parse_docker_config(&text.0)) {
                Some(Ok(credentials)) => found.extend(credentials),
                Some(Err(error)) => {
                    tracing::warn!(namespace, account, secret = name, %error, "a pull secret cannot be used");
                }
                None => tracing::warn!(namespace, account, secret = name, "a pull secret has no .dockerconfigjson"),
            }
        }
        Ok(found)
    }
}
