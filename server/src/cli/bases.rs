//! The base config that a user names for one run.

use crate::ide::Assumed;
use crate::project::{Project, read_base};
use clap::Args;
use llsd_generator::check::facts::GivenBases;
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
