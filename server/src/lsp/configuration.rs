//! The settings in force: one set for each workspace folder, asked of the client, and told again when they change.

use super::backend::Shared;
use super::{cluster, convert, files, publish};
use crate::project::{Fault, Project, Projects};
use crate::settings::Settings;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tower_lsp::jsonrpc;
use tower_lsp::lsp_types::{ConfigurationItem, MessageType, Url};

/// How long the first look through the workspace waits for the settings. A client may never answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The settings of the workspace folders, and those that hold outside of them.
#[derive(Clone, Debug, Default, PartialEq)]
struct FolderSettings {
    elsewhere: Arc<Settings>,
    /// Each folder's name with a slash behind it, its path, and its settings.
    folders: Vec<(String, Option<PathBuf>, Arc<Settings>)>,
}

/// What is set, and what has been said about it.
#[derive(Debug, Default)]
pub(super) struct Configuration {
    state: Mutex<State>,
    /// Number of the last question to the client: only its answer counts.
    asked: AtomicU64,
    /// What the teams agreed on whose files these are.
    projects: Projects,
}

#[derive(Debug, Default)]
struct State {
    places: FolderSettings,
    /// What counts until the client says something, and where it cannot be asked.
    fallback: Value,
    reported: Vec<String>,
    unreported: Vec<String>,
    /// Settings and the project that decides in place of some, with what comes out: the same each time.
    governed: Vec<(Arc<Settings>, Arc<Project>, Arc<Settings>)>,
    /// What is wrong with projects.
    faults: Vec<Arc<Fault>>,
}

impl Configuration {
    /// The settings of a document or file.
    pub(super) fn of(&self, name: &str) -> Arc<Settings> {
        let path = Url::parse(name).ok().and_then(|uri| convert::file_path(&uri));
        let project = path.map_or(Ok(None), |path| self.projects.of(&path));
        let mut state = self.lock();
        let inside = state.places.folders.iter().filter(|(folder, ..)| name.starts_with(folder));
        let nearest = inside.max_by_key(|(folder, ..)| folder.len());
        let settings = Arc::clone(nearest.map_or(&state.places.elsewhere, |(_, _, settings)| settings));
        match project {
            Ok(None) => settings,
            Ok(Some(project)) => state.governed(settings, project),
            Err(fault) => {
                if !state.faults.contains(&fault) {
                    state.unreported.push(fault.to_string());
                    state.faults.push(fault);
                }
                settings
            }
        }
    }

    /// Whether projects say something else once a file has changed: it is an `llsd.toml`, or one names it.
    pub(super) fn depends_on(&self, file: &Path) -> bool {
        self.projects.depend_on(file)
    }

    /// An `llsd.toml` was written, or is gone.
    pub(super) fn forget_projects(&self) {
        self.projects.forget();
        let mut state = self.lock();
        state.governed.clear();
        state.faults.clear();
    }

    /// Whether the settings say that a file is left alone.
    pub(super) fn excludes(&self, name: &str) -> bool {
        let settings = self.of(name);
        if settings.exclude.is_empty() && settings.project.is_none() {
            return false;
        }
        let Some(path) = Url::parse(name).ok().and_then(|uri| convert::file_path(&uri)) else { return false };
        if let Some(project) = &settings.project {
            return project.leaves_out(&path);
        }
        let state = self.lock();
        let folders = state.places.folders.iter().filter_map(|(_, folder, _)| folder.as_deref());
        let relative = folders.filter_map(|folder| path.strip_prefix(folder).ok());
        settings.excludes(relative.min_by_key(|rest| rest.components().count()).unwrap_or(&path))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn governed(&mut self, settings: Arc<Settings>, project: Arc<Project>) -> Arc<Settings> {
        let same = |(from, by, _): &&(Arc<Settings>, Arc<Project>, Arc<Settings>)| {
            Arc::ptr_eq(from, &settings) && Arc::ptr_eq(by, &project)
        };
        if let Some((_, _, known)) = self.governed.iter().find(same) {
            return Arc::clone(known);
        }
        let governed = Arc::new(settings.governed_by(Arc::clone(&project)));
        self.governed.push((settings, project, Arc::clone(&governed)));
        governed
    }
}

/// Takes `initializationOptions`: the settings of clients that cannot be asked, or do not answer.
pub(super) fn fall_back(shared: &Shared, options: Option<&Value>) {
    let options = options.cloned().unwrap_or_default();
    // Some clients send the section itself, others an object with the section in it.
    let section = options.get("llsd").cloned().unwrap_or(options);
    shared.configuration.lock().fallback = section.clone();
    _ = set(shared, &section, None);
}

/// The first time: asks, and then looks through the workspace.
pub(super) async fn start(shared: Arc<Shared>) {
    let asking = fetch(&shared);
    tokio::pin!(asking);
    let answer = tokio::time::timeout(PATIENCE, &mut asking).await;
    report_problems(&shared);
    cluster::start_polling(&shared);
    files::scan(&shared, shared.folders());
    if answer.is_err() {
        let changed = asking.await;
        report_problems(&shared);
        refresh_if(&shared, changed);
    }
}

/// Asks again, as something has changed. `pushed` is what the client sent along, for those that cannot be asked.
pub(super) fn reload(shared: &Arc<Shared>, pushed: Value) {
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let changed = if shared.client_capabilities().configuration {
            fetch(&shared).await
        } else {
            let section = pushed.get("llsd").cloned().unwrap_or(pushed);
            set(&shared, &section, None)
        };
        report_problems(&shared);
        refresh_if(&shared, changed);
    });
}

