//! The process: its tasks, and in which order they begin and end.

use crate::api::{Api, CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS};
use crate::controller::{self, Context};
use crate::events::Events;
use crate::health;
use crate::leadership::Leadership;
use crate::lease;
use crate::metrics::{Metrics, endpoint};
use crate::oci::{Keychain, Limits, Registry};
use crate::operator_config;
use crate::probe::Probes;
use crate::queue::Queue;
use crate::resources::WATCH;
use crate::served::{LLAMA_STACK, OGX, Served};
use crate::settings::Settings;
use crate::steps::judge::Judge;
use crate::steps::resolve::Registries;
use crate::stores::{self, Stores};
use crate::webhooks::{self, Certificates, Endpoint, Readiness};
use anyhow::{Context as _, Result, anyhow};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use llsd_generator::api::CRD_NAME;
use llsd_generator::names::{Namespace, ObjectName};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The API group that OpenShift, and nothing else, serves.
const SECURITY_GROUP: &str = "security.openshift.io";
/// How long webhooks are served after the end was asked for: until every API server knows of it.
const DRAIN: Duration = Duration::from_secs(4);
/// Resources that are judged at once: it is work for a processor, and what it takes of memory adds up.
const JUDGES: usize = 2;
/// How long work that is under way may take at the end.
const LAST_WORK: Duration = Duration::from_secs(8);

/// Runs the operator until it is told to end, or has lost the lease.
///
/// # Errors
/// It cannot start, or a part of it that it cannot do without has ended.
pub async fn run(settings: Settings) -> Result<()> {
    // Two TLS stacks could be linked in by dependencies; this one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = connect(&settings).await?;
    let client = Client::try_from(config.clone())?;
    let namespace = settings.namespace();
    let metrics = Arc::new(Metrics::default());
    let end = CancellationToken::new();
    let signals = tokio::spawn(signals(end.clone()));
    let mut servers = JoinSet::new();
    let readiness = Readiness::default();
    // Before anything is read: reading the resource may need the conversion.
    if settings.enable_webhooks {
        let surroundings = webhooks::Surroundings::new(client.clone(), Arc::clone(&metrics), &namespace);
        let options = webhook_options(&settings, &client, &namespace, surroundings)?;
        let (readiness, end) = (readiness.clone(), end.clone());
        servers.spawn(async move { webhooks::serve(options, readiness, end).await.map_err(anyhow::Error::from) });
    }
    if let Some(bind) = settings.health_probe_bind_address.0 {
        let (webhooks, readiness) = (settings.enable_webhooks, readiness.clone());
        let ready = move || {
            if !webhooks || readiness.is_ready() {
                Ok(())
            } else {
                Err("the webhooks have no certificate that the API server knows yet".to_owned())
            }
        };
        let end = end.clone();
        servers.spawn(async move { health::serve(bind, Arc::new(ready), end).await.map_err(anyhow::Error::from) });
    }
    if let Some(bind) = settings.metrics_bind_address.0 {
        let (metrics, end) = (Arc::clone(&metrics), end.clone());
        let text = Arc::new(move || metrics.text());
        let reviewer = settings.metrics_secure.then(|| client.clone());
        servers.spawn(endpoint::serve(bind, text, reviewer, end));
    }
    let mut work = tokio::spawn(lead(settings, config, client, namespace, metrics, readiness, end.clone()));
    let mut failed = None;
    let result = loop {
        tokio::select! {
            ended = &mut work => break ended.map_err(anyhow::Error::from).and_then(|result| result),
            Some(server) = servers.join_next() => {
                // At the end the servers may be done before the work is.
                if !end.is_cancelled() {
                    let server = server.map_err(anyhow::Error::from).and_then(|result| result);
                    failed = Some(server.and(Err(anyhow!("a server ended before its time"))));
                    end.cancel();
                }
            }
            () = late(&end) => {
                work.abort();
                break Err(anyhow!("work that was under way did not end in time"));
            }
        }
    };
    let result = failed.unwrap_or(result);
    end.cancel();
    signals.abort();
    while servers.join_next().await.is_some() {}
    result
}

/// Some time after the end was asked for.
async fn late(end: &CancellationToken) {
    end.cancelled().await;
    tokio::time::sleep(LAST_WORK).await;
}

async fn connect(settings: &Settings) -> Result<Config> {
    Ok(match &settings.kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path).with_context(|| format!("{} cannot be read", path.display()))?;
            Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?
        }
        None => Config::incluster()
            .context("there is no service account here; outside of a cluster, name a --kubeconfig")?,
    })
}

