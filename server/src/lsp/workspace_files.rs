//! The workspace's files as `ide` asks for them: open documents as the editor has them, others from disk.

use super::backend::Shared;
use super::convert;
use super::virtual_document;
use crate::ide::{self, Analysis, Kind, NameIndex, WorkspaceFiles};
use crate::workspace;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp::lsp_types::Url;

/// Which files mention which names.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<NameIndex>);

impl Names {
    /// Takes in what an analysis found in a file.
    pub(super) fn learn(&self, file: &str, analysis: &Analysis) {
        if !virtual_document::is_virtual(file) {
            self.with(|index| index.learn(file, analysis));
        }
    }

    /// Asks or changes the index; nobody else does so meanwhile.
    pub(super) fn with<T>(&self, query: impl FnOnce(&mut NameIndex) -> T) -> T {
        query(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The files of one question. What was looked at once stays the same until the question is answered.
pub(super) struct QueryFiles<'a> {
    shared: &'a Shared,
    seen: RefCell<HashMap<String, Option<Arc<Analysis>>>>,
}

impl<'a> QueryFiles<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self { shared, seen: RefCell::default() }
    }

    fn read(&self, file: &str) -> Option<Arc<Analysis>> {
        if let Some(snapshot) = self.shared.session.snapshot(file) {
            return self.shared.analysis(&snapshot, &|| false);
        }
        if self.shared.configuration.excludes(file) {
            return None;
        }
        let path = convert::file_path(&Url::parse(file).ok()?)?;
        let settings = self.shared.configuration.of(file);
        let text = workspace::text_of(&path, settings.max_file_size)?;
        let workspace = self.shared.session.workspace().seen_by(file).assuming(settings.assumed());
        Some(Arc::new(ide::analyse(text.into(), None, &workspace)))
    }
}

impl WorkspaceFiles for QueryFiles<'_> {
    fn mentioning(&self, kind: Kind, name: &str) -> Vec<Arc<str>> {
        self.shared.names.with(|index| index.mentioning(kind, name))
    }

    fn analysis(&self, file: &str) -> Option<Arc<Analysis>> {
        if let Some(known) = self.seen.borrow().get(file) {
            return known.clone();
        }
        let found = self.read(file);
        self.seen.borrow_mut().insert(file.to_owned(), found.clone());
        found
    }
}
