//! The status: made from what was applied and what the cluster says, and written only if it differs.

mod patch;
mod rollout;

pub use patch::patch;

use super::Refusal;
use super::adopt::Adoption;
use super::conditions::{self, Conditions};
use super::judge::{Judged, Secrets};
use crate::probe::Answer;
use crate::queue::Key;
use crate::resources::{Kind, Owner, config, service};
use crate::served::Served;
use crate::stores::Stores;
use crate::stores::deployments::DeploymentState;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use llsd_generator::api::status::{
    ConfigGeneration, ConfigSource, DistributionConfig, ExternalProviderStatus, Phase, ResolvedDistribution, Status,
};
use llsd_generator::check::rules::allowed_from::NO_POLICIES;
use llsd_generator::distribution::Distributions;
use llsd_generator::quantity::Quantity;
use rollout::{available, deployment_ready, health, is_ready, phase, ready};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the steps before came to.
#[derive(Debug, Default)]
pub struct StatusInput<'a> {
    /// The verdict, if there is one.
    pub judged: Option<&'a Judged>,
    /// The resolved image and the base configuration's hash and source.
    pub resolved: Option<ResolvedDistribution>,
    /// The Secrets, if they were looked at.
    pub secrets: Option<&'a Secrets>,
    /// What stands in the way.
    pub refusal: Option<Refusal>,
    /// Objects of others with the names of children, and the like.
    pub conflicts: Vec<String>,
    /// Whether they kept the Deployment from being written.
    pub deployment_skipped: bool,
    /// What the running server says.
    pub probe: Option<&'a Answer>,
    /// The port of the server.
    pub port: Option<u16>,
    /// What was taken over from another resource.
    pub adoption: Option<&'a Adoption>,
    /// How far external providers have got.
    pub external: Vec<ExternalProviderStatus>,
}

/// The resource whose status is made.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// Namespace and name of the resource.
    pub key: &'a Key,
    /// The resource as its children name it in their owner references.
    pub owner: &'a Owner,
    /// The whole object in v1alpha2.
    pub object: &'a Value,
    /// The status that it has.
    pub before: &'a Status,
}

/// The status as it should be.
#[must_use]
pub fn status(
    about: &About<'_>,
    stores: &Stores,
    outcome: &StatusInput<'_>,
    operator_version: &str,
    now: &Time,
) -> Status {
    let About { key, owner, object, before } = *about;
    let generation = object["metadata"]["generation"].as_i64();
    let deployment = stores.deployments.get(key);
    let mut conditions = Conditions::default();
    let mut status = before.clone();
    let problem = problem(outcome);
    status.phase = Some(phase(deployment.as_deref(), problem.as_deref()));
    status.available_replicas = Some(deployment.as_deref().map_or(0, DeploymentState::ready_for_status));
    deployment_ready(&mut conditions, deployment.as_deref(), problem.as_deref());
    health(&mut conditions, deployment.as_deref());
    available(&mut conditions, deployment.as_deref());
    claim(&mut conditions, object, key, stores, outcome.adoption);
    if let Some(adoption) = outcome.adoption {
        adoption.tell(&mut conditions);
    }
    if let Some(refusal) = outcome.refusal.as_ref().filter(|one| one.condition == conditions::ADOPTION_CONFIG_INVALID) {
        conditions.set(conditions::ADOPTION_CONFIG_INVALID, true, refusal.reason, refusal.message.clone());
    }
    let with_service = has_child(stores, Kind::Service, key, owner);
    service_ready(&mut conditions, with_service, outcome);
    generated(&mut conditions, &mut status, outcome, object, owner, now);
    secrets(&mut conditions, outcome);
    status.external_providers = (!outcome.external.is_empty()).then(|| outcome.external.clone());
    if !outcome.external.is_empty() {
        let (ready, reason, message) = crate::external::status::summary(&outcome.external);
        conditions.set(conditions::EXTERNAL_PROVIDERS_READY, ready, reason, message);
    }
    access(&mut conditions, outcome, has_child(stores, Kind::NetworkPolicy, key, owner));
    if let Some(judged) = outcome.judged {
        status.service_url =
            with_service.then(|| service::url(owner, &judged.spec, outcome.port.unwrap_or(judged.spec.port())));
        status.route_url = route(&judged.spec, key, stores);
        let ready = is_ready(deployment.as_deref());
        status.distribution_config = Some(distribution(judged, outcome.probe, ready, owner.served));
    }
    if let (Some(resolved), None) = (&outcome.resolved, &outcome.refusal) {
        status.resolved_distribution = Some(resolved.clone());
    }
    let missing = outcome.secrets.and_then(|secrets| secrets.problem.as_ref());
    ready(&mut conditions, deployment.as_deref(), missing, problem.as_deref());
    status.observed_generation = generation;
    let version = status.version.get_or_insert_default();
    version.operator_version = Some(operator_version.to_owned());
    if let Some(server) = outcome.probe.and_then(|answer| answer.version.clone()) {
        version.llama_stack_server_version = Some(server);
    }
    status.conditions = Some(conditions.finish(before.conditions.as_deref().unwrap_or_default(), generation, now));
    status
}

