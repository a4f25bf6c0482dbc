//! The reconcile: the steps in their order, for one resource at a time, many resources at once.

use crate::api::{Api, LLSD, PODS, text};
use crate::events::Events;
use crate::external;
use crate::metrics::{End, Metrics};
use crate::probe::Probes;
use crate::queue::{Key, Queue};
use crate::resources::ca_bundle::BUNDLE_KEY;
use crate::resources::{CaBundle, Config, Desired, INSTANCE, Kind, Leftovers, Owner, children, service};
use crate::steps::apply::ApplyError;
use crate::steps::dereference::{CaSource, Found, dereference};
use crate::steps::judge::{Judged, Secrets, judge, secrets};
use crate::steps::resolve::{Registries, Resolved, resolve};
use crate::steps::status::{self, Outcome};
use crate::steps::{Refusal, apply, conditions, retain};
use crate::stores::{Stored, Stores};
use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use llsd_generator::api::status::{ExternalProviderStatus, Status};
use llsd_generator::check::ReferenceKind;
use llsd_generator::generate::ConfigSource;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How often a resource is looked at that nothing happens to, at most; each one somewhere in the second half of it.
const RESYNC: Duration = Duration::from_secs(3600);
/// How soon an object of somebody else is looked at again that has the name of a child: it is not watched.
const BLOCKED: Duration = Duration::from_secs(60);

/// What reconciles need.
pub struct Context {
    /// The API server.
    pub api: Api,
    /// What is known of the cluster.
    pub stores: Arc<Stores>,
    /// What is to be looked at.
    pub queue: Queue,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// Events.
    pub events: Events,
    /// What servers say.
    pub probes: Probes,
    /// Where base configurations of images are read; `None` leaves the labels alone.
    pub registries: Option<Registries>,
    /// The operator's namespace.
    pub namespace: String,
    /// The operator's image.
    pub operator_image: Option<String>,
    /// The operator's version.
    pub operator_version: String,
    /// Whether the API server converts between the versions. Where it does not, resources that were written in
    /// v1alpha1 look empty, and writing to them would make that true.
    pub converts: bool,
    /// Where a server is asked, with `{namespace}` and `{name}`, in place of its Service.
    pub server_url: Option<String>,
}

/// Works until `end`; what is under way then is finished.
pub async fn run(context: Arc<Context>, concurrency: usize, end: CancellationToken) {
    tokio::select! {
        () = context.stores.complete() => {}
        () = end.cancelled() => return,
    }
    tracing::info!(
        resources = context.stores.resources.len(),
        children = context.stores.children.len(),
        "the cluster has been read; reconciling"
    );
    let slots = Arc::new(Semaphore::new(concurrency));
    let mut tasks = JoinSet::new();
    loop {
        let slot = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => slot,
            () = end.cancelled() => break,
        };
        let Ok(slot) = slot else { break };
        let key = tokio::select! {
            key = context.queue.next() => key,
            () = end.cancelled() => break,
        };
        let context = Arc::clone(&context);
        tasks.spawn(async move {
            work(&context, key).await;
            drop(slot);
        });
        while tasks.try_join_next().is_some() {}
    }
    while tasks.join_next().await.is_some() {}
}

async fn work(context: &Context, key: Key) {
    let started = Instant::now();
    let result = reconcile(context, &key).await;
    let (end, after) = match result {
        Ok(Next { refused, again }) => {
            let quiet = RESYNC / 2 + crate::backoff::Backoff::new(RESYNC, RESYNC).jitter(RESYNC / 2);
            context.queue.done(key, Some(again.map_or(quiet, |again| again.min(quiet))));
            (if refused { End::Refused } else { End::Done }, None)
        }
        Err(error) => {
            context.metrics.error("ApiRequest");
            let wait = context.queue.failed(key.clone());
            (End::Failed, Some((key, wait, error)))
        }
    };
    context.metrics.reconciled(end, started.elapsed());
    if let Some((key, wait, error)) = after {
        // Conflicts are part of the business: somebody else wrote first.
        let conflict = matches!(crate::api::status(&error), Some(status) if status.code == 409);
        let (namespace, name) = (&*key.namespace, &*key.name);
        if conflict {
            tracing::debug!(
                namespace,
                name,
                error = text(&error),
                ?wait,
                "the reconcile met a newer state and is repeated"
            );
        } else {
            tracing::warn!(namespace, name, error = text(&error), ?wait, "the reconcile failed and is repeated");
        }
    }
}

/// How a reconcile went.
#[derive(Debug, Default)]
struct Next {
    refused: bool,
    again: Option<Duration>,
}

