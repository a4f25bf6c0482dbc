//! Files that a command changes together, and those beside them that it only reads.

use super::input::{MAX_SIZE, Source, Unreadable};
use crate::ide::{self, Analysis, FileEdits, Kind, NameIndex, Query, TextEdit, TextId, Workspace, WorkspaceFiles};
use crate::{surroundings, workspace};
use llsd_yaml::edit;
use similar::TextDiff;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files, as they would be after all changes so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Project {
    files: BTreeMap<Arc<str>, File>,
    index: NameIndex,
    /// The folders that the user named, each with a slash at its end.
    folders: Vec<String>,
}

#[derive(Clone, Debug)]
struct File {
    source: Source,
    /// The text as it was read from disk, to compare with in the end.
    old: Arc<str>,
    /// As it is to be; `None`: it is to go away.
    text: Option<Arc<str>>,
    analysis: Arc<Analysis>,
    /// Whether the user named it.
    named: bool,
}

impl Project {
    /// Reads the files that the user named, and the manifests in their folders.
    pub(super) fn read(named: &[Source]) -> (Self, Vec<Unreadable>) {
        let mut texts: BTreeMap<Arc<str>, (Source, Arc<str>, bool)> = BTreeMap::new();
        let mut problems = Vec::new();
        for source in named {
            match source.read() {
                Ok(text) => _ = texts.insert(source.key(), (source.clone(), text, true)),
                Err(problem) => problems.push(problem),
            }
        }
        for path in beside(named) {
            let source = Source::File(path);
            let key = source.key();
            if let (false, Source::File(path)) = (texts.contains_key(&key), &source)
                && let Some(text) = workspace::text_of(path, MAX_SIZE)
            {
                texts.insert(key, (source, text.into(), false));
            }
        }
        let alone = Workspace::new();
        let file = |(key, (source, text, named)): (Arc<str>, (Source, Arc<str>, bool))| {
            let analysis = Arc::new(ide::analyse(text.clone(), None, &alone));
            (key, File { source, old: text.clone(), text: Some(text), analysis, named })
        };
        let files: BTreeMap<Arc<str>, File> = texts.into_iter().map(file).collect();
        let mut workspace = Workspace::new();
        files.iter().for_each(|(key, file)| _ = workspace.set(key, file.analysis.objects()));
        let relevant = files.iter().filter(|(_, file)| file.named && file.analysis.may_be_relevant());
        let relevant = relevant.map(|(key, _)| PathBuf::from(&**key)).collect();
        let mut files = files;
        for found in surroundings::learn(&relevant, &mut workspace) {
            let text: Arc<str> = found.analysis.text();
            let (old, text, analysis) = (text.clone(), Some(text), Arc::new(found.analysis));
            let source = Source::File(found.path);
            files.insert(source.key(), File { source, old, text, analysis, named: false });
        }
        let mut project = Self { files, index: NameIndex::default(), folders: Vec::new() };
        project.understand();
        (project, problems)
    }

    /// Lets files be changed that lie in folders which the user named, such as patches that nobody would take for a
    /// manifest by their names.
    pub(super) fn include(&mut self, arguments: &[PathBuf]) {
        let folders = arguments.iter().filter(|path| path.is_dir());
        self.folders =
            folders.map(|path| format!("{}/", Source::File(path.clone()).key().trim_end_matches('/'))).collect();
    }

    /// What all files say now.
    fn workspace(&self) -> Workspace {
        let mut workspace = Workspace::new();
        self.files.iter().for_each(|(key, file)| _ = workspace.set(key, file.analysis.objects()));
        workspace
    }

    /// Judges every file by what the others say now.
    fn understand(&mut self) {
        let workspace = self.workspace();
        for (key, file) in &mut self.files {
            let Some(text) = &file.text else { continue };
            let known = workspace.seen_by(key);
            file.analysis = Arc::new(ide::analyse(text.clone(), Some(&file.analysis), &known));
            self.index.learn(key, &file.analysis);
        }
    }

    /// The files that the user named.
    pub(super) fn named(&self) -> Vec<Arc<str>> {
        self.files.iter().filter(|(_, file)| file.named && file.text.is_some()).map(|(key, _)| key.clone()).collect()
    }

    /// All files, those among them that are only read.
    pub(super) fn files(&self) -> impl Iterator<Item = &Arc<str>> {
        self.files.iter().filter(|(_, file)| file.text.is_some()).map(|(key, _)| key)
    }

