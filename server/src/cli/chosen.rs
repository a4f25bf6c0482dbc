//! One resource of one file, for the commands that speak of a single one.

use super::bases::{GivenBase, assumed};
use super::input::{MAX_SIZE, Source};
use super::{FAILURE, complain};
use crate::ide::{self, Analysis, ResourceSummary, Workspace};
use crate::project::Projects;
use crate::workspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which resource of which input a subcommand works on.
#[derive(Debug, clap::Args)]
pub(super) struct Choice {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the resource, where the file has several
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    base: GivenBase,
}

/// A resource, and the file around it.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The file, as the user named it.
    pub(super) name: String,
    /// The whole file, understood together with the manifests beside it.
    pub(super) analysis: Analysis,
    /// The chosen resource: its version, name and place in the file.
    pub(super) resource: ResourceSummary,
}

/// Finds the resource. What prevents that has been said on standard error; the error is the exit code.
pub(super) fn resource(arguments: &Choice) -> Result<Chosen, u8> {
    let source = Source::named(&arguments.file);
    let failed = |reason: String| {
        complain(&reason);
        FAILURE
    };
    let base = arguments.base.read().map_err(failed)?;
    let project = Projects::default().of(Path::new(&*source.place())).map_err(|fault| failed(fault.to_string()))?;
    let text = read(&source)?;
    let workspace = match &source {
        Source::File(path) => beside(path),
        Source::Stdin | Source::Cluster(_) => Workspace::new(),
    };
    let workspace = workspace.assuming(assumed(project.as_deref(), base.as_ref()));
    let analysis = ide::analyse(text, None, &workspace);
    let name = source.to_string();
    let resource = choose(&name, analysis.resources(), arguments.name.as_deref()).map_err(failed)?;
    Ok(Chosen { name, analysis, resource })
}

/// Reads one file. What prevents that has been said on standard error; the error is the exit code.
fn read(source: &Source) -> Result<Arc<str>, u8> {
    source.read().map_err(|problem| {
        complain(&problem);
        FAILURE
    })
}

fn choose(file: &str, resources: Vec<ResourceSummary>, wanted: Option<&str>) -> Result<ResourceSummary, String> {
    let names: Vec<String> = resources.iter().map(|resource| resource.name.clone()).collect();
    let mut fitting: Vec<_> =
        resources.into_iter().filter(|resource| wanted.is_none_or(|wanted| resource.name == wanted)).collect();
    match (fitting.len(), wanted) {
        (1, _) => Ok(fitting.remove(0)),
        _ if names.is_empty() => Err(format!("{file} has no LlamaStackDistribution and no OGXServer")),
        (0, Some(wanted)) => Err(format!("{file} has no resource named {wanted:?}; it has {}", names.join(", "))),
        (_, Some(wanted)) => Err(format!("{file} has several resources named {wanted:?}; rename one")),
        (_, None) => Err(format!("{file} has several resources; choose one with --name: {}", names.join(", "))),
    }
}

/// The Secrets and ConfigMaps in the files of the same directory.
fn beside(file: &Path) -> Workspace {
    let mut found = Workspace::new();
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if workspace::is_manifest(&path) && path.file_name() != file.file_name() {
            let text = workspace::text_of(&path, MAX_SIZE).unwrap_or_default();
            found.set(&path.to_string_lossy(), workspace::objects_of(&text));
        }
    }
    found
}