async fn reconcile(context: &Context, key: &Key) -> kube::Result<Next> {
    let Some(stored) = context.stores.resources.get(key) else {
        context.stores.references.set(key, Default::default());
        context.probes.forget(key);
        return Ok(Next::default());
    };
    if stored.is_older && !context.converts {
        tracing::error!(
            namespace = &*key.namespace,
            name = &*key.name,
            "this resource was written in v1alpha1, and the API server does not convert: it is left alone until the \
             CustomResourceDefinition has the conversion webhook"
        );
        return Ok(Next { refused: true, again: None });
    }
    let object = stored.object();
    let before: Status = serde_json::from_value(object["status"].clone()).unwrap_or_default();
    if stored.deleting {
        context.probes.forget(key);
        write_status(context, key, &stored, &object, &status::terminating(&before)).await?;
        return Ok(Next::default());
    }
    let owner = Owner { name: key.name.to_string(), namespace: key.namespace.to_string(), uid: stored.uid.clone() };
    let mut work = Work { context, key, object: &object, before: &before, owner: &owner, stored: &stored };
    work.run().await
}

/// One reconcile.
struct Work<'a> {
    context: &'a Context,
    key: &'a Key,
    object: &'a Value,
    before: &'a Status,
    owner: &'a Owner,
    stored: &'a Stored,
}

/// What the steps found out, as far as they got.
#[derive(Default)]
struct Progress {
    resolved: Option<Resolved>,
    judged: Option<Judged>,
    secrets: Option<Secrets>,
    port: Option<u16>,
    blocked: Vec<String>,
    held_back: bool,
    deployed: bool,
    generated: bool,
}

