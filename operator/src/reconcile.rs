//! The reconcile of one resource: the steps in their order, and what is told of them.

use crate::api::{self, ApiError, PODS};
use crate::controller::Context;
use crate::external;
use crate::queue::Key;
use crate::resources::ca_bundle::BUNDLE_KEY;
use crate::resources::{CaBundle, Config, Desired, INSTANCE, Kind, OgxOnly, Owner, V1Alpha1Only, children, service};
use crate::served::Served;
use crate::steps::adopt::{AdoptError, Adopter, Adoption};
use crate::steps::apply::{Applied, ApplyError};
use crate::steps::dereference::{self, CaSource, Dereferenced, dereference};
use crate::steps::judge::{Judged, Secrets, beyond, secrets};
use crate::steps::resolve::{Resolved, Unresolved, resolve};
use crate::steps::status::{self, StatusInput};
use crate::steps::{Refusal, apply, conditions, ogx, retain};
use crate::stores::Stored;
use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use llsd_generator::api::status::{ExternalProviderStatus, Status};
use llsd_generator::generate::ConfigSource;
use llsd_generator::names::ObjectName;
use llsd_generator::references::ReferenceKind;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How soon an object of somebody else is looked at again that has the name of a child: it is not watched.
const BLOCKED: Duration = Duration::from_secs(60);

/// How soon a resource is looked at again that waits for the answer of a registry.
const PENDING: Duration = Duration::from_secs(1);

/// What is to become of a resource whose reconcile has ended.
#[derive(Debug, Default)]
pub struct Next {
    /// Whether the resource is not what it asks for.
    pub refused: bool,
    /// Whether it was the API server that refused: a quota, a policy, a right that is missing. Nothing tells when that is
    /// mended, so it is tried again.
    pub denied: bool,
    /// When to look at it again, if nothing happens before.
    pub again: Option<Duration>,
}

/// Looks at one resource, and writes what is not as it should be.
///
/// # Errors
/// A request that failed; the whole is to be repeated.
pub async fn reconcile(context: &Context, key: &Key) -> api::Result<Next> {
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
        return Ok(Next { refused: true, ..Next::default() });
    }
    let object = Arc::new(stored.object());
    let before = read_status(context.served, &object);
    if stored.deleting {
        context.probes.forget(key);
        write_status(context, key, &stored, &object, &status::terminating(&before)).await?;
        return Ok(Next::default());
    }
    let owner = Owner {
        served: context.served,
        name: key.name.to_string(),
        namespace: key.namespace.to_string(),
        uid: stored.uid.clone(),
    };
    Work { context, key, object: &object, before: &before, owner: &owner, stored: &stored }.run().await
}

/// Has a resource tell that its reconcile keeps failing: by an event, and by the condition `Ready`.
///
/// # Errors
/// The status cannot be written either.
pub async fn tell_failure(context: &Context, key: &Key, error: &str) -> api::Result<()> {
    let Some(stored) = context.stores.resources.get(key).filter(|stored| !stored.deleting) else { return Ok(()) };
    context.events.warning(&about(context.served, key, &stored), "ReconcileFailed", error).await;
    let object = stored.object();
    let before = read_status(context.served, &object);
    let now = Time(Timestamp::now());
    write_status(context, key, &stored, &object, &status::failing(&before, &object, error, &now)).await
}

/// One reconcile: what its steps share.
struct Work<'a> {
    context: &'a Context,
    key: &'a Key,
    object: &'a Arc<Value>,
    before: &'a Status,
    owner: &'a Owner,
    stored: &'a Stored,
}

/// How far the steps got, with what they came to.
enum Reached {
    Nothing,
    Resolved(Resolved),
    Judged(Resolved, Verdict),
    Secrets(Resolved, Verdict, Secrets),
    Adopted(Resolved, Verdict, Secrets, Adoption),
    Applied(Resolved, Verdict, Secrets, Adoption, Applied),
}

/// A resource that passed validation, with what follows from its spec.
struct Verdict {
    judged: Judged,
    port: u16,
}