    /// A question about a file.
    pub(super) fn about(&self, file: &Arc<str>) -> Option<Query<'_>> {
        let analysis = Some(&*self.files.get(file)?.analysis);
        Some(Query { place: TextId::File(file.clone()), analysis, library: self, generated: false })
    }

    /// What is known of a file.
    pub(super) fn analysis_of(&self, file: &str) -> Option<&Analysis> {
        self.files.get(file).map(|file| &*file.analysis)
    }

    /// As the user named a file, or as it was found.
    pub(super) fn shown(&self, file: &str) -> String {
        self.files.get(file).map(|file| file.source.to_string()).unwrap_or_default()
    }

    /// Whether a text is in no file: it came from standard input or a cluster.
    pub(super) fn is_piped(&self, file: &str) -> bool {
        self.files.get(file).is_some_and(|file| !matches!(file.source, Source::File(_)))
    }

    /// Whether the user named all these files, or folders that they are in, so that they may be changed.
    pub(super) fn may_change<'f>(&self, files: impl Iterator<Item = &'f Arc<str>>) -> bool {
        self.foreign(files).is_empty()
    }

    /// Those of the files that must not be changed, because nobody named them.
    pub(super) fn foreign<'f>(&self, files: impl Iterator<Item = &'f Arc<str>>) -> Vec<String> {
        let is_own = |file: &&Arc<str>| {
            self.files.get(*file).is_some_and(|known| known.named)
                || self.folders.iter().any(|folder| file.starts_with(folder.as_str()))
        };
        files.filter(|file| !is_own(file)).map(|file| self.shown(file)).collect()
    }

    /// Makes a change of `file` and others.
    pub(super) fn apply(
        &mut self,
        file: &Arc<str>,
        own: &[TextEdit],
        others: &[FileEdits],
        deletes: Option<&Arc<str>>,
    ) {
        let own = (file, own);
        let all = others.iter().map(|other| (&other.file, other.edits.as_slice()));
        for (file, edits) in std::iter::once(own).chain(all) {
            if let Some(file) = self.files.get_mut(file)
                && let Some(text) = &file.text
            {
                file.text = Some(edit::apply(text, edits).into());
            }
        }
        if let Some(gone) = deletes.and_then(|gone| self.files.get_mut(gone)) {
            gone.text = None;
            gone.analysis = Arc::new(ide::analyse(Arc::from(""), None, &Workspace::new()));
        }
        for file in self.files.values_mut() {
            if let Some(text) = file.text.as_ref().filter(|text| **text != file.analysis.text()) {
                file.analysis = Arc::new(ide::analyse(text.clone(), Some(&file.analysis), &Workspace::new()));
            }
        }
        self.understand();
    }

    /// Whether kustomizations take a file as a patch only.
    pub(super) fn is_patch(&self, file: &str) -> bool {
        self.files.get(file).is_some_and(|known| known.analysis.is_patch(file))
    }

    /// The text of a file as it is to be.
    pub(super) fn text(&self, file: &str) -> Option<Arc<str>> {
        self.files.get(file)?.text.clone()
    }

    /// The files that are to be others than they are.
    pub(super) fn changed(&self) -> BTreeSet<Arc<str>> {
        let differs = |(_, file): &(&Arc<str>, &File)| file.text.as_ref() != Some(&file.old);
        self.files.iter().filter(differs).map(|(key, _)| key.clone()).collect()
    }

    /// What a file is to become, as a unified diff; empty if it stays.
    pub(super) fn diff(&self, file: &str) -> String {
        let Some(known) = self.files.get(file) else { return String::new() };
        let name = known.source.to_string();
        let new = known.text.as_deref().unwrap_or_default();
        let target = if known.text.is_some() { name.as_str() } else { "/dev/null" };
        TextDiff::from_lines(&*known.old, new).unified_diff().header(&name, target).to_string()
    }

    /// Writes what changed.
    ///
    /// # Errors
    /// A sentence about the first file that could not be written; those before it were.
    pub(super) fn write(&self) -> Result<(), String> {
        for key in self.changed() {
            let Some(File { source: Source::File(path), text, .. }) = self.files.get(&key) else { continue };
            let done = match text {
                Some(text) => fs::write(path, text.as_bytes()),
                None => fs::remove_file(path),
            };
            done.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        Ok(())
    }
}

/// The manifests in the folders of some files.
fn beside(named: &[Source]) -> BTreeSet<PathBuf> {
    let folders: BTreeSet<&Path> = named
        .iter()
        .filter_map(|source| match source {
            Source::File(path) => {
                Some(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
            }
            Source::Stdin | Source::Cluster(_) => None,
        })
        .collect();
    let entries = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| workspace::is_manifest(path)).collect()
}

impl WorkspaceFiles for Project {
    fn mentioning(&self, kind: Kind, name: &str) -> Vec<Arc<str>> {
        self.index.mentioning(kind, name)
    }

    fn analysis(&self, file: &str) -> Option<Arc<Analysis>> {
        self.files.get(file).map(|file| Arc::clone(&file.analysis))
    }
}