impl Work<'_> {
    async fn run(&mut self) -> kube::Result<Next> {
        let mut progress = Progress::default();
        let refusal = match self.steps(&mut progress).await {
            Ok(()) => None,
            Err(Stop::Refused(refusal)) => Some(refusal),
            Err(Stop::Failed(error)) => {
                // The status tells what went wrong only if that lasts; a request that fails once is tried again.
                return Err(error);
            }
            Err(Stop::Again) => return Ok(Next { refused: false, again: Some(Duration::ZERO) }),
        };
        self.tell(&progress, refusal.as_ref()).await;
        let again = progress.resolved.as_ref().and_then(|resolved| resolved.again);
        let blocked = (!progress.blocked.is_empty()).then_some(BLOCKED);
        let refused = refusal.is_some() || !progress.blocked.is_empty();
        self.status(&progress, refusal).await?;
        let next = match (again, blocked) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Ok(Next { refused, again: next })
    }

    async fn steps(&self, progress: &mut Progress) -> Result<(), Stop> {
        let Self { context, key, object, owner, .. } = *self;
        let stores = &context.stores;
        let config = stores.config();
        let leftovers = Leftovers::of(object);
        // The typed form is needed for nothing but the certificates, where the resource may be refused later.
        let typed = serde_json::from_value(object["spec"].clone()).ok();
        let ca = CaSource::of(&owner.namespace, typed.as_ref(), &leftovers);
        let found = dereference(&context.api, &stores.references, key, object, &ca).await?;
        let resolved =
            resolve(context.registries.as_ref(), object, key, &config, self.before.resolved_distribution.as_ref())
                .await?;
        let resolved = progress.resolved.insert(resolved);
        let judged = progress.judged.insert(judge(object, &resolved.image, resolved.base.as_ref(), config.flags)?);
        progress.port =
            Some(service::port(&judged.spec, &leftovers).map_err(|error| Refusal::resources(error.to_string()))?);
        let bundle = found.ca_bundle(&owner.namespace, &ca)?;
        let secrets = progress.secrets.insert(secrets(object, judged, &owner.namespace, &found));
        // A ConfigMap that pods cannot mount is told by the builders, with the way out.
        let elsewhere = leftovers.config_namespace.as_deref().is_some_and(|other| other != owner.namespace);
        if let Some(missing) = secrets.config_maps.first().filter(|_| !elsewhere) {
            return Err(Refusal::resources(missing.clone()).into());
        }
        if let Some(problem) = secrets.problem.as_ref().filter(|_| secrets.blocks) {
            return Err(problem.clone().into());
        }
        let live = stores.deployments.get(key);
        let live_bundle = match (&bundle, ca.explicit.is_some()) {
            (Some(_), true) => self.live_bundle().await?,
            _ => None,
        };
        let desired = Desired {
            owner,
            spec: &judged.spec,
            leftovers: &leftovers,
            written_as: self.stored.written_as,
            image: &resolved.image,
            config: config_of(judged, &found, &owner.namespace),
            ca_bundle: bundle.as_ref().map(|bundle| CaBundle {
                pem: &bundle.pem,
                explicit: ca.explicit.is_some(),
                live: live_bundle.as_deref(),
            }),
            secrets_digest: secrets.digest.as_deref(),
            derived: &secrets.derived,
            flags: config.flags,
            operator_namespace: &context.namespace,
            operator_image: context.operator_image.as_deref(),
            openshift_scc: stores.anyuid.load(Ordering::SeqCst),
            live: live.as_deref().map(|state| &state.live),
        };
        let children = children(&desired).map_err(|error| Refusal::resources(error.to_string()))?;
        let applied = apply::apply(&context.api, stores, key, owner, &children).await?;
        progress.blocked = applied.blocked;
        progress.held_back = applied.held_back;
        progress.deployed = applied.deployment;
        progress.generated = applied.config_map;
        let current =
            children.iter().find(|child| child.kind == Kind::GeneratedConfig).map(|child| child.name().to_owned());
        retain::retain(&context.api, stores, key, owner, current.as_deref()).await?;
        Ok(())
    }

    /// The certificates in the ConfigMap that pods mount now.
    async fn live_bundle(&self) -> kube::Result<Option<String>> {
        let name = Kind::CaBundle.name(&self.key.name);
        let Some(record) = self.context.stores.children.get(Kind::CaBundle, &self.key.namespace, &name) else {
            return Ok(None);
        };
        if record.owner.as_deref() != Some(self.owner.uid.as_str()) {
            return Ok(None);
        }
        let found = self.context.api.get(Kind::CaBundle.into(), &self.key.namespace, &name).await?;
        Ok(found.and_then(|object| object["data"][BUNDLE_KEY].as_str().map(str::to_owned)))
    }

    /// Events and metrics of what happened.
    async fn tell(&self, progress: &Progress, refusal: Option<&Refusal>) {
        let Self { context, .. } = *self;
        let about = about(self.key, self.stored);
        let generated = progress.judged.as_ref().and_then(|judged| judged.generated.as_ref());
        if let Some(generated) = generated.filter(|_| progress.generated) {
            context.metrics.generated();
            let (providers, resources) = (generated.providers, generated.resources);
            let note = format!("Generated config.yaml with {providers} providers and {resources} resources");
            context.events.normal(&about, "ConfigGenerated", &note).await;
        }
        if let Some(generated) = generated.filter(|_| progress.deployed) {
            let name = crate::resources::config::name(&self.owner.name, generated.config.hash());
            context.events.normal(&about, "DeploymentUpdated", &format!("Deployment updated with config {name}")).await;
        }
        if let Some(refusal) = refusal {
            context.metrics.error(refusal.reason);
            let reason = match refusal.condition {
                conditions::CONFIG_GENERATED => "ConfigGenerationFailed",
                conditions::SECRETS_RESOLVED => "SecretResolutionFailed",
                _ => "ReconcileFailed",
            };
            context.events.warning(&about, reason, &refusal.message).await;
        } else if let Some(problem) = progress.secrets.as_ref().and_then(|secrets| secrets.problem.as_ref()) {
            context.events.warning(&about, "SecretResolutionFailed", &problem.message).await;
        }
        for blocked in &progress.blocked {
            context.metrics.error("ForeignObject");
            context.events.warning(&about, "ForeignObject", blocked).await;
        }
        if let Some(trouble) = progress.resolved.as_ref().and_then(|resolved| resolved.trouble.as_ref()) {
            context.metrics.error("Registry");
            context
                .events
                .warning(&about, "RegistryTrouble", &format!("{trouble}. The embedded base config is used"))
                .await;
        }
        if progress.deployed || progress.generated {
            for warning in progress.judged.iter().flat_map(|judged| &judged.warnings) {
                tracing::info!(namespace = self.owner.namespace, name = self.owner.name, "{warning}");
            }
            let warnings = progress.judged.as_ref().map(|judged| judged.warnings.join("; ")).unwrap_or_default();
            if !warnings.is_empty() {
                context.events.warning(&about, "AcceptedWithWarnings", &warnings).await;
            }
        }
    }

    async fn status(&self, progress: &Progress, refusal: Option<Refusal>) -> kube::Result<()> {
        let Self { context, key, .. } = *self;
        let deployment = context.stores.deployments.get(key);
        let serves = deployment
            .as_deref()
            .is_some_and(|state| state.ready > 0 && state.ready == state.wanted && !state.is_rolling_out());
        let answer = match (&progress.judged, progress.port) {
            (Some(judged), Some(port)) if serves => {
                let url = match &context.server_url {
                    Some(template) => template.replace("{namespace}", &key.namespace).replace("{name}", &key.name),
                    None => service::url(self.owner, &judged.spec, port),
                };
                context.probes.ask(key, &url)
            }
            _ => {
                context.probes.forget(key);
                None
            }
        };
        let outcome = Outcome {
            judged: progress.judged.as_ref(),
            resolved: progress.resolved.as_ref().map(|resolved| resolved.distribution.clone()),
            secrets: progress.secrets.as_ref(),
            refusal,
            blocked: progress.blocked.clone(),
            held_back: progress.held_back,
            probe: answer.as_deref(),
            port: progress.port,
            external: self.external(progress).await?,
        };
        let now = Time(Timestamp::now());
        let about = status::About { key, owner: self.owner, object: self.object, before: self.before };
        let after = status::status(&about, &context.stores, &outcome, &context.operator_version, &now);
        write_status(context, key, self.stored, self.object, &after).await
    }

    /// How far the external providers have got, by the init containers of the pods.
    async fn external(&self, progress: &Progress) -> kube::Result<Vec<ExternalProviderStatus>> {
        let Some(judged) = &progress.judged else { return Ok(Vec::new()) };
        let wanted = external::wanted(&judged.spec);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let labels = format!("{INSTANCE}={}", self.owner.name);
        let pods = self.context.api.list(PODS, &self.owner.namespace, &labels).await?;
        let pods: Vec<Pod> = pods.into_iter().filter_map(|pod| serde_json::from_value(pod).ok()).collect();
        Ok(external::status::statuses(&wanted, &pods))
    }
}

