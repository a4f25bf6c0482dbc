//! Which files a folder stands for: those that `kubectl apply -R -f` would read, less what the project does not hold to
//! be its own (`.gitignore`, dependencies, build results).
//!
//! Links to files are followed, links to folders are not, as `kubectl` does it; so no search can run in circles.

use super::{Host, is_manifest};
use ignore::WalkBuilder;
use ignore::gitignore::Gitignore;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Folders that hold other people's files or build results.
const SKIPPED: [&str; 5] = ["node_modules", "target", "vendor", "dist", "__pycache__"];

/// Files, and a file for a folder, by which version control is told what a folder has that is not its own.
const RULES: [&str; 3] = [".gitignore", ".git", ".git/info/exclude"];
/// Bytes of such a file.
const RULES_SIZE: u64 = 1 << 20;

/// The rules of a folder that must not be opened. Who reads them waits for the other end of a pipe, and takes a device, or
/// a link to one, until all memory is gone.
fn bad_rules(folder: &Path) -> Option<PathBuf> {
    let is_bad = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|found| !found.is_dir() && (!found.is_file() || found.len() > RULES_SIZE))
    };
    RULES.iter().map(|name| folder.join(name)).find(is_bad)
}

/// How far a search goes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many folders may lie inside of each other; deeper ones are left out and reported.
    pub depth: usize,
    /// Files and folders that are looked at.
    pub entries: usize,
    /// How long it may take.
    pub time: Duration,
    /// Links must lead to a file below one of these folders; `None`: they may lead anywhere.
    pub within: Option<Vec<PathBuf>>,
    /// Whether files called `*.json` count.
    pub json: bool,
    /// Kinds of other texts that count for the manifests in them.
    pub hosts: &'static [Host],
}

impl Limits {
    /// Those of somebody who waits at a terminal and wants all files.
    pub const COMMAND: Self =
        Self { depth: 64, entries: 2_000_000, time: Duration::from_secs(120), within: None, json: true, hosts: &[] };

    /// Those of an editor, which looks through folders that nobody may have vouched for, unasked.
    #[must_use]
    pub fn editor(folders: Vec<PathBuf>) -> Self {
        Self {
            depth: 12,
            entries: 50_000,
            time: Duration::from_secs(5),
            within: Some(folders),
            json: false,
            hosts: &[],
        }
    }
}

/// The files that a walk found, and what it left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files in the order of their names, each once however many links lead to it.
    pub files: Vec<PathBuf>,
    /// What may hold a manifest and is not among them.
    pub left_out: Vec<LeftOut>,
}

/// A file or folder that a search left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The path that was left out.
    pub path: PathBuf,
    /// The reason, which callers may treat apart.
    pub reason: Reason,
}

/// Why something was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A link to a folder.
    LinkToFolder,
    /// A link that leads out of the folders that are looked through.
    LinkOutside,
    /// A symbolic link that leads nowhere.
    BrokenLink,
    /// A pipe, socket or device.
    NoFile,
    /// A folder below more than [`Limits::depth`] others.
    Deep(usize),
    /// The search ended there, after [`Limits::entries`].
    Many(usize),
    /// The search ended there, after [`Limits::time`].
    Slow(Duration),
    /// A folder whose rules about what belongs to it cannot be read: a file that is none, or is too large.
    Rules(PathBuf),
    /// The system does not let us in.
    Unreadable(String),
}

impl Reason {
    /// Whether `kubectl` would fail there, or nobody knows what is there: the others are left out as it does it.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::LinkToFolder | Self::LinkOutside)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkToFolder => out.write_str("a link to a folder, which kubectl does not enter either"),
            Self::LinkOutside => out.write_str("a link that leads out of the workspace"),
            Self::BrokenLink => out.write_str("a link to a file that does not exist"),
            Self::NoFile => out.write_str("no regular file"),
            Self::Deep(depth) => write!(out, "more than {depth} folders deep; name it to have it checked"),
            Self::Many(entries) => write!(out, "the search ended here, after {entries} files and folders"),
            Self::Slow(time) => write!(out, "the search ended here, after {} s", time.as_secs()),
            Self::Rules(path) => {
                write!(out, "{} is no regular file, or larger than {} KiB", path.display(), RULES_SIZE >> 10)
            }
            Self::Unreadable(reason) => out.write_str(reason),
        }
    }
}

/// The manifests below `folder`. `stop` may end the search early, without a word.
#[must_use]
pub fn walk(folder: &Path, limits: &Limits, stop: &dyn Fn() -> bool) -> Walk {
    let started = Instant::now();
    let cut = Arc::new(Mutex::new(Vec::new()));
    let mut found = Walk::default();
    if let Some(rules) = bad_rules(folder) {
        found.left_out.push(LeftOut { path: folder.to_path_buf(), reason: Reason::Rules(rules) });
        return found;
    }
    let mut links = Vec::new();
    for (seen, entry) in builder(folder, limits.depth, Arc::clone(&cut)).build().enumerate() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.left_out.push(unreadable(folder, &error));
                continue;
            }
        };
        let end = match seen {
            _ if stop() => return found,
            _ if seen > limits.entries => Some(Reason::Many(limits.entries)),
            _ if started.elapsed() > limits.time => Some(Reason::Slow(limits.time)),
            _ => None,
        };
        if let Some(reason) = end {
            found.left_out.push(LeftOut { path: entry.into_path(), reason });
            break;
        }
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { continue };
        if kind.is_symlink() {
            links.push(entry.into_path());
        } else if is_wanted(entry.path(), limits) {
            add(&mut found, entry.into_path(), kind);
        }
    }
    found.left_out.append(&mut cut.lock().unwrap_or_else(PoisonError::into_inner));
    follow(&mut found, folder, links, limits);
    found.files.sort();
    found.left_out.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// `cut` gets the folders that are not entered, if somebody may expect that they are.
