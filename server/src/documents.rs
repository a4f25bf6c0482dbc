//! The open documents: one immutable snapshot per version, replaced as a whole.

use crate::ide::{self, Analysis, Delta, Span, Stop, Workspace};
use crate::workspace::Host;
use ropey::Rope;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One version of one open document.
#[derive(Debug)]
pub struct Snapshot {
    /// Name of the document: the same however a client spells it.
    pub name: Arc<str>,
    /// The name as the client spelled it when it opened the document.
    pub uri: Arc<str>,
    /// The version that the client gave, which it counts up with every change.
    pub version: i32,
    /// The text in chunks, so that a change costs no copy of all of it.
    pub rope: Rope,
    /// An older version's analysis, and what changed since.
    previous: Option<(Arc<Analysis>, Delta)>,
    done: Mutex<Option<Arc<Analysis>>>,
}

impl Snapshot {
    /// This version's analysis, made once per state of the workspace whoever asks first; others wait for it. Takes CPU
    /// time: not for the request loop. `None`: stopped.
    pub fn analysis(&self, workspace: &Workspace, stop: Stop<'_>) -> Option<Arc<Analysis>> {
        let mut done = self.lock();
        if let Some(known) = done.as_ref().filter(|known| known.is_current(workspace)) {
            return Some(Arc::clone(known));
        }
        if let Some(host) = Host::of(Path::new(&*self.name)) {
            // What is a manifest there depends on all that stands in front.
            let manifests = host.manifests(&self.rope.to_string());
            let analysis = Arc::new(ide::open(&manifests, workspace, stop)?);
            *done = Some(Arc::clone(&analysis));
            return Some(analysis);
        }
        let text = |span: Span| self.rope.byte_slice(span.start..span.end).to_string();
        let same = Delta::replaced(Span::new(0, 0), 0);
        let previous = done.as_ref().map(|known| (known, same));
        let previous = previous.or_else(|| self.previous.as_ref().map(|(known, delta)| (known, *delta)));
        let analysis = match previous {
            Some((previous, delta)) => ide::update(previous, delta, &text, workspace, stop)?,
            None => ide::open(&self.rope.to_string(), workspace, stop)?,
        };
        let analysis = Arc::new(analysis);
        *done = Some(Arc::clone(&analysis));
        Some(analysis)
    }

    /// The newest analysis there is of this version or of one before, and what changed since, without waiting for one
    /// in progress.
    fn latest(&self) -> Option<(Arc<Analysis>, Option<Delta>)> {
        let known = match self.done.try_lock() {
            Ok(done) => done.clone(),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner().clone(),
            Err(std::sync::TryLockError::WouldBlock) => None,
        };
        let previous = || self.previous.as_ref().map(|(known, delta)| (Arc::clone(known), Some(*delta)));
        known.map(|known| (known, None)).or_else(previous)
    }

    /// Where something stands now that was found in the newest analysis there is, without waiting for one in progress.
    pub fn locate(&self, find: impl FnOnce(&Analysis) -> Option<Span>) -> Option<Span> {
        let (known, since) = self.latest()?;
        let span = find(&known)?;
        match since {
            Some(delta) if span.start >= delta.old.end => {
                let moved = |offset: usize| offset + delta.new.end - delta.old.end;
                Some(Span::new(moved(span.start), moved(span.end)))
            }
            // what was edited itself stands about there
            _ => Some(span),
        }
    }

    /// Whether its verdict may depend on an object or resource of one of these names.
    pub fn mentions_any(&self, names: &std::collections::HashSet<String>) -> bool {
        // What is new in the text since will be looked at anyway.
        self.latest().is_none_or(|(known, _)| known.mentions_any(names))
    }

    /// A panic inside an analysis leaves the cell empty, not broken.
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Analysis>>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All open documents by name.
#[derive(Debug, Default)]
pub struct Documents {
    open: HashMap<Arc<str>, Arc<Snapshot>>,
}

impl Documents {
    /// Opens a document, or opens it again with another text.
    pub fn open(&mut self, name: &str, uri: &str, version: i32, rope: Rope) -> Arc<Snapshot> {
        let name = self.open.get_key_value(name).map_or_else(|| Arc::from(name), |(name, _)| Arc::clone(name));
        self.put(Snapshot { name, uri: Arc::from(uri), version, rope, previous: None, done: Mutex::new(None) })
    }

