//! Files that are not open: what they contribute to others, and what is wrong with them.
//!
//! One worker looks at whatever waits; files that come up meanwhile wait for its next round. It reads one file after
//! the other, so that one processor stays free for the documents being typed in.

use super::backend::Shared;
use super::guard::message;
use super::outgoing::{self, Outgoing};
use super::progress::Progress;
use super::{builds, computing, convert, publish};
use crate::ide::{self, ObjectKey};
use crate::schedule::Cancel;
use crate::session::Affected;
use crate::workspace::{self, Ignored, LeftOut, Limits};
use ropey::Rope;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tower_lsp::lsp_types::{Diagnostic, Range, Url};

/// How long files on disk give way to documents that are open, from the beginning of a round. These come first, above
/// all the one that a session begins with; but somebody who types without a pause must not keep the workspace from being
/// looked through.
const GIVES_WAY: Duration = Duration::from_secs(2);
/// Folders above a file in which its kustomization is looked for.
const ABOVE: usize = 6;
/// How often kustomizations may lead to others in one round.
const MAX_ROUNDS: usize = 16;
/// Files up to which kustomizations are followed; what is beyond is read only if it is below a workspace folder.
const MAX_FOLLOWED: usize = 50_000;

/// What is known of files that are not open.
#[derive(Debug, Default)]
pub(super) struct ClosedFiles {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    folders: Vec<Url>,
    names: BTreeSet<Arc<str>>,
    running: bool,
    seen: BTreeMap<Arc<str>, ClosedFile>,
    /// Files that kustomizations have led to: those that are watched are looked at again when they change.
    followed: BTreeSet<Arc<str>>,
}

/// A file with a resource.
#[derive(Clone, Debug, Default)]
pub(super) struct ClosedFile {
    /// What its verdicts depend on.
    mentions: Arc<HashSet<String>>,
    /// What is wrong with it.
    pub(super) diagnostics: Arc<[Diagnostic]>,
    /// Where the names of its resources stand.
    places: Arc<BTreeMap<ObjectKey, Range>>,
}

impl ClosedFiles {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All files with resources, by name.
    pub(super) fn all(&self) -> BTreeMap<Arc<str>, ClosedFile> {
        self.lock().seen.clone()
    }

    /// Where the name of a resource stands in a file that is not open.
    pub(super) fn place(&self, file: &str, resource: &ObjectKey) -> Option<Range> {
        self.lock().seen.get(file)?.places.get(resource).copied()
    }
}

/// Looks at every manifest below some folders.
pub(super) fn scan(shared: &Arc<Shared>, folders: Vec<Url>) {
    if folders.is_empty() {
        return;
    }
    shared.files.lock().folders.extend(folders);
    start_worker(shared);
}

/// Looks at files again. One that is gone contributes nothing and has no diagnostics.
pub(super) fn rescan(shared: &Arc<Shared>, names: impl IntoIterator<Item = Arc<str>>) {
    shared.files.lock().names.extend(names);
    start_worker(shared);
}

/// Looks again at the files that mention one of `names`.
pub(super) fn affected(shared: &Arc<Shared>, names: &HashSet<String>) {
    if names.is_empty() {
        return;
    }
    let affected = mentioning(&shared.files.lock().seen, names);
    if !affected.is_empty() {
        rescan(shared, affected);
    }
}

/// Looks again at everything known of these files, and below these folders, which are there no more. Nobody can tell the
/// one from the other any longer, and one folder may have held thousands of both.
pub(super) fn rescan_below<'u>(shared: &Arc<Shared>, gone: impl IntoIterator<Item = &'u Url>) {
    let gone: HashSet<String> =
        gone.into_iter().map(|uri| convert::name(uri).trim_end_matches('/').to_owned()).collect();
    let is_gone = |file: &Arc<str>| {
        let folders = file.match_indices('/').map(|(at, _)| &file[..at]);
        folders.chain([&**file]).any(|folder| gone.contains(folder))
    };
    let known: Vec<Arc<str>> = {
        let state = shared.files.lock();
        let seen = state.seen.keys().cloned();
        seen.chain(shared.session.workspace().files().cloned()).filter(is_gone).collect()
    };
    rescan(shared, known);
}

/// Looks at what says whether a file is a resource or a patch, where no workspace folder holds it.
pub(super) fn look_beside(shared: &Arc<Shared>, uri: &Url) {
    let within = |folder: &Url| uri.as_str().starts_with(folder.as_str());
    let Some(path) = convert::file_path(uri).filter(|_| !shared.folders().iter().any(within)) else { return };
    let folders = path.ancestors().skip(1).take(ABOVE);
    let telling = folders.flat_map(workspace::build_files_in).chain(workspace::templates_for(&path));
    let telling = telling.filter_map(|path| Url::from_file_path(path).ok());
    let names: Vec<Arc<str>> = telling.map(|uri| convert::name(&uri).into()).collect();
    if !names.is_empty() {
        rescan(shared, names);
    }
}

/// The document was opened: from now on it is shown by what the client has.
pub(super) fn opened(shared: &Shared, name: &str) {
    shared.files.lock().seen.remove(name);
}

