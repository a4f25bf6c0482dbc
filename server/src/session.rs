//! Everything a server knows while it runs: open documents, the workspace around them, the work in progress.
//!
//! Handlers change documents through this before they wait for anything, so changes keep the order of arrival.
//! No lock is held across an analysis.

use crate::documents::{Documents, Snapshot};
use crate::ide::{Analysis, Assumed, Cluster, Delta, Pieces, Stop, Workspace};
use crate::schedule::{Cancel, Schedule};
use ropey::Rope;
use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The documents and files whose verdicts a change may turn.
#[derive(Debug, Default)]
pub struct Affected {
    /// Open documents that need a worker.
    pub documents: Vec<Arc<str>>,
    /// Names of objects and resources about which something is new; files that are not open may mention them.
    pub names: Arc<HashSet<String>>,
}

/// The state behind one connection.
#[derive(Debug, Default)]
pub struct Session {
    state: Mutex<State>,
    /// Told when the last worker of an open document has ended.
    idle: Condvar,
}

#[derive(Debug, Default)]
struct State {
    documents: Documents,
    workspace: Workspace,
    schedule: Schedule<Arc<str>>,
}

impl Session {
    /// Opens a document. True: the caller has to start a worker for it.
    pub fn open(&self, name: &str, uri: &str, version: i32, rope: Rope) -> bool {
        let mut state = self.lock();
        let snapshot = state.documents.open(name, uri, version, rope);
        state.schedule.request(&snapshot.name)
    }

    /// The next version of an open document. True: the caller has to start a worker for it.
    pub fn change(&self, old: &Snapshot, version: i32, rope: Rope, delta: Delta) -> bool {
        let mut state = self.lock();
        let snapshot = state.documents.change(old, version, rope, delta);
        state.schedule.request(&snapshot.name)
    }

    /// The current version of an open document.
    #[must_use]
    pub fn snapshot(&self, name: &str) -> Option<Arc<Snapshot>> {
        self.lock().documents.get(name)
    }

    /// Closes a document. Its objects stay known, as they are still in the file. True if it was open.
    pub fn close(&self, name: &str) -> bool {
        let mut state = self.lock();
        state.schedule.cancel(name);
        state.documents.close(name)
    }

    /// The analysis of `snapshot`, made now or known already, with what is assumed of distributions that do not tell it.
    /// Takes CPU time: not for the request loop. `None`: stopped.
    #[must_use]
    pub fn analysis(&self, snapshot: &Snapshot, assumed: impl Into<Assumed>, stop: Stop<'_>) -> Option<Arc<Analysis>> {
        let workspace = self.lock().workspace.seen_by(&snapshot.name).assuming(assumed);
        snapshot.analysis(&workspace, stop)
    }

    /// What is known of all files.
    #[must_use]
    pub fn workspace(&self) -> Workspace {
        self.lock().workspace.clone()
    }

    /// A worker starts on the newest version of `name`. None: it was closed, and the worker has to end.
    #[must_use]
    pub fn begin(&self, name: &Arc<str>) -> Option<(Arc<Snapshot>, Cancel)> {
        let mut state = self.lock();
        let cancel = state.schedule.begin(name);
        match state.documents.get(name) {
            Some(snapshot) => Some((snapshot, cancel)),
            None => {
                state.schedule.finish(name);
                self.tell_idle(&state);
                None
            }
        }
    }

    /// A worker is done with the version it began. True: it has to begin again.
    pub fn finish(&self, name: &Arc<str>) -> bool {
        let mut state = self.lock();
        let again = state.schedule.finish(name);
        self.tell_idle(&state);
        again
    }

    /// Waits until no open document waits for its analysis, but no longer than until `end`.
    pub fn wait_idle(&self, end: Instant) {
        // Without threads nobody would end what is waited for.
        if cfg!(target_family = "wasm") {
            return;
        }
        let busy = |state: &mut State| state.schedule.active() > 0;
        drop(self.idle.wait_timeout_while(self.lock(), end.saturating_duration_since(Instant::now()), busy));
    }

    fn tell_idle(&self, state: &State) {
        if state.schedule.active() == 0 {
            self.idle.notify_all();
        }
    }

    /// Does something quick, unless `snapshot` is no longer what the client sees. It stays so meanwhile.
    pub fn if_current(&self, snapshot: &Arc<Snapshot>, action: impl FnOnce()) {
        let state = self.lock();
        if state.documents.is_current(snapshot) {
            action();
        }
    }

    /// Takes note of the objects of an open document: other documents and files may refer to what changed.
    #[must_use]
    pub fn learn(&self, snapshot: &Arc<Snapshot>, analysis: &Analysis) -> Affected {
        let mut state = self.lock();
        if !state.documents.is_current(snapshot) {
            return Affected::default();
        }
        let names = state.workspace.set(&snapshot.name, analysis.objects());
        let documents = state.reschedule(&names, Some(&snapshot.name));
        Affected { documents, names }
    }

    /// Takes note of the objects of files on disk. Open documents are known better and are left out.
    #[must_use]
    pub fn learn_files(&self, files: Vec<(Arc<str>, Pieces)>) -> Affected {
        let mut state = self.lock();
        let mut names = HashSet::new();
        for (name, objects) in files {
            if state.documents.get(&name).is_none() {
                names.extend(state.workspace.set(&name, objects).iter().cloned());
            }
        }
        let documents = state.reschedule(&names, None);
        Affected { documents, names: Arc::new(names) }
    }

    /// Takes note of what is there in the cluster; `None`: that is not known. The names returned need a worker; nothing
    /// is returned if nothing is new.
    #[must_use]
    pub fn learn_cluster(&self, cluster: Option<Cluster>) -> Option<Vec<Arc<str>>> {
        let changed = self.lock().workspace.set_cluster(cluster);
        changed.then(|| self.again())
    }

    /// Wants every open document looked at again. The names returned need a worker.
    #[must_use]
    pub fn again(&self) -> Vec<Arc<str>> {
        let mut state = self.lock();
        let all: Vec<_> = state.documents.all().map(|snapshot| Arc::clone(&snapshot.name)).collect();
        all.into_iter().filter(|name| state.schedule.request(name)).collect()
    }

    /// Every open document at its newest version, in no order.
    #[must_use]
    pub fn snapshots(&self) -> Vec<Arc<Snapshot>> {
        self.lock().documents.all().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The documents that have to be judged again as something about `names` is new, and that have no worker yet.
    fn reschedule(&mut self, names: &HashSet<String>, except: Option<&Arc<str>>) -> Vec<Arc<str>> {
        if names.is_empty() {
            return Vec::new();
        }
        let others = self.documents.all().filter(|snapshot| Some(&snapshot.name) != except);
        let affected: Vec<_> =
            others.filter(|snapshot| snapshot.mentions_any(names)).map(|snapshot| Arc::clone(&snapshot.name)).collect();
        affected.into_iter().filter(|name| self.schedule.request(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn whoever_gives_way_goes_on_when_the_last_document_is_done() {
        let session = Session::default();
        session.wait_idle(Instant::now() + Duration::from_secs(3600));
        assert!(session.open("a", "a", 1, Rope::from_str("a: 1\n")));
        // In vain: the time is over.
        session.wait_idle(Instant::now());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| session.wait_idle(Instant::now() + Duration::from_secs(3600)));
            let name = Arc::from("a");
            assert!(session.begin(&name).is_some());
            assert!(!session.finish(&name));
            waiting.join().expect("it goes on");
        });
    }
}