impl Reached {
    fn resolved(&self) -> Option<&Resolved> {
        match self {
            Self::Nothing => None,
            Self::Resolved(resolved)
            | Self::Judged(resolved, ..)
            | Self::Secrets(resolved, ..)
            | Self::Adopted(resolved, ..)
            | Self::Applied(resolved, ..) => Some(resolved),
        }
    }

    fn verdict(&self) -> Option<&Verdict> {
        match self {
            Self::Nothing | Self::Resolved(_) => None,
            Self::Judged(_, verdict)
            | Self::Secrets(_, verdict, _)
            | Self::Adopted(_, verdict, ..)
            | Self::Applied(_, verdict, ..) => Some(verdict),
        }
    }

    fn secrets(&self) -> Option<&Secrets> {
        match self {
            Self::Secrets(.., secrets) | Self::Adopted(_, _, secrets, _) | Self::Applied(_, _, secrets, ..) => {
                Some(secrets)
            }
            _ => None,
        }
    }

    fn adoption(&self) -> Option<&Adoption> {
        match self {
            Self::Adopted(.., adoption) | Self::Applied(_, _, _, adoption, _) => Some(adoption),
            _ => None,
        }
    }

    fn applied(&self) -> Option<&Applied> {
        match self {
            Self::Applied(.., applied) => Some(applied),
            _ => None,
        }
    }

    fn conflicts(&self) -> &[String] {
        self.applied().map(|applied| applied.conflicts.as_slice()).unwrap_or_default()
    }
}

/// Why the steps ended early.
enum Stop {
    /// The resource asks for what cannot be.
    Refused(Refusal),
    /// The API server does not let the operator do it.
    Denied(Refusal),
    /// A request to the API server failed; the queue tries again later.
    Failed(ApiError),
    /// Something was found that the stores did not know.
    Again,
    /// A registry has not answered yet.
    Pending,
}

impl From<Unresolved> for Stop {
    fn from(reason: Unresolved) -> Self {
        match reason {
            Unresolved::Refused(refusal) => refusal.into(),
            Unresolved::Pending => Self::Pending,
        }
    }
}

impl From<ApplyError> for Stop {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Refused(message) => Self::Denied(Refusal::resources(message)),
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

impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}

