//! Files that nobody named, but that say what those are that somebody did: kustomizations, charts, and what they take.

use crate::ide::{self, Analysis, Workspace};
use crate::workspace as files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files read at most besides those that are checked: more than any kustomization draws on.
const MAX_FILES: usize = 2_000;

/// How often files may lead to others, before a chain is taken for one without end.
const MAX_ROUNDS: usize = 24;

/// Folders above a file in which its kustomizations are looked for.
const MAX_ABOVE: usize = 12;

/// A file that was found, and what it says.
#[derive(Debug)]
pub struct Neighbour {
    /// The file, as the user would name it.
    pub path: PathBuf,
    /// Its text on its own.
    pub analysis: Analysis,
}

/// Reads what has to be known to judge files with resources, and adds it to the workspace: the kustomizations in their
/// folders, in those above and in the same project, and whatever these take. Nothing remote is fetched.
pub fn learn(relevant: &BTreeSet<PathBuf>, workspace: &mut Workspace) -> Vec<Neighbour> {
    if relevant.is_empty() {
        return Vec::new();
    }
    let mut first: BTreeSet<PathBuf> = beside(relevant);
    first.extend(relevant.iter().flat_map(|file| files::templates_for(file)));
    first.extend(projects(relevant).iter().flat_map(|folder| files::kustomizations(folder)));
    follow(first, workspace)
}

/// Reads files, and whatever the kustomizations among them take.
pub fn follow(first: BTreeSet<PathBuf>, workspace: &mut Workspace) -> Vec<Neighbour> {
    let (mut found, mut next) = (Vec::new(), first);
    let mut seen: BTreeSet<Arc<str>> = workspace.files().cloned().collect();
    for _ in 0..MAX_ROUNDS {
        for path in std::mem::take(&mut next) {
            let key = files::key(&path);
            if found.len() >= MAX_FILES || !seen.insert(Arc::clone(&key)) {
                continue;
            }
            let Some(text) = files::text_of(&path, files::MAX_SIZE) else { continue };
            let analysis = ide::analyse(text.into(), None, &Workspace::new());
            workspace.set(&key, analysis.objects());
            found.push(Neighbour { path, analysis });
        }
        let wanted = workspace.wanted();
        next.extend(wanted.iter().flat_map(|path| files::behind(Path::new(&**path))));
        next.retain(|path| !seen.contains(&files::key(path)));
        if next.is_empty() {
            break;
        }
    }
    found
}

/// What stands in the folders of files and in those above.
fn beside(relevant: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for file in relevant {
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.clone());
        for folder in whole.ancestors().skip(1).take(MAX_ABOVE) {
            if !folders.insert(folder.to_path_buf()) {
                break;
            }
        }
    }
    folders.iter().flat_map(|folder| files::build_files_in(folder)).collect()
}

/// The folders in which kustomizations that stand neither beside nor above a file may name it: the repository of each
/// file, else the current folder where the file is below it.
fn projects(relevant: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let here = std::env::current_dir().ok();
    let of = |file: &PathBuf| {
        let whole = std::path::absolute(file).ok()?;
        let repository = whole.ancestors().skip(1).find(|folder| folder.join(".git").exists());
        repository.map(Path::to_path_buf).or_else(|| here.clone().filter(|here| whole.starts_with(here)))
    };
    let folders: BTreeSet<PathBuf> =
        relevant.iter().filter_map(|file| file.parent()).map(|one| one.join("x")).collect();
    folders.iter().filter_map(of).collect()
}
