//! Which resource is worked on, by how many tasks at once, and what becomes of a resource whose work fails. The work
//! itself is [`crate::reconcile`].

use crate::api::{Api, ApiError};
use crate::events::Events;
use crate::lane::Lane;
use crate::metrics::{End, Metrics};
use crate::probe::Probes;
use crate::queue::{Key, Queue};
use crate::reconcile::{self, Next};
use crate::served::Served;
use crate::steps::judge::Judge;
use crate::steps::resolve::Registries;
use crate::stores::Stores;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How often a resource is looked at that nothing happens to, at most; each one somewhere in the second half of it.
const RESYNC: Duration = Duration::from_secs(3600);
/// How long one reconcile may take: more than all its requests take on a slow API server, and short enough that a resource
/// that hangs gives its place to another.
const DEADLINE: Duration = Duration::from_secs(120);
/// How soon what the API server refused is tried again, at the least: what refused it has to be mended by somebody.
const DENIED: Duration = Duration::from_secs(5);
/// How soon a large resource is looked at again that came while another one had the lane.
const MAKE_WAY: Duration = Duration::from_millis(200);
/// After so many failures in a row, some ten seconds, the resource itself tells of them.
const LASTING: u32 = 8;

/// What all reconciles share.
pub struct Context {
    /// The kind of the resources.
    pub served: &'static Served,
    /// Requests to the API server, within its bounds of bytes and time.
    pub api: Api,
    /// What is known of the cluster.
    pub stores: Arc<Stores>,
    /// What is to be looked at.
    pub queue: Queue,
    /// The counters and histograms that `/metrics` shows.
    pub metrics: Arc<Metrics>,
    /// Where Events about resources are written, each once.
    pub events: Events,
    /// What the servers that run say about themselves.
    pub probes: Probes,
    /// Where verdicts and configurations are worked out, apart from the threads of this runtime.
    pub judge: Judge,
    /// Where base configurations of images are read; `None` leaves the labels alone.
    pub registries: Option<Registries>,
    /// The namespace that the operator runs in: for its own configuration, and for network policies that let it in.
    pub namespace: String,
    /// The operator's own image, which merges external providers in pods; `None` if the environment does not tell it.
    pub operator_image: Option<String>,
    /// The version that the status of each resource names.
    pub operator_version: String,
    /// Whether the API server converts between the versions. Where it does not, resources that were written in
    /// v1alpha1 look empty, and writing to them would make that true.
    pub converts: bool,
    /// Whether the cluster is an OpenShift, which chooses the user of pods itself.
    pub openshift: bool,
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
    let lane = Lane::default();
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
        let large = match context.stores.resources.get(&key).filter(|stored| stored.is_large()) {
            None => None,
            Some(_) => match lane.try_turn() {
                Some(turn) => Some(turn),
                None => {
                    context.queue.defer(key, MAKE_WAY);
                    continue;
                }
            },
        };
        let turn = Turn {
            queue: context.queue.clone(),
            metrics: Arc::clone(&context.metrics),
            served: context.served,
            key: Some(key.clone()),
        };
        let context = Arc::clone(&context);
        tasks.spawn(async move {
            work(&context, key, turn).await;
            drop((slot, large));
        });
        while tasks.try_join_next().is_some() {}
    }
    while tasks.join_next().await.is_some() {}
}

/// A resource that is being worked on. Whatever becomes of the work, a panic included, its key goes back to the queue.
struct Turn {
    queue: Queue,
    metrics: Arc<Metrics>,
    served: &'static Served,
    key: Option<Key>,
}

impl Turn {
    /// The work has a result, which says when to look at the resource again.
    fn over(mut self) {
        self.key = None;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        if std::thread::panicking() {
            self.metrics.error(self.served, "Panic");
            let (namespace, name) = (&*key.namespace, &*key.name);
            tracing::error!(namespace, name, "the reconcile ended in a panic, which is a bug; it is repeated");
        }
        self.queue.failed(key);
    }
}

