//! Everything a server knows while it runs: open documents, the workspace around them, the work in progress.
//!
//! Handlers change documents through this before they wait for anything, so changes keep the order of arrival.
//! No lock is held across an analysis.

use crate::documents::{Documents, Snapshot};
use crate::ide::{Analysis, Objects};
use crate::schedule::{Cancel, Schedule};
use crate::workspace::Shared;
use ropey::Rope;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state behind one connection.
#[derive(Debug, Default)]
pub struct Session {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    documents: Documents,
    shared: Shared,
    schedule: Schedule<Arc<str>>,
}

impl Session {
    /// Opens or changes a document. True: the caller has to start a worker for it.
    pub fn set(&self, name: &str, version: i32, rope: Rope) -> bool {
        let mut state = self.lock();
        let snapshot = state.documents.set(name, version, rope);
        state.schedule.request(&snapshot.name)
    }

    /// The current version of an open document.
    #[must_use]
    pub fn snapshot(&self, name: &str) -> Option<Arc<Snapshot>> {
        self.lock().documents.get(name)
    }

    /// Closes a document. Its objects stay known, as they are still in the file. True if it was open.
    pub fn close(&self, name: &str) -> bool {
        self.lock().documents.close(name)
    }

    /// The analysis of `snapshot`, made now or known already. Takes CPU time: not for the request loop.
    #[must_use]
    pub fn analysis(&self, snapshot: &Snapshot) -> Arc<Analysis> {
        let (workspace, generation) = {
            let mut state = self.lock();
            (state.shared.seen_by(&snapshot.name), state.shared.generation())
        };
        snapshot.analysis(&workspace, generation)
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
                None
            }
        }
    }

    /// A worker is done with the version it began. True: it has to begin again.
    pub fn finish(&self, name: &Arc<str>) -> bool {
        self.lock().schedule.finish(name)
    }

    /// Whether `snapshot` is still what the client sees.
    #[must_use]
    pub fn is_current(&self, snapshot: &Arc<Snapshot>) -> bool {
        self.lock().documents.is_current(snapshot)
    }

    /// Takes note of the objects of an open document. The names returned need a worker: other documents may refer
    /// to what changed.
    #[must_use]
    pub fn learn(&self, snapshot: &Arc<Snapshot>, analysis: &Analysis) -> Vec<Arc<str>> {
        let mut state = self.lock();
        if state.documents.is_current(snapshot) && state.shared.set(&snapshot.name, analysis.objects()) {
            return state.reschedule(Some(&snapshot.name));
        }
        Vec::new()
    }

    /// Takes note of the objects of files on disk. Open documents are known better and are left out. The names
    /// returned need a worker.
    #[must_use]
    pub fn learn_files(&self, files: Vec<(String, Arc<Objects>)>) -> Vec<Arc<str>> {
        let mut state = self.lock();
        let mut changed = false;
        for (name, objects) in files {
            if state.documents.get(&name).is_none() {
                changed |= state.shared.set(&name, &objects);
            }
        }
        if changed { state.reschedule(None) } else { Vec::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn reschedule(&mut self, except: Option<&Arc<str>>) -> Vec<Arc<str>> {
        let names: Vec<_> = self.documents.names().filter(|name| Some(*name) != except).cloned().collect();
        names.into_iter().filter(|name| self.schedule.request(name)).collect()
    }
}