impl Work<'_> {
    async fn run(&self) -> api::Result<Next> {
        let (reached, stop) = self.steps().await;
        let (refusal, denied) = match stop {
            None => (None, false),
            Some(Stop::Refused(refusal)) => (Some(refusal), false),
            Some(Stop::Denied(refusal)) => (Some(refusal), true),
            // A request that fails once is tried again; what lasts is told by the controller.
            Some(Stop::Failed(error)) => return Err(error),
            Some(Stop::Pending) => return Ok(Next { again: Some(PENDING), ..Next::default() }),
            Some(Stop::Again) => return Ok(Next { again: Some(Duration::ZERO), ..Next::default() }),
        };
        self.tell(&reached, refusal.as_ref()).await;
        let registry = reached.resolved().and_then(|resolved| resolved.again);
        let conflicts = (!reached.conflicts().is_empty()).then_some(BLOCKED);
        let refused = refusal.is_some() || conflicts.is_some();
        self.status(&reached, refusal).await?;
        let adoption = reached.adoption().and_then(|adoption| adoption.again);
        let again = [registry, conflicts, adoption].into_iter().flatten().min();
        Ok(Next { refused, denied, again })
    }

    /// The steps in their order, as far as they get.
    async fn steps(&self) -> (Reached, Option<Stop>) {
        if let Some(fault) = &self.stored.fault {
            return (Reached::Nothing, Some(beyond(fault).into()));
        }
        let v1alpha1_only = V1Alpha1Only::of(self.object);
        let ((found, ca), resolved) = match self.look_up(&v1alpha1_only).await {
            Ok(both) => both,
            Err(stop) => return (Reached::Nothing, Some(stop)),
        };
        let verdict = match self.judge(&resolved, &v1alpha1_only).await {
            Ok(verdict) => verdict,
            Err(stop) => return (Reached::Resolved(resolved), Some(stop)),
        };
        let config = self.context.stores.config();
        let bundle = match found.ca_bundle(&self.key.namespace, &ca, &config.ca_bundle_namespaces) {
            Ok(bundle) => bundle,
            Err(refusal) => return (Reached::Judged(resolved, verdict), Some(refusal.into())),
        };
        let served = self.context.served;
        let secrets = secrets(self.object, &verdict.judged, &self.key.namespace, &found, served);
        if let Some(refusal) = self.missing(&secrets, &v1alpha1_only) {
            return (Reached::Secrets(resolved, verdict, secrets), Some(refusal.into()));
        }
        let adoption = match self.adopt().await {
            Ok(adoption) => adoption,
            Err(stop) => return (Reached::Secrets(resolved, verdict, secrets), Some(stop)),
        };
        if adoption.holds_pods() {
            return (Reached::Adopted(resolved, verdict, secrets, adoption), None);
        }
        let bundle = bundle.as_ref().map(|bundle| (bundle.pem.as_str(), !ca.is_empty()));
        match self.apply(&v1alpha1_only, &found, bundle, (&resolved, &verdict, &secrets), &adoption).await {
            Ok(applied) => (Reached::Applied(resolved, verdict, secrets, adoption, applied), None),
            Err(stop) => (Reached::Adopted(resolved, verdict, secrets, adoption), Some(stop)),
        }
    }

    /// What the resource refers to, and its image with the base config that goes with it.
    async fn look_up(&self, v1alpha1_only: &V1Alpha1Only) -> Result<((Dereferenced, Vec<CaSource>), Resolved), Stop> {
        let Self { context, key, object, .. } = *self;
        let served = context.served;
        let ca = if served.is_ogx() {
            CaSource::of_ogx(&key.namespace, object)?
        } else {
            // The typed form is needed for nothing but the certificates, where the resource may be refused later.
            let typed = serde_json::from_value(object["spec"].clone()).ok();
            CaSource::of(&key.namespace, typed.as_ref(), v1alpha1_only)?
        };
        let wanted = dereference::wanted(key, object, served, &ca)?;
        let found = dereference(&context.api, &context.stores.references, key, wanted).await?;
        let config = context.stores.config();
        let before = self.before.resolved_distribution.as_ref();
        let named = if served.is_ogx() { ogx::named_base(object, key, &found)? } else { None };
        let resolved = resolve(context.registries.as_ref(), object, key, &config, served, (named, before)).await?;
        Ok(((found, ca), resolved))
    }

    async fn judge(&self, resolved: &Resolved, v1alpha1_only: &V1Alpha1Only) -> Result<Verdict, Stop> {
        let flags = self.context.stores.config().flags(&self.owner.namespace);
        let judged = self
            .context
            .judge
            .judge(self.object, &resolved.image, resolved.base.as_ref(), flags, self.context.served)
            .await?;
        let port = service::port(&judged.spec, v1alpha1_only).map_err(|error| Refusal::resources(error.to_string()))?;
        Ok(Verdict { judged, port })
    }

    /// What the server could not start without.
    fn missing(&self, secrets: &Secrets, v1alpha1_only: &V1Alpha1Only) -> Option<Refusal> {
        // A ConfigMap that pods cannot mount is told by the builders, with the way out.
        let elsewhere = v1alpha1_only.config_namespace.as_deref().is_some_and(|other| other != self.owner.namespace);
        let config_map = secrets.config_maps.first().filter(|_| !elsewhere);
        config_map
            .map(|missing| Refusal::resources(missing.clone()))
            .or_else(|| secrets.problem.clone().filter(|_| secrets.blocks))
    }

    async fn apply(
        &self,
        v1alpha1_only: &V1Alpha1Only,
        found: &Dereferenced,
        bundle: Option<(&str, bool)>,
        (resolved, Verdict { judged, .. }, secrets): (&Resolved, &Verdict, &Secrets),
        adoption: &Adoption,
    ) -> Result<Applied, Stop> {
        let Self { context, key, owner, .. } = *self;
        let stores = &context.stores;
        let live = stores.deployments.get(key);
        let live_bundle = match bundle {
            Some((_, true)) => self.live_bundle().await?,
            _ => None,
        };
        let flags = stores.config().flags(&owner.namespace);
        let ogx =
            context.served.is_ogx().then(|| OgxOnly { claim: adoption.claim.clone(), ..OgxOnly::of(self.object) });
        let desired = Desired {
            owner,
            spec: &judged.spec,
            v1alpha1_only,
            ogx: ogx.as_ref(),
            written_as: self.stored.written_as,
            image: &resolved.image,
            config: config_of(judged, found, key),
            ca_bundle: bundle.map(|(pem, explicit)| CaBundle { pem, explicit, live: live_bundle.as_deref() }),
            secrets_digest: secrets.digest.as_deref(),
            derived: &secrets.derived,
            flags: &flags,
            operator_namespace: &context.namespace,
            operator_image: context.operator_image.as_deref(),
            openshift: context.openshift,
            live: live.as_deref().map(|state| &state.live),
        };
        let mut children = children(&desired).map_err(|error| Refusal::resources(error.to_string()))?;
        children.extend(adoption.children(owner));
        let applied = apply::apply(&context.api, stores, key, owner, &children).await?;
        let current =
            children.iter().find(|child| child.kind == Kind::GeneratedConfig).map(|child| child.name().to_owned());
        retain::retain(&context.api, stores, key, owner, current.as_deref()).await?;
        Ok(applied)
    }

    /// What the resource takes over from another one.
    async fn adopt(&self) -> Result<Adoption, Stop> {
        let Self { context, key, owner, object, .. } = *self;
        if !context.served.is_ogx() {
            return Ok(Adoption::default());
        }
        let adopter = Adopter { api: &context.api, stores: &context.stores, key, owner, object };
        adopter.adopt(&Time(Timestamp::now())).await.map_err(|error| match error {
            AdoptError::Request(error) => error.into(),
            AdoptError::Refused(message) => Refusal::resources(message).into(),
        })
    }

    /// The certificates in the ConfigMap that pods mount now.
    async fn live_bundle(&self) -> api::Result<Option<String>> {
        let name = ObjectName::parse(&Kind::CaBundle.name(&self.key.name))?;
        let Some(record) = self.context.stores.children.get(Kind::CaBundle, &self.key.namespace, &name) else {
            return Ok(None);
        };
        if record.owner.as_deref() != Some(self.owner.uid.as_str()) {
            return Ok(None);
        }
        let found = self.context.api.get(Kind::CaBundle.into(), Some(&self.key.namespace), &name).await?;
        Ok(found.and_then(|object| object["data"][BUNDLE_KEY].as_str().map(str::to_owned)))
    }

    /// Events and metrics of what happened.
    async fn tell(&self, reached: &Reached, refusal: Option<&Refusal>) {
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

    async fn status(&self, reached: &Reached, refusal: Option<Refusal>) -> api::Result<()> {
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
            external: self.external(reached).await?,
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
    async fn external(&self, reached: &Reached) -> api::Result<Vec<ExternalProviderStatus>> {
        let Some(verdict) = reached.verdict() else { return Ok(Vec::new()) };
        let wanted = external::wanted(&verdict.judged.spec);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let label = (INSTANCE, self.owner.name.as_str());
        let pods = self.context.api.list(PODS, Some(&self.key.namespace), label).await?;
        let pods: Vec<Pod> = pods.into_iter().filter_map(|pod| serde_json::from_value(pod).ok()).collect();
        Ok(external::status::statuses(&wanted, &pods))
    }
}

fn config_of<'a>(judged: &'a Judged, found: &'a Dereferenced, key: &Key) -> Config<'a> {
    match (&judged.source, &judged.generated, &judged.spec.override_config) {
        (ConfigSource::Override { .. }, _, Some(config)) => {
            let content = found.get(ReferenceKind::ConfigMap, &key.namespace, &config.config_map_name);
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

fn read_status(served: &Served, object: &Value) -> Status {
    match served.is_ogx() {
        true => ogx::read_status(&object["status"]),
        false => serde_json::from_value(object["status"].clone()).unwrap_or_default(),
    }
}

/// The resource, for events about it.
fn about(served: &Served, key: &Key, stored: &Stored) -> ObjectReference {
    ObjectReference {
        api_version: Some(served.version.api_version().to_owned()),
        kind: Some(served.kind().name().to_owned()),
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