fn webhook_options(
    settings: &Settings,
    client: &Client,
    namespace: &str,
    surroundings: webhooks::Surroundings,
) -> Result<webhooks::Options> {
    let bind = settings
        .webhook_bind_address
        .0
        .context("--webhook-bind-address: the webhooks need an address; --enable-webhooks=false serves none")?;
    let certificates = match (&settings.webhook_cert_dir, &settings.webhook_url) {
        (Some(folder), _) => Certificates::Mounted { folder: folder.clone() },
        (None, url) => Certificates::Own {
            client: client.clone(),
            namespace: namespace.to_owned(),
            endpoint: match url {
                Some(url) => Endpoint::Url(url.clone()),
                None => Endpoint::Service { name: settings.webhook_service_name.clone() },
            },
            configuration: settings.webhook_configuration.clone(),
            lifetime: settings.certificate_lifetime(),
        },
    };
    Ok(webhooks::Options { bind, certificates, surroundings: Some(surroundings), drain: DRAIN })
}

/// Waits for the lease, then works while it is held.
async fn lead(
    settings: Settings,
    config: Config,
    client: Client,
    namespace: String,
    metrics: Arc<Metrics>,
    webhooks: Readiness,
    end: CancellationToken,
) -> Result<()> {
    let identity = identity();
    if !settings.leader_elect {
        metrics.leads(true);
        let permit = lease::Permit::default();
        return reconcile(&settings, client, &namespace, &identity, metrics, permit, &webhooks, end).await;
    }
    let mut leadership = Leadership::seek(config, namespace.clone(), identity.clone(), end.clone())?;
    let Some(permit) = leadership.permit().await? else { return Ok(()) };
    metrics.leads(true);
    let stop = end.child_token();
    let mut work = tokio::spawn({
        let (metrics, stop, namespace) = (Arc::clone(&metrics), stop.clone(), namespace.clone());
        async move { reconcile(&settings, client, &namespace, &identity, metrics, permit, &webhooks, stop).await }
    });
    let ended = tokio::select! {
        () = leadership.lost() => None,
        ended = &mut work => Some(ended),
    };
    metrics.leads(false);
    let Some(ended) = ended else {
        // Another replica may begin any moment: nothing more is written.
        work.abort();
        return Err(anyhow!("the lease is lost; another replica may work now"));
    };
    leadership.release().await;
    ended?
}

/// A name that no other replica has.
fn identity() -> String {
    let host = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let random =
        crate::backoff::Backoff::new(Duration::from_secs(1), Duration::from_secs(1)).jitter(Duration::from_secs(1));
    format!("{}_{:09}-{}", host.as_deref().map_or("llsd-operator", str::trim), random.as_nanos(), std::process::id())
}

/// Looks after the resources of all kinds that the settings name, each kind with stores and a queue of its own.
///
/// # Errors
/// What [`conversion`] says.
#[allow(clippy::too_many_arguments, reason = "called once for either kind of leadership")]
async fn reconcile(
    settings: &Settings,
    client: Client,
    namespace: &str,
    identity: &str,
    metrics: Arc<Metrics>,
    permit: lease::Permit,
    webhooks: &Readiness,
    end: CancellationToken,
) -> Result<()> {
    let api = Api::new(client.clone(), Arc::clone(&metrics), permit.clone(), &LLAMA_STACK);
    match Namespace::parse(namespace) {
        Ok(namespace) => prepare(&api, &namespace).await,
        Err(error) => tracing::warn!(%error, "the operator's own ConfigMap is not looked for"),
    }
    let webhooks = settings.enable_webhooks.then_some(webhooks);
    let Some(converts) = conversion(&api, webhooks, &end).await? else { return Ok(()) };
    let Some(openshift) = openshift(&client, &end).await else { return Ok(()) };
    let judge = Judge::new(JUDGES);
    let kinds = [Some(&LLAMA_STACK), settings.ogx_servers.then_some(&OGX)];
    let work = kinds.into_iter().flatten().map(|served| {
        let surroundings = Surroundings { namespace, identity, converts, openshift, judge: judge.clone() };
        let api = Api::new(client.clone(), Arc::clone(&metrics), permit.clone(), served);
        serve(settings, client.clone(), served, api, surroundings, Arc::clone(&metrics), end.clone())
    });
    futures_util::future::join_all(work).await;
    Ok(())
}

/// What the kinds have in common.
struct Surroundings<'a> {
    namespace: &'a str,
    identity: &'a str,
    converts: bool,
    openshift: bool,
    judge: Judge,
}