fn mentioning(seen: &BTreeMap<Arc<str>, ClosedFile>, names: &HashSet<String>) -> Vec<Arc<str>> {
    let mentions = |seen: &ClosedFile| {
        let (small, large) =
            if names.len() < seen.mentions.len() { (names, &*seen.mentions) } else { (&*seen.mentions, names) };
        small.iter().any(|name| large.contains(name))
    };
    seen.iter().filter(|(_, seen)| mentions(seen)).map(|(name, _)| Arc::clone(name)).collect()
}

/// Starts the worker unless there is one.
fn start_worker(shared: &Arc<Shared>) {
    if !mem::replace(&mut shared.files.lock().running, true) {
        tokio::spawn(run_worker(Arc::clone(shared)));
    }
}

async fn run_worker(shared: Arc<Shared>) {
    loop {
        let (folders, names) = {
            let mut state = shared.files.lock();
            if state.folders.is_empty() && state.names.is_empty() {
                state.running = false;
                return;
            }
            (mem::take(&mut state.folders), mem::take(&mut state.names))
        };
        let progress = Progress::start(&shared, "Looking through the workspace");
        let (send, mut receive) = unbounded_channel();
        let job = {
            let inside = shared.folders().iter().filter_map(convert::file_path).collect();
            let round = Round { shared: Arc::clone(&shared), progress: Arc::clone(&progress), folders: inside, send };
            computing::spawn(move || round.run(folders, names))
        };
        while let Some(found) = receive.recv().await {
            publish_file(&shared, found);
        }
        progress.end();
        match job.await {
            Ok(documents) => publish::start(&shared, documents),
            Err(error) => {
                if let Ok(panic) = error.try_into_panic() {
                    tracing::error!(panic = message(panic.as_ref()), "looking at files panicked");
                }
            }
        }
        shared.refresh_diagnostics();
    }
}

/// What came out for one file. `None`: nothing to say about it.
struct ScannedFile {
    name: Arc<str>,
    seen: Option<ClosedFile>,
}

/// Takes note of what was found, and tells a client that does not ask itself.
fn publish_file(shared: &Shared, ScannedFile { name, seen }: ScannedFile) {
    let diagnostics = seen.as_ref().map(|seen| Arc::clone(&seen.diagnostics)).unwrap_or_default();
    {
        let mut state = shared.files.lock();
        // It was opened meanwhile: what is open counts.
        if shared.session.snapshot(&name).is_some() {
            return;
        }
        match seen {
            Some(seen) => _ = state.seen.insert(Arc::clone(&name), seen),
            None => _ = state.seen.remove(&name),
        }
    }
    if shared.client_capabilities().pulls {
        return;
    }
    let shown = !diagnostics.is_empty();
    if !shared.mark_published(&name, shown) && !shown {
        return;
    }
    if let Some(uri) = shared.uri(&name) {
        let list = |out: &mut Vec<u8>| {
            outgoing::json(out, &*diagnostics);
            Some(())
        };
        Outgoing::diagnostics(uri.as_str(), None, list).into_iter().for_each(|text| shared.outgoing.text(text));
    }
}

/// One round of the worker: everything that waited when it began.
struct Round {
    shared: Arc<Shared>,
    progress: Arc<Progress>,
    /// The workspace folders: no link leads out of them.
    folders: Vec<PathBuf>,
    send: UnboundedSender<ScannedFile>,
}

impl Round {
    /// Reads what all files contribute, then judges those with resources. Returns the open documents that need a
    /// worker.
    fn run(self, folders: Vec<Url>, mut names: BTreeSet<Arc<str>>) -> Vec<Arc<str>> {
        let cancel = &self.progress.cancel;
        let session = &self.shared.session;
        let end = Instant::now() + GIVES_WAY;
        session.wait_idle(end);
        let mut ignored = Ignored::default();
        let mut left_out = |name: &Arc<str>| {
            let path = Url::parse(name).ok().and_then(|uri| convert::file_path(&uri));
            path.is_some_and(|path| self.folders.iter().any(|folder| ignored.leaves_out(&path, folder)))
        };
        let unwanted: HashSet<Arc<str>> = names.iter().filter(|name| left_out(name)).cloned().collect();
        let limits = Limits::editor(self.folders.clone());
        for folder in folders.iter().filter_map(convert::file_path) {
            let found = workspace::walk(&folder, &limits, &|| cancel.is_cancelled());
            for LeftOut { path, reason } in &found.left_out {
                tracing::info!(path = %path.display(), %reason, "left out");
            }
            let uris = found.files.into_iter().filter_map(|path| Url::from_file_path(path).ok());
            names.extend(uris.map(|uri| Arc::from(convert::name(&uri))));
        }
        // Each file is looked at twice.
        self.progress.expect(2 * names.len());
        let mut objects = Vec::with_capacity(names.len());
        let mut relevant = BTreeSet::new();
        for name in &names {
            if cancel.is_cancelled() {
                break;
            }
            session.wait_idle(end);
            let text = self.text(name).filter(|_| !unwanted.contains(name)).unwrap_or_default();
            let path = Url::parse(name).ok().and_then(|uri| convert::file_path(&uri)).unwrap_or_default();
            let analysis = workspace::analysis_of(&path, &text);
            self.shared.learn_names(name, analysis.as_ref());
            self.note_places(name, analysis.as_ref(), &text);
            objects.push((Arc::clone(name), analysis.map(|analysis| analysis.objects()).unwrap_or_default()));
            if workspace::may_have_resources(&text) {
                relevant.insert(Arc::clone(name));
            } else {
                self.report(name, None);
            }
            self.progress.step();
        }
        let mut affected = session.learn_files(objects);
        self.follow(&names, &mut affected, &mut relevant);
        relevant.extend(mentioning(&self.shared.files.lock().seen, &affected.names));
        self.progress.expect(names.len() + relevant.len());
        for name in relevant {
            if cancel.is_cancelled() {
                break;
            }
            session.wait_idle(end);
            let seen = self.judge(&name, cancel);
            if !cancel.is_cancelled() {
                self.report(&name, seen);
            }
            self.progress.step();
        }
        affected.documents
    }