/// Why the work on a resource ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A request to the API server failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// It took longer than [`DEADLINE`].
    #[error("the reconcile did not end within {} seconds", .0.as_secs())]
    Deadline(Duration),
}

impl WorkError {
    /// Somebody else wrote first (409). This happens in a healthy cluster, so the log has it at debug level only.
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Api(error) if error.code() == Some(409))
    }
}

async fn work(context: &Context, key: Key, turn: Turn) {
    let started = Instant::now();
    let result = match tokio::time::timeout(DEADLINE, reconcile::reconcile(context, &key)).await {
        Ok(result) => result.map_err(WorkError::Api),
        Err(_) => Err(WorkError::Deadline(DEADLINE)),
    };
    let end = match &result {
        Ok(Next { refused: true, .. }) => End::Refused,
        Ok(_) => End::Done,
        Err(_) => End::Failed,
    };
    context.metrics.reconciled(context.served, end, started.elapsed());
    match result {
        Ok(Next { denied: true, .. }) => {
            turn.over();
            context.queue.failed_for(key, DENIED);
        }
        Ok(Next { again, .. }) => {
            turn.over();
            let quiet = RESYNC / 2 + crate::backoff::Backoff::new(RESYNC, RESYNC).jitter(RESYNC / 2);
            context.queue.done(key, Some(again.map_or(quiet, |again| again.min(quiet))));
        }
        Err(error) => failed(context, turn, key, &error).await,
    }
}

/// The work is repeated. Failures that last are told by the resource, too: who looks at it does not read our log.
async fn failed(context: &Context, turn: Turn, key: Key, error: &WorkError) {
    let reason = if matches!(error, WorkError::Deadline(_)) { "Deadline" } else { "ApiRequest" };
    context.metrics.error(context.served, reason);
    let times = context.queue.failures(&key) + 1;
    if times.is_multiple_of(LASTING)
        && let Err(untold) = tell_failure(context, &key, error).await
    {
        tracing::debug!(namespace = &*key.namespace, name = &*key.name, %untold, "the failure cannot be told");
    }
    turn.over();
    let wait = context.queue.failed(key.clone());
    let (namespace, name) = (&*key.namespace, &*key.name);
    if error.is_conflict() {
        tracing::debug!(namespace, name, %error, ?wait, "the reconcile met a newer state and is repeated");
    } else {
        tracing::warn!(namespace, name, %error, ?wait, "the reconcile failed and is repeated");
    }
}

async fn tell_failure(context: &Context, key: &Key, error: &WorkError) -> Result<(), WorkError> {
    let text = error.to_string();
    let telling = reconcile::tell_failure(context, key, &text);
    match tokio::time::timeout(DEADLINE, telling).await {
        Ok(told) => Ok(told?),
        Err(_) => Err(WorkError::Deadline(DEADLINE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::served::LLAMA_STACK;

    #[tokio::test(start_paused = true)]
    async fn a_panic_gives_its_resource_back() {
        let (queue, metrics) = (Queue::default(), Arc::new(Metrics::default()));
        let key = Key::new("ns", "a").expect("names");
        queue.add(key.clone());
        let taken = queue.next().await;
        let served = &LLAMA_STACK;
        let turn = Turn { queue: queue.clone(), metrics: Arc::clone(&metrics), served, key: Some(taken) };
        let work = tokio::spawn(async move {
            let _turn = turn;
            panic!("on purpose");
        });
        assert!(work.await.is_err());
        assert_eq!(queue.next().await, key);
        let told = "llsd_operator_reconcile_errors_total{kind=\"LlamaStackDistribution\",reason=\"Panic\"} 1";
        assert!(metrics.text().contains(told), "{}", metrics.text());
        // What has a result is not given back a second time.
        let turn = Turn { queue: queue.clone(), metrics, served, key: Some(key.clone()) };
        turn.over();
        queue.done(key, None);
        assert_eq!(queue.lengths(), (0, 0));
    }
}
