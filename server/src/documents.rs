//! The open documents: one immutable snapshot per version, replaced as a whole.

use crate::ide::{self, Analysis, Workspace};
use ropey::Rope;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One version of one open document.
#[derive(Debug)]
pub struct Snapshot {
    /// Name of the document, as the client spells it.
    pub name: Arc<str>,
    /// The client's version number.
    pub version: i32,
    /// The text.
    pub rope: Rope,
    previous: Option<Arc<Analysis>>,
    done: Mutex<Option<Done>>,
}

#[derive(Debug)]
struct Done {
    generation: u64,
    analysis: Arc<Analysis>,
}

impl Snapshot {
    /// This version's analysis, made once per `generation` of the workspace whoever asks first; others wait for it.
    /// Takes CPU time: not for the request loop.
    pub fn analysis(&self, workspace: &Workspace, generation: u64) -> Arc<Analysis> {
        let mut done = self.lock();
        if let Some(known) = done.as_ref().filter(|known| known.generation >= generation) {
            return Arc::clone(&known.analysis);
        }
        let previous = done.as_ref().map(|known| &known.analysis).or(self.previous.as_ref());
        let analysis = Arc::new(ide::analyse(self.text(), previous.map(AsRef::as_ref), workspace));
        *done = Some(Done { generation, analysis: Arc::clone(&analysis) });
        analysis
    }

    /// The newest analysis there is of this version or of one before, without waiting for one in progress.
    fn latest(&self) -> Option<Arc<Analysis>> {
        let done = match self.done.try_lock() {
            Ok(done) => done,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return self.previous.clone(),
        };
        done.as_ref().map(|known| Arc::clone(&known.analysis)).or_else(|| self.previous.clone())
    }

    fn text(&self) -> Arc<str> {
        let mut text = String::with_capacity(self.rope.len_bytes());
        self.rope.chunks().for_each(|chunk| text.push_str(chunk));
        text.into()
    }

    /// A panic inside an analysis leaves the cell empty, not broken.
    fn lock(&self) -> MutexGuard<'_, Option<Done>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All open documents by name.
#[derive(Debug, Default)]
pub struct Documents {
    open: HashMap<Arc<str>, Arc<Snapshot>>,
}

impl Documents {
    /// Opens a document, or gives an open one another text. What is known of the old version helps with the new one.
    pub fn set(&mut self, name: &str, version: i32, rope: Rope) -> Arc<Snapshot> {
        let (name, previous) = match self.open.get_key_value(name) {
            Some((name, old)) => (Arc::clone(name), old.latest()),
            None => (Arc::from(name), None),
        };
        let snapshot = Arc::new(Snapshot { name: Arc::clone(&name), version, rope, previous, done: Mutex::new(None) });
        self.open.insert(name, Arc::clone(&snapshot));
        snapshot
    }

    /// The current version of an open document.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Snapshot>> {
        self.open.get(name).cloned()
    }

    /// Forgets a document. True if it was open.
    pub fn close(&mut self, name: &str) -> bool {
        self.open.remove(name).is_some()
    }

    /// Whether `snapshot` is what the client sees now.
    #[must_use]
    pub fn is_current(&self, snapshot: &Arc<Snapshot>) -> bool {
        self.open.get(&snapshot.name).is_some_and(|current| Arc::ptr_eq(current, snapshot))
    }

    /// The names of all open documents.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.open.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_version_is_not_current() {
        let mut documents = Documents::default();
        let first = documents.set("file:///a.yaml", 1, Rope::from_str("a: 1\n"));
        assert!(documents.is_current(&first));
        let second = documents.set("file:///a.yaml", 2, Rope::from_str("a: 2\n"));
        assert!(!documents.is_current(&first));
        assert!(documents.is_current(&second));
        assert!(documents.close("file:///a.yaml"));
        assert!(!documents.is_current(&second));
        assert!(!documents.close("file:///a.yaml"));
    }

    #[test]
    fn a_reopened_document_with_the_same_version_is_another() {
        let mut documents = Documents::default();
        let first = documents.set("a", 1, Rope::from_str("a: 1\n"));
        documents.close("a");
        documents.set("a", 1, Rope::from_str("a: 1\n"));
        assert!(!documents.is_current(&first));
    }

    #[test]
    fn an_analysis_is_made_once_per_generation() {
        let mut documents = Documents::default();
        let snapshot = documents.set("a", 1, Rope::from_str("a: 1\n"));
        let workspace = Workspace::new();
        let first = snapshot.analysis(&workspace, 0);
        assert!(Arc::ptr_eq(&first, &snapshot.analysis(&workspace, 0)));
        assert!(!Arc::ptr_eq(&first, &snapshot.analysis(&workspace, 1)));
    }
}
