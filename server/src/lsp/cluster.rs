//! Keeps what the cluster says at hand, where the user wants that. Off, nothing here runs.

use super::backend::Shared;
use super::{computing, files, publish};
use crate::cluster::{self, ClusterState, Kubectl};
use crate::ide::{LiveStatus, ObjectKey};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tower_lsp::lsp_types::MessageType;

/// How often the cluster is asked while a resource is open.
const INTERVAL: Duration = Duration::from_secs(10);
/// How long it is left alone at most after it did not answer.
const LONGEST: Duration = Duration::from_secs(300);

/// What is known of the cluster besides its Secrets and ConfigMaps, and whether somebody asks it.
#[derive(Debug, Default)]
pub(super) struct Access {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    running: bool,
    namespace: String,
    live: Arc<BTreeMap<ObjectKey, LiveStatus>>,
    reported: BTreeSet<String>,
}

impl Access {
    /// The namespace of resources that name none, and the statuses.
    pub(super) fn live(&self) -> (String, Arc<BTreeMap<ObjectKey, LiveStatus>>) {
        let state = self.lock();
        (state.namespace.clone(), Arc::clone(&state.live))
    }

    /// Something is there now that was not asked about: a document was opened.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to the cluster, if the user wants one and trusts the workspace: what is asked comes from its files. The
/// settings of a folder do not count: one session has one cluster.
pub(super) fn kubectl(shared: &Shared) -> Option<Kubectl> {
    let settings = shared.configuration.of("");
    settings.cluster.clone().filter(|_| !shared.client_capabilities().untrusted)
}

/// Starts asking, or wakes whoever asks, as the settings may have changed.
pub(super) fn start_polling(shared: &Arc<Shared>) {
    let mut state = shared.cluster.lock();
    if state.running {
        shared.cluster.wake();
    } else if kubectl(shared).is_some() {
        state.running = true;
        tokio::spawn(poll(Arc::clone(shared)));
    }
}

async fn poll(shared: Arc<Shared>) {
    let mut wait = INTERVAL;
    loop {
        let Some(kubectl) = ({
            let mut state = shared.cluster.lock();
            let kubectl = kubectl(&shared);
            state.running = kubectl.is_some();
            kubectl
        }) else {
            apply(&shared, ClusterState::default(), false);
            return;
        };
        let job = {
            let shared = Arc::clone(&shared);
            move || {
                let namespaces = namespaces(&shared);
                (!namespaces.is_empty()).then(|| cluster::query(&kubectl, &namespaces))
            }
        };
        wait = match computing::spawn(job).await {
            Ok(None) => INTERVAL,
            Ok(Some(Ok(found))) => {
                let problems = found.problems.clone();
                apply(&shared, found, true);
                report_problems(&shared, problems);
                INTERVAL
            }
            Ok(Some(Err(failure))) => {
                // What is not known any more is not wrong.
                apply(&shared, ClusterState::default(), false);
                report_problems(&shared, vec![failure.to_string()]);
                (wait * 2).min(LONGEST)
            }
            Err(error) => {
                tracing::error!(%error, "asking the cluster failed");
                LONGEST
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shared.cluster.wake.notified() => {}
        }
    }
}

/// The namespaces of the resources that are open.
fn namespaces(shared: &Shared) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for snapshot in shared.session.snapshots() {
        if let Some(analysis) = shared.analysis(&snapshot, &|| false) {
            found.extend(analysis.resources().into_iter().map(|resource| resource.namespace));
        }
    }
    // One that is being typed, or a placeholder, is no namespace.
    found.retain(|name| name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-'));
    found
}

fn apply(shared: &Arc<Shared>, found: ClusterState, known: bool) {
    let changed = {
        let mut state = shared.cluster.lock();
        let changed = *state.live != found.live || state.namespace != found.cluster.namespace;
        state.namespace.clone_from(&found.cluster.namespace);
        state.live = Arc::new(found.live);
        changed
    };
    if let Some(documents) = shared.session.learn_cluster(known.then_some(found.cluster)) {
        publish::start(shared, documents);
        files::scan(shared, shared.folders());
        shared.refresh_diagnostics();
    }
    if changed {
        shared.refresh_hints();
    }
}

/// Tells each problem once, and again only after it was gone.
fn report_problems(shared: &Shared, problems: Vec<String>) {
    let problems: BTreeSet<String> = problems.into_iter().collect();
    let new: Vec<String> = {
        let mut state = shared.cluster.lock();
        let new = problems.difference(&state.reported).cloned().collect();
        state.reported = problems;
        new
    };
    if new.is_empty() {
        return;
    }
    let message = format!("llsd does not see all of the cluster (llsd.cluster.enabled is on): {}", new.join("\n"));
    let client = shared.client.clone();
    tokio::spawn(async move { client.show_message(MessageType::WARNING, message).await });
}