fn builder(folder: &Path, depth: usize, cut: Arc<Mutex<Vec<LeftOut>>>) -> WalkBuilder {
    let mut builder = WalkBuilder::new(folder);
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    if whole.ancestors().any(|above| bad_rules(above).is_some()) {
        // Those of the folders above are read as long as any are.
        builder.parents(false).git_ignore(false).git_exclude(false).git_global(false);
    }
    // A manifest may be hidden; a folder that is, belongs to a tool. A checkout without its .git still has its rules.
    builder.hidden(false).require_git(false).follow_links(false).ignore(false);
    builder.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if entry.depth() == 0 || !is_folder {
            return true;
        }
        if !is_entered(entry.file_name()) {
            return false;
        }
        let reason =
            if entry.depth() > depth { Some(Reason::Deep(depth)) } else { bad_rules(entry.path()).map(Reason::Rules) };
        let is_entered = reason.is_none();
        let left_out = reason.map(|reason| LeftOut { path: entry.path().to_path_buf(), reason });
        cut.lock().unwrap_or_else(PoisonError::into_inner).extend(left_out);
        is_entered
    });
    builder
}

fn is_entered(folder: &OsStr) -> bool {
    folder.to_str().is_some_and(|name| !name.starts_with('.') && !SKIPPED.contains(&name))
}

/// Says of single files what a [walk] would do with them.
#[derive(Debug, Default)]
pub struct Ignored {
    known: HashMap<PathBuf, Arc<Gitignore>>,
}

impl Ignored {
    /// Whether a walk through `folder` would not come to a file below it.
    pub fn leaves_out(&mut self, file: &Path, folder: &Path) -> bool {
        let Ok(inside) = file.strip_prefix(folder) else { return false };
        let mut folders = inside.parent().into_iter().flat_map(Path::components);
        if folders.any(|name| !is_entered(name.as_os_str())) {
            return true;
        }
        for above in file.ancestors().skip(1) {
            let is_bad = bad_rules(above).is_some();
            if is_bad && above.starts_with(folder) {
                return true;
            }
            let read = || if is_bad { Gitignore::empty() } else { Gitignore::new(above.join(".gitignore")).0 };
            let rules = self.known.entry(above.to_path_buf()).or_insert_with(|| Arc::new(read()));
            if !rules.is_empty() {
                match rules.matched_path_or_any_parents(file, false) {
                    ignore::Match::Ignore(_) => return true,
                    ignore::Match::Whitelist(_) => return false,
                    ignore::Match::None => {}
                }
            }
            if above.join(".git").symlink_metadata().is_ok() {
                break;
            }
        }
        false
    }
}

fn is_wanted(path: &Path, limits: &Limits) -> bool {
    is_manifest(path)
        || Host::of(path).is_some_and(|host| limits.hosts.contains(&host))
        || (limits.json && path.extension().is_some_and(|extension| extension == "json"))
}

fn add(found: &mut Walk, path: PathBuf, kind: FileType) {
    if kind.is_file() {
        found.files.push(path);
    } else {
        found.left_out.push(LeftOut { path, reason: Reason::NoFile });
    }
}

fn unreadable(folder: &Path, error: &ignore::Error) -> LeftOut {
    let (mut path, mut inner) = (folder, error);
    loop {
        inner = match inner {
            ignore::Error::WithPath { path: at, err } => {
                path = at;
                err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            _ => break,
        };
    }
    LeftOut { path: path.to_path_buf(), reason: Reason::Unreadable(inner.to_string()) }
}

/// Takes the files that links lead to, unless they were found by their own names.
fn follow(found: &mut Walk, folder: &Path, links: Vec<PathBuf>, limits: &Limits) {
    if links.is_empty() {
        return;
    }
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let own = |path: &PathBuf| path.strip_prefix(folder).map_or_else(|_| path.clone(), |inner| whole.join(inner));
    let mut known: HashSet<PathBuf> = found.files.iter().map(own).collect();
    let allowed: Option<Vec<PathBuf>> =
        limits.within.as_ref().map(|folders| folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect());
    for path in links {
        let named = is_wanted(&path, limits);
        let target = path.canonicalize().and_then(|target| Ok((fs::metadata(&target)?.file_type(), target)));
        let reason = match target {
            Ok((kind, _)) if kind.is_dir() => {
                let hidden = !path.file_name().is_some_and(is_entered);
                (!hidden).then_some(Reason::LinkToFolder)
            }
            _ if !named => None,
            Err(_) => Some(Reason::BrokenLink),
            Ok((_, target)) if allowed.as_ref().is_some_and(|all| !all.iter().any(|one| target.starts_with(one))) => {
                Some(Reason::LinkOutside)
            }
            Ok((kind, _)) if !kind.is_file() => Some(Reason::NoFile),
            Ok((_, target)) => {
                if known.insert(target) {
                    found.files.push(path);
                }
                continue;
            }
        };
        found.left_out.extend(reason.map(|reason| LeftOut { path, reason }));
    }
}