/// Looks after the resources of one kind until `end`.
async fn serve(
    settings: &Settings,
    client: Client,
    served: &'static Served,
    api: Api,
    Surroundings { namespace, identity, converts, openshift, judge }: Surroundings<'_>,
    metrics: Arc<Metrics>,
    end: CancellationToken,
) {
    let stores = Arc::new(Stores::default());
    let queue = Queue::default();
    metrics.follow(served, queue.clone());
    let registries = settings.registry_lookups.then(|| {
        let registry = Registry::new(Limits::default(), settings.insecure_registries.clone(), None);
        let registry = registry.labelled(served.labels).only(settings.registries.clone());
        Registries::new(registry, Keychain::new(api.clone()))
    });
    let context = Arc::new(Context {
        served,
        api,
        stores: Arc::clone(&stores),
        queue: queue.clone(),
        metrics: Arc::clone(&metrics),
        judge,
        events: Events::new(client.clone(), identity, served),
        probes: Probes::new(queue.clone(), settings.server_probes),
        registries,
        namespace: namespace.to_owned(),
        operator_image: settings.operator_image.clone(),
        operator_version: settings.operator_version.clone(),
        converts,
        openshift,
        server_url: settings.server_url_template.clone(),
    });
    let scopes = settings.scopes();
    let watch = stores::run(client, namespace, &scopes, stores, queue, metrics, served);
    tokio::select! {
        // In this order: the watches say what has to be listed before the controller asks whether all of it was. The
        // other way round it would begin with empty stores and without the operator's settings.
        biased;
        () = watch => {}
        () = controller::run(context, usize::from(settings.max_concurrent_reconciles), end) => {}
    }
}

/// Whether the API server converts between the versions of the resource. Where this process is to serve the conversion,
/// nothing is read before the API server knows of it: what it reads unconverted has lost its content. `None` if `end`
/// comes first.
///
/// # Errors
/// The definition may not be read, and the webhooks are to be served: whether they are asked is then not known.
async fn conversion(api: &Api, webhooks: Option<&Readiness>, end: &CancellationToken) -> Result<Option<bool>> {
    let name = ObjectName::parse(CRD_NAME)?;
    let mut told = false;
    loop {
        let is_ready = webhooks.is_none_or(Readiness::is_ready);
        if is_ready {
            match api.get(CUSTOM_RESOURCE_DEFINITIONS, None, &name).await {
                Ok(Some(crd)) if crd["spec"]["conversion"]["strategy"] == "Webhook" => return Ok(Some(true)),
                Ok(Some(_)) if webhooks.is_none() => return Ok(Some(false)),
                Ok(found) => {
                    if !told {
                        let what = if found.is_some() { "has no conversion webhook" } else { "does not exist" };
                        tracing::warn!("the CustomResourceDefinition {what}; waiting for it");
                    }
                    told = true;
                }
                Err(error) if error.code() == Some(403) && webhooks.is_none() => {
                    tracing::info!(
                        "the account of the operator has no right to read the CustomResourceDefinition {CRD_NAME}, so \
                         no conversion is assumed: resources that were written in v1alpha1 are left alone"
                    );
                    return Ok(Some(false));
                }
                Err(error) if error.code() == Some(403) => {
                    return Err(anyhow!(
                        "{error}. With webhooks the operator has to know whether the API server asks them: grant \
                         \"get\" on that CustomResourceDefinition, as operator/deploy/rbac/role.yaml does, or run with \
                         --enable-webhooks=false"
                    ));
                }
                Err(error) => tracing::warn!(%error, "the CustomResourceDefinition cannot be read"),
            }
        }
        let wait = if is_ready { Duration::from_secs(2) } else { Duration::from_millis(50) };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = end.cancelled() => return Ok(None),
        }
    }
}

/// Whether the cluster is an OpenShift, which chooses the user of pods itself: by the API groups that are served, which
/// every account may ask for. `None` if `end` comes first.
async fn openshift(client: &Client, end: &CancellationToken) -> Option<bool> {
    loop {
        match client.list_api_groups().await {
            Ok(served) => return Some(served.groups.iter().any(|group| group.name == SECURITY_GROUP)),
            Err(kube::Error::Api(answer)) if answer.code == 403 => {
                tracing::info!("the account of the operator may not ask which APIs are served: taken for no OpenShift");
                return Some(false);
            }
            Err(error) => tracing::warn!(%error, "the served APIs cannot be listed"),
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(2)) => {}
            () = end.cancelled() => return None,
        }
    }
}

/// What is done once at the start, as well as it can be: the operator's ConfigMap. Where it is in place, nothing is written.
async fn prepare(api: &Api, namespace: &Namespace) {
    let Ok(name) = ObjectName::parse(LLAMA_STACK.settings) else { return };
    let written = match api.metadata(CONFIG_MAPS, namespace, &name).await {
        Ok(Some(found)) if found["metadata"]["labels"][WATCH.0] == WATCH.1 => return,
        // The label is that by which the Go operator finds it.
        Ok(Some(_)) => {
            let patch = json!({"metadata": {"labels": {WATCH.0: WATCH.1}}});
            api.merge(CONFIG_MAPS, namespace, &name, &patch).await
        }
        Ok(None) => api.create(CONFIG_MAPS, namespace, &operator_config::initial(namespace)).await,
        Err(error) => Err(error),
    };
    match written {
        Ok(_) => tracing::info!(%namespace, "wrote ConfigMap {name}"),
        // Another replica was first.
        Err(error) if error.code() == Some(409) => {}
        Err(error) => tracing::warn!(%error, "ConfigMap {name} is not as it should be"),
    }
}

async fn signals(end: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        return;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("asked to end; finishing what is under way");
    end.cancel();
}
