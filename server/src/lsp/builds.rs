//! What the real builder makes of the kustomizations around a file that was saved, where the user wants that. Off,
//! nothing here runs.
//!
//! What is found belongs to the texts that were built. A document that says something else by now does not show it, until
//! it is built again.

use super::backend::Shared;
use super::guard::message;
use super::{computing, convert, files, publish};
use crate::built::{Built, Origin};
use crate::ide::Diagnostic;
use crate::schedule::Cancel;
use ropey::Rope;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tower_lsp::lsp_types::{MessageType, Url};

/// Kustomizations that are built at most after one save.
const MAX_BUILDS: usize = 64;

/// What the builders came to last, and what they are still to build.
#[derive(Debug, Default)]
pub(super) struct Builds {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The files of kustomizations that are still to be built.
    waiting: BTreeSet<Arc<str>>,
    /// Stops what is being built.
    running: Cancel,
    /// What each kustomization came to, by its file.
    last: BTreeMap<Arc<str>, Build>,
}

/// What a kustomization came to.
#[derive(Debug, Default, PartialEq)]
struct Build {
    /// What is wrong, by the file that it comes from, each with the text that was built.
    found: BTreeMap<Arc<str>, (Rope, Vec<Diagnostic>)>,
    /// The sentence for the user where the builder made nothing; `None` where it did.
    problem: Option<String>,
}

impl Builds {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the user wants builders to run, and vouches for what they would read. The settings of a folder do not count,
/// nor those of a repository: whoever wrote them is not who runs the program.
fn is_wanted(shared: &Shared) -> bool {
    shared.configuration.of("").build_on_save && !shared.client_capabilities().untrusted
}

/// A file was saved: builds what takes it. What is being built is stopped, and built anew with it.
pub(super) fn saved(shared: &Arc<Shared>, name: &str) {
    if !is_wanted(shared) {
        return;
    }
    let tops = shared.session.workspace().tops(name);
    if tops.is_empty() {
        return;
    }
    if tops.len() > MAX_BUILDS {
        tracing::warn!(file = name, kustomizations = tops.len(), built = MAX_BUILDS, "not all are built");
    }
    let cancel = {
        let mut state = shared.builds.lock();
        state.running.cancel();
        state.running = Cancel::default();
        state.waiting.extend(tops.into_iter().take(MAX_BUILDS));
        state.running.clone()
    };
    tokio::spawn(run(Arc::clone(shared), cancel));
}

async fn run(shared: Arc<Shared>, cancel: Cancel) {
    let job = {
        let shared = Arc::clone(&shared);
        move || build(&shared, &cancel)
    };
    match computing::spawn(job).await {
        Ok(news) => show(&shared, news),
        Err(error) => {
            if let Ok(panic) = error.try_into_panic() {
                tracing::error!(panic = message(panic.as_ref()), "building panicked");
            }
        }
    }
}

/// What a round of builds changed.
#[derive(Debug, Default)]
struct News {
    /// Files of which something else is to be said.
    files: BTreeSet<Arc<str>>,
    /// Why kustomizations cannot be built, where that was not told last time.
    problems: Vec<String>,
}

/// Builds all that waits, unless it is stopped: then the next round does.
fn build(shared: &Shared, cancel: &Cancel) -> News {
    let waiting = shared.builds.lock().waiting.clone();
    let mut news = News::default();
    for top in waiting {
        let build = of(shared, &top, cancel);
        let mut state = shared.builds.lock();
        if cancel.is_cancelled() {
            break;
        }
        state.waiting.remove(&top);
        news.note(state.last.get(&top), &build);
        state.last.insert(top, build);
    }
    let known: HashSet<Arc<str>> = shared.session.workspace().kustomizations().cloned().collect();
    shared.builds.lock().last.retain(|top, gone| {
        let stays = known.contains(top);
        if !stays {
            news.files.extend(gone.found.keys().cloned());
        }
        stays
    });
    news
}

impl News {
    fn note(&mut self, before: Option<&Build>, now: &Build) {
        if before == Some(now) {
            return;
        }
        let before_files = before.into_iter().flat_map(|before| before.found.keys());
        self.files.extend(before_files.chain(now.found.keys()).cloned());
        if before.is_none_or(|before| before.problem != now.problem) {
            self.problems.extend(now.problem.clone());
        }
    }
}

/// What a kustomization comes to.
fn of(shared: &Shared, top: &str, cancel: &Cancel) -> Build {
    let path = Url::parse(top).ok().and_then(|uri| convert::file_path(&uri));
    let Some(folder) = path.as_deref().and_then(Path::parent) else { return Build::default() };
    let mut built = Built::default();
    let assumed = shared.configuration.of(top).assumed();
    if let Err(problem) = built.kustomization(folder, assumed, &|| cancel.is_cancelled()) {
        return Build { problem: Some(problem), ..Build::default() };
    }
    let folders: Vec<(PathBuf, PathBuf)> = shared
        .folders()
        .iter()
        .filter_map(convert::file_path)
        .filter_map(|folder| Some((fs::canonicalize(&folder).ok()?, folder)))
        .collect();
    let named = |origin: Origin| {
        let (path, is_faulty) = (PathBuf::from(&*origin.file), !origin.diagnostics.is_empty());
        // the builder knows no links; the client may have come through one
        let within = |(real, folder): &(PathBuf, PathBuf)| Some(folder.join(path.strip_prefix(real).ok()?));
        let path = folders.iter().find_map(within).unwrap_or(path);
        let name = Arc::from(convert::name(&Url::from_file_path(path).ok().filter(|_| is_faulty)?));
        Some((name, (Rope::from_str(&origin.text), origin.diagnostics)))
    };
    Build { found: built.finish().into_iter().filter_map(named).collect(), problem: None }
}

/// Shows what is new: of documents that are open, and of files in the folders of the workspace.
fn show(shared: &Arc<Shared>, news: News) {
    if !news.files.is_empty() {
        let folders: Vec<String> =
            shared.folders().iter().map(|folder| format!("{}/", convert::name(folder).trim_end_matches('/'))).collect();
        let is_open = |name: &Arc<str>| shared.session.snapshot(name).is_some();
        let is_ours = |name: &Arc<str>| folders.iter().any(|folder| name.starts_with(folder.as_str()));
        files::rescan(shared, news.files.into_iter().filter(|name| !is_open(name) && is_ours(name)));
        publish::start(shared, shared.session.again());
        shared.refresh_diagnostics();
    }
    if !news.problems.is_empty() {
        let problems = news.problems.join("\n");
        let message = format!("llsd does not see what is built (llsd.buildOnSave is on): {problems}");
        let client = shared.client.clone();
        tokio::spawn(async move { client.show_message(MessageType::WARNING, message).await });
    }
}

/// What builds found in a text, beyond what is `said` of it anyway.
pub(super) fn beyond(
    shared: &Shared,
    name: &str,
    rope: &Rope,
    said: impl FnOnce() -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = {
        let state = shared.builds.lock();
        let of_text = state.last.values().filter_map(|build| build.found.get(name)).filter(|(text, _)| text == rope);
        of_text.flat_map(|(_, found)| found).cloned().collect()
    };
    if found.is_empty() || !is_wanted(shared) {
        return Vec::new();
    }
    let said: HashSet<_> = said().into_iter().map(|one| (one.code, one.message)).collect();
    let mut seen = HashSet::new();
    found.retain(|one| {
        !said.contains(&(one.code, one.message.clone())) && seen.insert((one.code, one.span, one.message.clone()))
    });
    found
}
