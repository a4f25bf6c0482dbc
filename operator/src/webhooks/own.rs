//! Keeps an own certificate: made or taken over, made known, served, and renewed in time.
//!
//! A new certificate is shown only when the API server has been told of its authority, and has had time to take that
//! in. The authority of the old one stays in the bundle until that certificate has expired: other replicas may show it
//! until then.

use super::Readiness;
use super::bundle::{Endpoint, InjectError, Injector};
use super::listener::Identity;
use super::secret::{SECRET_NAME, SecretError, Shared, Store};
use crate::backoff::Backoff;
use futures_util::{Stream, StreamExt as _};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client};
use llsd_generator::api::CRD_NAME;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;
use time::OffsetDateTime;

/// From telling the API server to showing the new certificate: several API servers may have to hear of it.
const SETTLE: Duration = Duration::from_secs(5);
/// The longest rest, so that a clock that was set is noticed.
const REST: Duration = Duration::from_secs(3600);

/// Keeps the certificate in step with the Secret and with the two places that know it.
pub(super) struct Keeper {
    store: Store,
    injector: Injector,
}

#[derive(Debug, thiserror::Error)]
enum KeepError {
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error(transparent)]
    Inject(#[from] InjectError),
}

impl Keeper {
    pub(super) fn new(
        client: Client,
        namespace: &str,
        endpoint: Endpoint,
        configuration: String,
        lifetime: Duration,
    ) -> Self {
        let store = Store::new(client.clone(), namespace, endpoint.names(namespace), lifetime);
        Self { store, injector: Injector::new(client, endpoint, configuration) }
    }

    /// Makes certificates and renews them in time, until the process ends.
    pub(super) async fn run(&self, identity: &Identity, readiness: &Readiness) {
        let mut changes = std::pin::pin!(self.changes());
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(60));
        loop {
            let rest = match self.once(identity, readiness).await {
                Ok(renewal) => {
                    backoff.reset();
                    // Replicas that wake at the same moment would all make a certificate, and all but one in vain.
                    until(renewal).min(REST) + backoff.jitter(Duration::from_secs(1))
                }
                Err(error) => {
                    let rest = backoff.next();
                    tracing::warn!(%error, retry = ?rest, "the webhook certificate is not in step");
                    rest
                }
            };
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                _ = changes.next() => {}
            }
        }
    }

    /// Brings everything in step. Returns when to renew.
    async fn once(&self, identity: &Identity, readiness: &Readiness) -> Result<OffsetDateTime, KeepError> {
        let Shared { serving, authorities } = self.store.get().await?;
        let shown = identity.get();
        let is_new = shown.as_ref().is_none_or(|shown| !shown.is(&serving));
        if shown.is_none() {
            // The first one: whatever the API server knows by now, no certificate at all helps nobody.
            identity.set(serving.clone());
        }
        self.injector.inject(&authorities, OffsetDateTime::now_utc()).await?;
        if is_new && let Some(shown) = shown {
            let left = until(shown.not_after);
            tokio::time::sleep(SETTLE.min(left / 3)).await;
            identity.set(serving.clone());
            tracing::info!(until = %serving.not_after, "a new webhook certificate is served");
        }
        readiness.until(serving.not_after);
        Ok(serving.renewal())
    }

    /// Something happened to one of the three objects.
    fn changes(&self) -> impl Stream<Item = ()> + Send + use<> {
        let client = self.injector.client();
        let crds = Api::<PartialObjectMeta<CustomResourceDefinition>>::all(client.clone());
        let configurations = Api::<PartialObjectMeta<ValidatingWebhookConfiguration>>::all(client.clone());
        let namespace = self.store.api().namespace().unwrap_or_default().to_owned();
        let secrets = Api::<PartialObjectMeta<Secret>>::namespaced(client.clone(), &namespace);
        let all = [
            touched(secrets, SECRET_NAME).boxed(),
            touched(crds, CRD_NAME).boxed(),
            touched(configurations, self.injector.configuration()).boxed(),
        ];
        futures_util::stream::select_all(all)
    }
}

fn touched<K>(api: Api<PartialObjectMeta<K>>, name: &str) -> impl Stream<Item = ()> + Send + use<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    watcher(api, watcher::Config::default().fields(&format!("metadata.name={name}")))
        .default_backoff()
        .touched_objects()
        .filter_map(|event| async move { event.ok().map(|_| ()) })
}

fn until(moment: OffsetDateTime) -> Duration {
    (moment - OffsetDateTime::now_utc()).try_into().unwrap_or_default()
}