    /// The next version of a document: what is known of `old` helps with it. `delta` says what is new.
    pub fn change(&mut self, old: &Snapshot, version: i32, rope: Rope, delta: Delta) -> Arc<Snapshot> {
        let previous = old.latest().map(|(known, since)| (known, since.map_or(delta, |since| since.then(delta))));
        let (name, uri) = (Arc::clone(&old.name), Arc::clone(&old.uri));
        self.put(Snapshot { name, uri, version, rope, previous, done: Mutex::new(None) })
    }

    fn put(&mut self, snapshot: Snapshot) -> Arc<Snapshot> {
        let snapshot = Arc::new(snapshot);
        self.open.insert(Arc::clone(&snapshot.name), Arc::clone(&snapshot));
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

    /// Every open document at its newest version, in no order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Snapshot>> {
        self.open.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(rope: &mut Rope, at: usize, text: &str) -> Delta {
        rope.insert(at, text);
        Delta::replaced(Span::new(at, at), text.len())
    }

    #[test]
    fn an_old_version_is_not_current() {
        let mut documents = Documents::default();
        let first = documents.open("file:///a.yaml", "file:///a.yaml", 1, Rope::from_str("a: 1\n"));
        assert!(documents.is_current(&first));
        let mut rope = first.rope.clone();
        let delta = insert(&mut rope, 3, "2");
        let second = documents.change(&first, 2, rope, delta);
        assert!(!documents.is_current(&first));
        assert!(documents.is_current(&second));
        assert!(documents.close("file:///a.yaml"));
        assert!(!documents.is_current(&second));
        assert!(!documents.close("file:///a.yaml"));
    }

    #[test]
    fn a_reopened_document_with_the_same_version_is_another() {
        let mut documents = Documents::default();
        let first = documents.open("a", "a", 1, Rope::from_str("a: 1\n"));
        documents.close("a");
        documents.open("a", "a", 1, Rope::from_str("a: 1\n"));
        assert!(!documents.is_current(&first));
    }

    #[test]
    fn an_analysis_is_made_once_per_state_of_the_workspace() {
        let mut documents = Documents::default();
        let snapshot = documents.open("a", "a", 1, Rope::from_str("a: 1\n"));
        let mut workspace = Workspace::new();
        let first = snapshot.analysis(&workspace, &|| false).expect("not stopped");
        assert!(Arc::ptr_eq(&first, &snapshot.analysis(&workspace, &|| false).expect("not stopped")));
        let mut objects = ide::Objects::default();
        objects.secrets.insert((String::new(), "s".to_owned()), [].into());
        workspace.set("b", [Arc::new(objects)].into());
        assert!(!Arc::ptr_eq(&first, &snapshot.analysis(&workspace, &|| false).expect("not stopped")));
    }

    #[test]
    fn edits_that_nobody_looked_at_in_between_count_together() {
        let mut documents = Documents::default();
        let workspace = Workspace::new();
        let mut snapshot = documents.open("a", "a", 1, Rope::from_str("a: 1\n---\nb: 2\n---\nc: 3\n"));
        snapshot.analysis(&workspace, &|| false);
        for (at, text) in [(0, "x: 1\n"), (17, "---\n"), (3, "1")] {
            let mut rope = snapshot.rope.clone();
            let delta = insert(&mut rope, at, text);
            snapshot = documents.change(&snapshot, 2, rope, delta);
        }
        let analysis = snapshot.analysis(&workspace, &|| false).expect("not stopped");
        assert_eq!(*analysis.text(), snapshot.rope.to_string());
    }

    #[test]
    fn a_stopped_analysis_is_made_by_the_next_who_asks() {
        let mut documents = Documents::default();
        let snapshot = documents.open("a", "a", 1, Rope::from_str("a: 1\n"));
        assert!(snapshot.analysis(&Workspace::new(), &|| true).is_none());
        assert!(snapshot.analysis(&Workspace::new(), &|| false).is_some());
    }
}
