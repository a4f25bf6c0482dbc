//! The base config that a user names for one run.

use super::report::Checked;
use crate::ide::Assumed;
use crate::project::{Project, read_base};
use clap::Args;
use llsd_generator::check::facts::GivenBases;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The option `--base` of the commands that start from a base config.
#[derive(Debug, Args)]
pub(super) struct GivenBase {
    /// The base config to start from, in place of the one that a resource names, its image brings, or llsd.toml has
    #[arg(long, value_name = "CONFIG")]
    base: Option<PathBuf>,
}

impl GivenBase {
    /// What there is to say where no resource of the files starts from it.
    pub(super) fn unused(&self, files: &[Checked]) -> Option<String> {
        let path = self.base.as_ref().filter(|_| files.iter().all(|file| file.based_on.is_empty()))?;
        let name = path.display();
        Some(format!("--base: nothing starts from {name}: the files have no resource without a config of its own"))
    }

    /// Reads it. `None`: there is none, and what the project of a file says counts.
    ///
    /// # Errors
    /// A sentence, where it is no config.
    pub(super) fn read(&self) -> Result<Option<Arc<GivenBases>>, String> {
        let Some(path) = &self.base else { return Ok(None) };
        let base = read_base(path).map_err(|problem| format!("--base: {} {problem}", path.display()))?;
        Ok(Some(Arc::new(GivenBases { of_all: Some(base), ..GivenBases::default() })))
    }
}

/// What is assumed for a file of `project`, where the user named a base config or not.
pub(super) fn assumed(project: Option<&Project>, named: Option<&Arc<GivenBases>>) -> Assumed {
    let assumed = project.map(Project::assumed).unwrap_or_default();
    match named {
        Some(bases) => Assumed { bases: Arc::clone(bases), ..assumed },
        None => assumed,
    }
}

/// What the projects of the files say of base configs that no resource starts from, a sentence each. Only where a folder
/// was checked with all that a project governs: other files may have the resource. `project`: that of a file.
pub(super) fn unused(
    arguments: &[PathBuf],
    files: &[Checked],
    project: &dyn Fn(&Checked) -> Option<Arc<Project>>,
) -> Vec<String> {
    let folders: Vec<PathBuf> =
        arguments.iter().filter(|path| path.is_dir()).filter_map(|path| path.canonicalize().ok()).collect();
    let mut used: BTreeMap<PathBuf, (Arc<Project>, BTreeSet<String>)> = BTreeMap::new();
    for file in files {
        let Some(project) = project(file) else { continue };
        let (_, names) = used.entry(project.path.clone()).or_insert_with(|| (project, BTreeSet::new()));
        names.extend(file.based_on.iter().cloned());
    }
    let whole = |project: &Project| {
        let governed = project.folder().canonicalize();
        governed.is_ok_and(|governed| folders.iter().any(|folder| governed.starts_with(folder)))
    };
    let all = used.values().filter(|(project, _)| whole(project));
    all.flat_map(|(project, names)| project.unused_bases(names)).map(|fault| fault.to_string()).collect()
}