fn config_of<'a>(judged: &'a Judged, found: &'a Found, namespace: &str) -> Config<'a> {
    match (&judged.source, &judged.generated, &judged.spec.override_config) {
        (ConfigSource::Override { .. }, _, Some(config)) => {
            let content = found.get(ReferenceKind::ConfigMap, namespace, &config.config_map_name);
            Config::Override {
                config_map: &config.config_map_name,
                resource_version: content.map_or("", |content| content.resource_version.as_str()),
                digest: content.map_or("", |content| content.digest.as_str()),
            }
        }
        (ConfigSource::Generated, Some(generated), _) => {
            Config::Generated { text: generated.config.text(), hash: generated.config.hash(), env: &generated.env }
        }
        _ => Config::Image,
    }
}

/// The resource, for events about it.
fn about(key: &Key, stored: &Stored) -> ObjectReference {
    ObjectReference {
        api_version: Some("llamastack.io/v1alpha2".to_owned()),
        kind: Some(llsd_generator::api::KIND.to_owned()),
        name: Some(key.name.to_string()),
        namespace: Some(key.namespace.to_string()),
        uid: Some(stored.uid.clone()),
        ..ObjectReference::default()
    }
}

async fn write_status(
    context: &Context,
    key: &Key,
    stored: &Stored,
    object: &Value,
    after: &Status,
) -> kube::Result<()> {
    let now = Time(Timestamp::now());
    let before = if object["status"].is_object() { object["status"].clone() } else { serde_json::json!({}) };
    let Some(patch) = status::patch(&before, after, &stored.uid, &now) else { return Ok(()) };
    match context.api.merge(LLSD, &key.namespace, &format!("{}/status", key.name), &patch).await {
        // Gone, or another of the same name: its own event is on the way.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        // The rest of the object breaks the rules of the CustomResourceDefinition, which is younger: then it takes no
        // status either, until somebody mends it.
        Err(kube::Error::Api(status)) if matches!(status.code, 400 | 422) => {
            let note = format!("The API server refuses the status of this resource: {}", status.message);
            context.metrics.error("StatusRefused");
            context.events.warning(&about(key, stored), "StatusRefused", &note).await;
            Ok(())
        }
        Err(error) => Err(error),
        Ok(answer) => {
            if let Ok(answer) = serde_json::from_value(answer)
                && context.stores.resources.written(key, stored, Stored::read(answer))
            {
                context.queue.add(key.clone());
            }
            Ok(())
        }
    }
}

/// Why the steps ended early.
enum Stop {
    Refused(Refusal),
    Failed(kube::Error),
    Again,
}

impl From<ApplyError> for Stop {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Refused(message) => Refusal::resources(message).into(),
            ApplyError::Request(error) => error.into(),
            ApplyError::Again => Self::Again,
        }
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<kube::Error> for Stop {
    fn from(error: kube::Error) -> Self {
        Self::Failed(error)
    }
}
