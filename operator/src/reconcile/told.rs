//! What is told of a reconcile: events, metrics and the status of the resource.

use super::Work;
use super::reached::{Reached, Verdict};
use crate::api::{self, PODS};
use crate::controller::Context;
use crate::external;
use crate::queue::Key;
use crate::resources::{INSTANCE, Kind, service};
use crate::served::Served;
use crate::steps::status::{self, StatusInput};
use crate::steps::{Refusal, conditions, ogx};
use crate::stores::Stored;
use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use llsd_generator::api::status::{ExternalProviderStatus, Status};
use serde_json::Value;

impl Work<'_> {
    /// Events and metrics of what happened.
    pub(super) async fn tell(&self, reached: &Reached, refusal: Option<&Refusal>) {
        let Self { context, .. } = *self;
        let about = about(context.served, self.key, self.stored);
        let judged = reached.verdict().map(|verdict| &verdict.judged);
        let generated = judged.and_then(|judged| judged.generated.as_ref());
        let (config_map, deployment) =
            reached.applied().map_or((false, false), |applied| (applied.config_map, applied.deployment));
        if let Some(generated) = generated.filter(|_| config_map) {
            context.metrics.generated(context.served);
            let (providers, resources) = (generated.providers, generated.resources);
            let note = format!("Generated config.yaml with {providers} providers and {resources} resources");
            context.events.normal(&about, "ConfigGenerated", &note).await;
        }
        if let Some(generated) = generated.filter(|_| deployment) {
            let name = crate::resources::config::name(self.owner, generated.config.hash());
            context.events.normal(&about, "DeploymentUpdated", &format!("Deployment updated with config {name}")).await;
        }
        if let Some(refusal) = refusal {
            context.metrics.error(context.served, refusal.reason);
            let reason = match refusal.condition {
                conditions::CONFIG_GENERATED => "ConfigGenerationFailed",
                conditions::SECRETS_RESOLVED => "SecretResolutionFailed",
                _ => "ReconcileFailed",
            };
            context.events.warning(&about, reason, &refusal.message).await;
        } else if let Some(problem) = reached.secrets().and_then(|secrets| secrets.problem.as_ref()) {
            context.events.warning(&about, "SecretResolutionFailed", &problem.message).await;
        }
        for conflict in reached.conflicts() {
            context.metrics.error(context.served, "ForeignObject");
            context.events.warning(&about, "ForeignObject", conflict).await;
        }
        if let Some(trouble) = reached.resolved().and_then(|resolved| resolved.trouble.as_ref()) {
            context.metrics.error(context.served, "Registry");
            let note = format!("{trouble}. The embedded base config is used");
            context.events.warning(&about, "RegistryTrouble", &note).await;
        }
        if deployment || config_map {
            for warning in judged.iter().flat_map(|judged| &judged.warnings) {
                tracing::info!(namespace = self.owner.namespace, name = self.owner.name, "{warning}");
            }
            let warnings = judged.map(|judged| judged.warnings.join("; ")).unwrap_or_default();
            if !warnings.is_empty() {
                context.events.warning(&about, "AcceptedWithWarnings", &warnings).await;
            }
        }
    }

    /// Writes the status of the resource.
    pub(super) async fn status(
        &self,
        reached: &Reached,
        refusal: Option<Refusal>,
        external: Vec<ExternalProviderStatus>,
    ) -> api::Result<()> {
        let Self { context, key, .. } = *self;
        let deployment = context.stores.deployments.get(key);
        let serves = deployment
            .as_deref()
            .is_some_and(|state| state.ready > 0 && state.ready == state.wanted && !state.is_rolling_out());
        let url = reached.verdict().filter(|_| serves).and_then(|verdict| self.server_url(verdict));
        let answer = match url {
            Some(url) => context.probes.ask(key, &url),
            None => {
                context.probes.forget(key);
                None
            }
        };
        let verdict = reached.verdict();
        let outcome = StatusInput {
            judged: verdict.map(|verdict| &verdict.judged),
            resolved: reached.resolved().map(|resolved| resolved.distribution.clone()),
            secrets: reached.secrets(),
            refusal,
            conflicts: reached.conflicts().to_vec(),
            deployment_skipped: reached.applied().is_some_and(|applied| applied.deployment_skipped),
            probe: answer.as_deref(),
            port: verdict.map(|verdict| verdict.port),
            adoption: reached.adoption(),
            external,
        };
        let now = Time(Timestamp::now());
        let about = status::About { key, owner: self.owner, object: self.object, before: self.before };
        let after = status::status(&about, &context.stores, &outcome, &context.operator_version, &now);
        write_status(context, key, self.stored, self.object, &after).await
    }

    /// Where the server is asked about itself: at the cluster's own address of the resource's own Service. A name, or a
    /// Service of somebody else, could lead anywhere.
    fn server_url(&self, verdict: &Verdict) -> Option<String> {
        let Self { context, key, .. } = *self;
        if let Some(template) = &context.server_url {
            return Some(template.replace("{namespace}", &key.namespace).replace("{name}", &key.name));
        }
        let name = Kind::Service.name(&key.name);
        let record = context.stores.children.get(Kind::Service, &key.namespace, &name)?;
        let service = context.stores.services.get(&Key::new(&key.namespace, &name).ok()?)?;
        let address = service.address.filter(|_| record.owner.as_deref() == Some(self.owner.uid.as_str()))?;
        let scheme = if service::has_tls(&verdict.judged.spec) { "https" } else { "http" };
        Some(format!("{scheme}://{}", std::net::SocketAddr::new(address, verdict.port)))
    }

    /// How far the external providers have got, by the init containers of the pods.
    pub(super) async fn external(&self, reached: &Reached) -> api::Result<Vec<ExternalProviderStatus>> {
        let Some(verdict) = reached.verdict() else { return Ok(Vec::new()) };
        let wanted = external::wanted(&verdict.judged.spec);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let label = (INSTANCE, self.owner.name.as_str());
        let pods = self.context.api.list(PODS, Some(&self.key.namespace), label).await?;
        let pods: Result<Vec<Pod>, _> = pods.into_iter().map(serde_json::from_value).collect();
        Ok(external::status::statuses(&wanted, &pods.map_err(api::ApiError::Unreadable)?))
    }
}