/// An `llsd.toml` was written, or is gone: everything is looked at again.
pub(super) fn projects_changed(shared: &Arc<Shared>) {
    shared.configuration.forget_projects();
    refresh_if(shared, true);
}

/// Looks at everything again if settings have changed.
fn refresh_if(shared: &Arc<Shared>, changed: bool) {
    if changed {
        cluster::start_polling(shared);
        publish::start(shared, shared.session.again());
        shared.refresh_diagnostics();
        shared.refresh_hints();
        files::scan(shared, shared.folders());
    }
}

/// Asks the client for the settings of every folder. True: they are others than before.
async fn fetch(shared: &Arc<Shared>) -> bool {
    if !shared.client_capabilities().configuration {
        return false;
    }
    let number = shared.configuration.asked.fetch_add(1, Ordering::AcqRel) + 1;
    let folders = shared.folders();
    let section = Some("llsd".to_owned());
    let scopes = std::iter::once(None).chain(folders.iter().cloned().map(Some));
    let items = scopes.map(|scope_uri| ConfigurationItem { scope_uri, section: section.clone() }).collect();
    let answer: jsonrpc::Result<Vec<Value>> = shared.client.configuration(items).await;
    match answer {
        // A later question was asked meanwhile.
        _ if shared.configuration.asked.load(Ordering::Acquire) != number => false,
        Ok(answers) if answers.len() == folders.len() + 1 => {
            set(shared, &answers[0], Some(folders.into_iter().zip(&answers[1..]).collect()))
        }
        Ok(answers) => {
            tracing::warn!(answers = answers.len(), "the client answered another number of settings than was asked");
            false
        }
        Err(error) => {
            tracing::warn!(%error, "the client has no settings");
            false
        }
    }
}

/// Puts settings in force. True: they are others than before.
fn set(shared: &Shared, elsewhere: &Value, folders: Option<Vec<(Url, &Value)>>) -> bool {
    let mut state = shared.configuration.lock();
    // What nobody set anywhere is as the session was started with.
    let fallback = state.fallback.clone();
    let mut problems = Vec::new();
    let mut read = |section: &Value| {
        let (settings, found) = Settings::read(if section.is_null() { &fallback } else { section });
        problems.extend(found.into_iter().filter(|problem| !problems.contains(problem)).collect::<Vec<_>>());
        Arc::new(settings)
    };
    let elsewhere = read(elsewhere);
    let folders: Vec<_> = match folders {
        Some(folders) => folders.into_iter().map(|(uri, section)| place(&uri, read(section))).collect(),
        None => shared.folders().iter().map(|uri| place(uri, Arc::clone(&elsewhere))).collect(),
    };
    let places = FolderSettings { elsewhere, folders };
    let changed = state.places != places;
    state.places = places;
    state.governed.clear();
    state.reported.retain(|problem| problems.contains(problem));
    let reported = std::mem::take(&mut state.reported);
    state.unreported = problems.into_iter().filter(|problem| !reported.contains(problem)).collect();
    state.reported = reported;
    changed
}

fn place(uri: &Url, settings: Arc<Settings>) -> (String, Option<PathBuf>, Arc<Settings>) {
    let name = convert::name(uri);
    (format!("{}/", name.trim_end_matches('/')), convert::file_path(uri).map(|path: PathBuf| normal(&path)), settings)
}

fn normal(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Tells the user once, in one message, which settings cannot be used.
pub(super) fn report_problems(shared: &Arc<Shared>) {
    let message = {
        let mut state = shared.configuration.lock();
        let problems = std::mem::take(&mut state.unreported);
        if problems.is_empty() {
            return;
        }
        let message = format!("llsd settings: {}", problems.join("\n"));
        state.reported.extend(problems);
        message
    };
    let client = shared.client.clone();
    tokio::spawn(async move { client.show_message(MessageType::WARNING, message).await });
}