/// Whether there is a child of this kind that belongs to the resource.
fn has_child(stores: &Stores, kind: Kind, key: &Key, owner: &Owner) -> bool {
    let record = stores.children.get(kind, &key.namespace, &kind.name(&key.name));
    record.is_some_and(|record| record.owner.as_deref() == Some(owner.uid.as_str()))
}

fn service_ready(conditions: &mut Conditions, with_service: bool, outcome: &StatusInput<'_>) {
    if with_service {
        conditions.set(conditions::SERVICE_READY, true, "ServiceReady", "Service is ready");
    } else if outcome.judged.is_some() {
        let message = "Failed to get Service: there is none of this resource";
        conditions.set(conditions::SERVICE_READY, false, "ServiceFailed", message);
    }
}

/// Whether only those may connect whom the resource names, where it names any.
fn access(conditions: &mut Conditions, outcome: &StatusInput<'_>, has_policy: bool) {
    let Some(restricts) = outcome.judged.and_then(|judged| judged.restricts) else { return };
    let (restricted, reason, message) = match (restricts, has_policy) {
        (false, _) => (false, "NetworkPoliciesOff", NO_POLICIES),
        (true, true) => (true, "NetworkPolicyMade", "A network policy lets in only those whom allowedFrom names"),
        (true, false) => (false, "NetworkPolicyFailed", "There is no network policy yet, so every pod may connect"),
    };
    conditions.set(conditions::ACCESS_RESTRICTED, restricted, reason, message);
}

/// The status of a resource whose reconcile keeps failing: what is known stays, but it is not ready.
#[must_use]
pub fn failing(before: &Status, object: &Value, error: &str, now: &Time) -> Status {
    let known = before.conditions.as_deref().unwrap_or_default();
    let mut conditions = Conditions::default();
    let message = format!("The reconcile keeps failing and is repeated: {error}");
    conditions.set(conditions::READY, false, "ReconcileFailed", message);
    let ready = conditions.finish(known, object["metadata"]["generation"].as_i64(), now);
    let all = known.iter().filter(|one| one.type_ != conditions::READY).cloned().chain(ready).collect();
    Status { conditions: Some(all), ..before.clone() }
}

/// The status of a resource that is being deleted.
#[must_use]
pub fn terminating(before: &Status) -> Status {
    Status { phase: Some(Phase::Terminating), ..before.clone() }
}

fn problem(outcome: &StatusInput<'_>) -> Option<String> {
    let mut all: Vec<&str> = outcome.refusal.iter().map(|refusal| refusal.message.as_str()).collect();
    all.extend(outcome.conflicts.iter().map(String::as_str));
    (!all.is_empty()).then(|| all.join("; "))
}

fn claim(conditions: &mut Conditions, object: &Value, key: &Key, stores: &Stores, adoption: Option<&Adoption>) {
    let storage = &object["spec"]["workload"]["storage"];
    if storage.is_null() {
        return;
    }
    let adopted = adoption.and_then(|adoption| adoption.claim.clone());
    let name = adopted.unwrap_or_else(|| Kind::PersistentVolumeClaim.name(&key.name));
    match Key::new(&key.namespace, &name).ok().and_then(|key| stores.claims.get(&key)) {
        None => conditions.set(
            conditions::STORAGE_READY,
            false,
            "StorageFailed",
            format!("Failed to get PVC: there is no \"{name}\" yet"),
        ),
        Some(claim) => {
            let wanted = storage["size"].as_str().unwrap_or("10Gi");
            let size = if same_size(wanted, &claim.size) {
                String::new()
            } else {
                format!(
                    ". Its size is {} and stays so: the resource asks for {wanted}, and the operator does not resize volumes. Resize the claim \"{name}\" yourself",
                    claim.size
                )
            };
            if claim.phase == "Bound" {
                conditions.set(conditions::STORAGE_READY, true, "StorageReady", format!("Storage is ready{size}"));
            } else {
                conditions.set(
                    conditions::STORAGE_READY,
                    false,
                    "StorageFailed",
                    format!("PVC is not bound: {}{size}", claim.phase),
                );
            }
        }
    }
}