    /// Reads what kustomizations take from elsewhere, also outside of the workspace folders: it says what a patch changes.
    /// Nothing is said about such files.
    fn follow(&self, names: &BTreeSet<Arc<str>>, affected: &mut Affected, relevant: &mut BTreeSet<Arc<str>>) {
        self.shared.files.lock().followed.extend(names.iter().cloned());
        for _ in 0..MAX_ROUNDS {
            let wanted = self.shared.session.workspace().wanted();
            let mut objects = Vec::new();
            for path in wanted.iter().filter_map(|name| convert::file_path(&Url::parse(name).ok()?)) {
                for uri in workspace::behind(&path).into_iter().filter_map(|path| Url::from_file_path(path).ok()) {
                    let name: Arc<str> = convert::name(&uri).into();
                    let mut state = self.shared.files.lock();
                    if state.followed.len() >= MAX_FOLLOWED || !state.followed.insert(Arc::clone(&name)) {
                        continue;
                    }
                    drop(state);
                    let path = convert::file_path(&uri).unwrap_or_default();
                    let analysis = self.text(&name).and_then(|text| workspace::analysis_of(&path, &text));
                    objects.push((name, analysis.map(|analysis| analysis.objects()).unwrap_or_default()));
                }
            }
            if objects.is_empty() {
                return;
            }
            let more = self.shared.session.learn_files(objects);
            relevant.extend(mentioning(&self.shared.files.lock().seen, &more.names));
            affected.documents.extend(more.documents);
        }
    }

    /// The text of a file that is not left alone.
    fn text(&self, name: &str) -> Option<String> {
        if self.shared.session.snapshot(name).is_some() || self.shared.configuration.excludes(name) {
            return None;
        }
        let path = Url::parse(name).ok().and_then(|uri| convert::file_path(&uri))?;
        let settings = self.shared.configuration.of(name);
        let ours = workspace::is_manifest(&path) && workspace::is_within(&path, &self.folders);
        ours.then(|| workspace::text_of(&path, settings.max_file_size))?
    }

    fn judge(&self, name: &str, cancel: &Cancel) -> Option<ClosedFile> {
        let text = self.text(name)?;
        let stop = || cancel.is_cancelled();
        let settings = self.shared.configuration.of(name);
        let workspace = self.shared.session.workspace().seen_by(name).assuming(settings.assumed());
        let analysis = ide::open(&text, &workspace, &stop).filter(ide::Analysis::may_be_relevant)?;
        let rope = Rope::from_str(&text);
        let places = self.places(&analysis, &rope);
        let diagnostics = if settings.diagnose_unopened {
            let mut found = analysis.diagnostics_until(&stop);
            found.extend(builds::beyond(&self.shared, name, &rope, || analysis.diagnostics_until(&stop)));
            publish::converted(&publish::DiagnosticStyle::of(&self.shared, name, name), &rope, found)
        } else {
            Vec::new()
        };
        let mentions = Arc::new(analysis.mentions());
        Some(ClosedFile { mentions, diagnostics: diagnostics.into(), places })
    }

    fn places(&self, analysis: &ide::Analysis, rope: &Rope) -> Arc<BTreeMap<ObjectKey, Range>> {
        let encoding = self.shared.client_capabilities().encoding;
        let names = analysis.resource_names().into_iter().rev();
        Arc::new(names.map(|(key, span)| (key, convert::range(rope, span, encoding))).collect())
    }

    /// Notes where the names of a file stand before anybody else is told that they are taken there.
    fn note_places(&self, name: &Arc<str>, analysis: Option<&ide::Analysis>, text: &str) {
        let places = analysis.map(|analysis| self.places(analysis, &Rope::from_str(text))).unwrap_or_default();
        let mut state = self.shared.files.lock();
        if !places.is_empty() && self.shared.session.snapshot(name).is_none() {
            state.seen.entry(Arc::clone(name)).or_default().places = places;
        }
    }

    fn report(&self, name: &Arc<str>, seen: Option<ClosedFile>) {
        // A closed channel means that the session is over.
        let _ = self.send.send(ScannedFile { name: Arc::clone(name), seen });
    }
}
