//! The files that built resources are made of.

use crate::ide::{self, Analysis, Made, ObjectKey, Workspace};
use crate::surroundings;
use crate::workspace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is known of files, by their keys.
#[derive(Debug, Default)]
pub(super) struct Sources {
    workspace: Workspace,
    analyses: BTreeMap<Arc<str>, Analysis>,
    /// The kustomization that each folder that was built stands for: that of the wrapper is not among the files.
    last: Option<Arc<str>>,
}

impl Sources {
    /// Reads the kustomization of a folder, and everything that it takes. False: there is none.
    pub(super) fn learn(&mut self, folder: &Path) -> bool {
        // what another build has read may say something else by now, and what it takes from the network is told again
        self.workspace = Workspace::new();
        let found = workspace::behind(folder);
        self.last = found.first().map(|path| workspace::key(path));
        for one in surroundings::follow(found.into_iter().collect(), &mut self.workspace) {
            let key = workspace::key(&one.path);
            let known = self.workspace.seen_by(&key);
            let analysis = ide::analyse(one.analysis.text(), Some(&one.analysis), &known);
            self.analyses.insert(key, analysis);
        }
        self.last.is_some()
    }

    /// What would be fetched: the file that asks for it, and what it names.
    pub(super) fn remote(&self) -> Option<(String, String)> {
        self.workspace.remote().next().map(|(file, path)| (shown(file), path.to_owned()))
    }

    /// What a resource of the kustomization read last is made of.
    pub(super) fn made(&self, resource: &ObjectKey) -> Option<Made> {
        let all = self.workspace.made(self.last.as_deref()?);
        all.into_iter().find(|made| made.key == *resource && !made.writers.is_empty())
    }

    /// A resource that comes from one file alone, as far as is known: the one of this name, else the only one.
    pub(super) fn alone(&self, file: &Arc<str>, resource: &ObjectKey) -> Option<Made> {
        let analysis = self.analyses.get(file)?;
        Made::alone(Arc::clone(file), analysis, resource)
    }

    /// Reads a file, unless it is known.
    pub(super) fn read(&mut self, path: &Path) -> Option<Arc<str>> {
        let key = workspace::key(path);
        if !self.analyses.contains_key(&key) {
            let text = workspace::text_of(path, workspace::MAX_SIZE)?;
            let analysis = ide::analyse(text.into(), None, &Workspace::new());
            self.analyses.insert(Arc::clone(&key), analysis);
        }
        Some(key)
    }

    pub(super) fn analysis(&self, file: &str) -> Option<&Analysis> {
        self.analyses.get(file)
    }
}

/// A file as people name it: from the current folder, if it is below that.
#[must_use]
pub fn shown(file: &str) -> String {
    let here = std::env::current_dir().ok().and_then(|here| std::fs::canonicalize(here).ok());
    let path = PathBuf::from(file);
    let short = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    short.unwrap_or(path).display().to_string()
}