/// Whether two quantities are the same; the API server may write one in another way.
fn same_size(one: &str, other: &str) -> bool {
    match (one.parse::<Quantity>(), other.parse::<Quantity>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn generated(
    conditions: &mut Conditions,
    status: &mut Status,
    outcome: &StatusInput<'_>,
    object: &Value,
    owner: &Owner,
    now: &Time,
) {
    let refused = outcome.refusal.as_ref();
    if let Some(refusal) = refused.filter(|refusal| refusal.condition == conditions::CONFIG_GENERATED) {
        // The server ran with another image or base before: it is the change of that which fails.
        let earlier = status.resolved_distribution.as_ref();
        let upgraded = earlier.zip(outcome.resolved.as_ref()).is_some_and(|(before, now)| before != now);
        let unchanged_spec = status.conditions.as_deref().unwrap_or_default().iter().any(|one| {
            one.type_ == conditions::CONFIG_GENERATED
                && one.status == "True"
                && one.observed_generation == object["metadata"]["generation"].as_i64()
        });
        let was_upgrade = status.conditions.iter().flatten().any(|one| {
            one.type_ == conditions::CONFIG_GENERATED
                && one.reason == "UpgradeConfigFailure"
                && one.observed_generation == object["metadata"]["generation"].as_i64()
        });
        let reason = if upgraded && (unchanged_spec || was_upgrade) { "UpgradeConfigFailure" } else { refusal.reason };
        conditions.set(conditions::CONFIG_GENERATED, false, reason, refusal.message.clone());
        return;
    }
    let Some(generated) = outcome.judged.and_then(|judged| judged.generated.as_ref()) else {
        if outcome.judged.is_some() {
            status.config_generation = None;
            if owner.served.is_ogx() {
                let message = "Declarative config generation is not active";
                conditions.set(conditions::CONFIG_GENERATED, false, "ConfigGenerationInactive", message);
            }
        }
        return;
    };
    conditions.set(
        conditions::CONFIG_GENERATED,
        true,
        "ConfigGenerationSucceeded",
        format!("Generated config.yaml with {} providers and {} resources", generated.providers, generated.resources),
    );
    let name = config::name(owner, generated.config.hash());
    match problem(outcome).filter(|_| outcome.deployment_skipped || outcome.refusal.is_some()) {
        Some(problem) => conditions.set(conditions::DEPLOYMENT_UPDATED, false, "DeploymentUpdateFailed", problem),
        None => {
            conditions.set(
                conditions::DEPLOYMENT_UPDATED,
                true,
                "DeploymentUpdateSucceeded",
                format!("Deployment updated with config {name}"),
            );
            let same =
                status.config_generation.as_ref().filter(|before| before.config_map_name.as_deref() == Some(&name));
            let at = same.and_then(|before| before.generated_at.clone()).unwrap_or_else(|| now.clone());
            let count = |number: usize| i32::try_from(number).ok();
            status.config_generation = Some(ConfigGeneration {
                config_map_name: Some(name),
                generated_at: Some(at),
                provider_count: count(generated.providers),
                resource_count: count(generated.resources),
                config_version: i32::try_from(generated.config_version).ok(),
            });
        }
    }
}

fn secrets(conditions: &mut Conditions, outcome: &StatusInput<'_>) {
    let Some(secrets) = outcome.secrets else { return };
    match &secrets.problem {
        Some(problem) => conditions.set(conditions::SECRETS_RESOLVED, false, problem.reason, problem.message.clone()),
        None if secrets.count > 0 => {
            let message = format!("Resolved {} secret references", secrets.count);
            conditions.set(conditions::SECRETS_RESOLVED, true, "AllSecretsFound", message);
        }
        None => {}
    }
}

fn route(
    spec: &llsd_generator::api::v1alpha2::LlamaStackDistributionSpec,
    key: &Key,
    stores: &Stores,
) -> Option<String> {
    let exposed =
        spec.networking.as_ref().and_then(|networking| networking.expose.as_ref()).is_some_and(|expose| expose.is_on());
    exposed.then(|| {
        let ingress = Key::new(&key.namespace, &Kind::Ingress.name(&key.name)).ok();
        let host = ingress.and_then(|ingress| stores.ingresses.get(&ingress));
        host.filter(|host| !host.is_empty()).map(|host| format!("http://{host}")).unwrap_or_default()
    })
}

fn distribution(judged: &Judged, probe: Option<&Answer>, ready: bool, served: &Served) -> DistributionConfig {
    let known: BTreeMap<String, String> = if served.is_ogx() {
        llsd_generator::ogx::distributions().map(|(name, image)| (name.to_owned(), image)).collect()
    } else {
        Distributions::embedded().iter().map(|one| (one.name.clone(), one.image.clone())).collect()
    };
    DistributionConfig {
        active_distribution: Some(judged.spec.distribution.name.clone().unwrap_or_else(|| "custom".to_owned())),
        providers: probe.filter(|_| ready).and_then(|answer| answer.providers.clone()),
        available_distributions: Some(known),
    }
}

/// How a status says where the base configuration came from.
#[must_use]
pub fn config_source(from_image: bool) -> ConfigSource {
    if from_image { ConfigSource::OciLabel } else { ConfigSource::Embedded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_as_quantities() {
        assert!(same_size("1024Mi", "1Gi") && same_size("10Gi", "10Gi") && same_size("1e3", "1k"));
        assert!(same_size("1Ei", "1024Pi") && same_size("1E", "1000P") && same_size("1000000u", "1"));
        assert!(!same_size("10Gi", "20Gi"));
    }
}