pub(super) fn read_status(served: &Served, object: &Value) -> Status {
    match served.is_ogx() {
        true => ogx::read_status(&object["status"]),
        false => serde_json::from_value(object["status"].clone()).unwrap_or_default(),
    }
}

/// The resource, for events about it.
pub(super) fn about(served: &Served, key: &Key, stored: &Stored) -> ObjectReference {
    ObjectReference {
        api_version: Some(served.version.api_version().to_owned()),
        kind: Some(served.kind().name().to_owned()),
        name: Some(key.name.to_string()),
        namespace: Some(key.namespace.to_string()),
        uid: Some(stored.uid.clone()),
        ..ObjectReference::default()
    }
}

pub(super) async fn write_status(
    context: &Context,
    key: &Key,
    stored: &Stored,
    object: &Value,
    after: &Status,
) -> api::Result<()> {
    let now = Time(Timestamp::now());
    let before = if object["status"].is_object() { object["status"].clone() } else { serde_json::json!({}) };
    let after = if context.served.is_ogx() { ogx::written_status(after) } else { serde_json::json!(after) };
    let Some(patch) = status::patch(&before, &after, &stored.uid, &now) else { return Ok(()) };
    match context.api.merge_status(&key.namespace, &key.name, &patch).await {
        // Gone, or another of the same name: its own event is on the way.
        Err(error) if error.code() == Some(404) => Ok(()),
        // The rest of the object breaks the rules of the CustomResourceDefinition, which is younger: then it takes no
        // status either, until somebody mends it.
        Err(error) if matches!(error.code(), Some(400 | 422)) => {
            let note = format!("The API server refuses the status of this resource: {error}");
            context.metrics.error(context.served, "StatusRefused");
            context.events.warning(&about(context.served, key, stored), "StatusRefused", &note).await;
            Ok(())
        }
        Err(error) => Err(error),
        Ok(answer) => {
            if context.stores.resources.written(key, stored, Stored::read(&answer)) {
                context.queue.add(key.clone());
            }
            Ok(())
        }
    }
}
