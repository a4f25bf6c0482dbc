//! The reconcile of one resource: the steps in their order, and what is told of them.

mod reached;
mod told;

use crate::api;
use crate::controller::Context;
use crate::external;
use crate::queue::Key;
use crate::resources::ca_bundle::BUNDLE_KEY;
use crate::resources::{CaBundle, Config, Desired, Kind, OgxOnly, Owner, V1Alpha1Only, children, service};
use crate::steps::adopt::{AdoptError, Adopter, Adoption};
use crate::steps::apply::Applied;
use crate::steps::dereference::{self, CaSource, Dereferenced, dereference};
use crate::steps::judge::{Judged, Secrets, beyond, secrets};
use crate::steps::resolve::{Resolved, resolve};
use crate::steps::status;
use crate::steps::{Refusal, apply, ogx, retain};
use crate::stores::Stored;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use llsd_generator::api::status::Status;
use llsd_generator::generate::ConfigSource;
use llsd_generator::names::ObjectName;
use llsd_generator::references::ReferenceKind;
use reached::{Reached, Stop, Verdict};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use told::{about, read_status, write_status};

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
        let external = self.external(&reached).await?;
        let providers = external::status::again(&external);
        self.status(&reached, refusal, external).await?;
        let adoption = reached.adoption().and_then(|adoption| adoption.again);
        let again = [registry, conflicts, adoption, providers].into_iter().flatten().min();
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
        let secrets = secrets(self.object, &verdict.judged, &resolved.image, &self.key.namespace, &found, served);
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
