//! `llsd migrate`: rewrites resources from v1alpha1 to v1alpha2.

use super::input::{self, Source};
use super::project::Project;
use super::{CLEAN, FAILURE, FINDINGS, complain, ogx_plan, to_ogx};
use crate::cluster::{self, Failure, Kubectl};
use crate::ide::{self, Analysis, MigrateOptions, Migrated, NotMigrated, Span};
use clap::Args;
use llsd_generator::catalog::Catalog;
use llsd_generator::ogx;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Rewrite resources for v1alpha2 or for ogx (OGXServer), or configs for another version of the server, comments kept
///
/// The server's config, its environment and every field are compared before and after. What is not as it was is said on
/// standard error, what is lost first, and the exit code is 1 then. A ConfigMap with the server's config, also of
/// another file that was named or lies beside it, is folded into the resource where nothing gets lost or changes by it.
/// A file is changed as a whole or not at all.
///
/// With --to VERSION, config.yaml and configs in ConfigMaps are rewritten in place of resources: what has another name or place in
/// that version, and what it needs. What has no successor there is removed and told, and the exit code is 1 then.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, directories (their *.yaml and *.yml files), or - for standard input
    #[arg(required_unless_present = "cluster", value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Change the files instead of printing the result
    #[arg(long)]
    write: bool,
    /// Say what would be migrated and what would not be as it was; print and write nothing else
    #[arg(long, conflicts_with = "write")]
    dry_run: bool,
    /// Print the changes as a unified diff instead of the result
    #[arg(long, conflicts_with = "dry_run")]
    diff: bool,
    /// Exit with code 0 although something is not as it was
    #[arg(long)]
    pub(super) allow_changes: bool,
    /// Never fold a ConfigMap: it stays, as overrideConfig
    #[arg(long, conflicts_with = "remove_config_maps")]
    keep_config_maps: bool,
    /// Remove ConfigMaps that were folded and to which nothing in these files refers any more
    #[arg(long)]
    remove_config_maps: bool,
    /// Rewrite resources of either version as OGXServer, for the successor of llama-stack: ogx, or ogx@1.2.5 for a version
    /// of it. Secrets and ConfigMaps that they name get the label that its operator asks for. With a version alone, such as
    /// 0.7.3 or 1.5.0, rewrite configs for it
    #[arg(long, value_name = "TARGET", value_parser = target, conflicts_with_all = ["keep_config_maps", "remove_config_maps"])]
    pub(super) to: Option<To>,
    /// With --to ogx: keep the names of the resources, in place of new ones that adopt volume and Service of the old
    #[arg(long, requires = "to")]
    same_name: bool,
    /// With --to ogx: print the steps of the move with their commands, and nothing else. They are never run
    #[arg(long, requires = "to", conflicts_with_all = ["write", "dry_run", "diff"])]
    plan: bool,
    /// With --plan: read resources and their configs from the cluster that kubectl is set to, in place of files. Nothing is
    /// changed there
    #[arg(long, requires = "plan", conflicts_with = "paths")]
    cluster: bool,
    /// With --cluster: those of this namespace alone. May be given several times
    #[arg(long, requires = "cluster", value_name = "NAMESPACE")]
    namespace: Vec<String>,
}

impl Arguments {
    /// An option that says something of resources, and nothing of configs.
    pub(super) fn of_resources(&self) -> Option<&'static str> {
        [(self.plan, "--plan"), (self.same_name, "--same-name")].into_iter().find_map(|(set, name)| set.then_some(name))
    }
}

/// The target that `--to` names, with a version that has a catalog.
#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    /// An `OGXServer` for this version of ogx.
    Ogx(&'static str),
    /// Configs for this version of llama-stack or ogx.
    Config(&'static str),
}

fn target(text: &str) -> Result<To, String> {
    let version = match text.split_once('@') {
        Some(("ogx", version)) => Some(version),
        None if text == "ogx" => None,
        _ => {
            let version = text.strip_prefix('v').unwrap_or(text);
            return Catalog::for_version(version).map(|known| To::Config(known.version())).ok_or_else(|| {
                let known = Catalog::versions().join(", ");
                format!("version {version} is not known; the target is ogx, ogx@VERSION, or for configs one of {known}")
            });
        }
    };
    match version {
        None => Ok(To::Ogx(ogx::target_version(None))),
        Some(wanted) => ogx::versions_known().find(|known| *known == wanted).map(To::Ogx).ok_or_else(|| {
            format!(
                "this version of ogx is not known; there are {}",
                ogx::versions_known().collect::<Vec<_>>().join(", ")
            )
        }),
    }
}

/// Prints or writes whole files with their resources rewritten.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let (mut sources, mut problems) = input::expand(&arguments.paths);
    let mut read = Vec::new();
    if arguments.cluster {
        match cluster::manifests(&Kubectl::of_terminal(), &arguments.namespace) {
            Ok(found) => {
                sources.push(Source::Cluster(found.text.into()));
                read = found.commands;
            }
            Err(failure) => {
                complain(&format!("cannot read the cluster: {failure}{}", way_out(&failure, arguments)));
                return Ok(FAILURE);
            }
        }
    }
    let (mut project, unreadable) = Project::read(&sources);
    project.include(&arguments.paths);
    problems.extend(unreadable);
    problems.iter().for_each(|problem| complain(problem));
    let mut code = if problems.is_empty() { CLEAN } else { FAILURE };
    if let Some(To::Ogx(version)) = arguments.to {
        let options = ide::ToOgxOptions { version, same_name: arguments.same_name };
        let outcome = to_ogx::migrate(&mut project, &sources, &options, arguments.allow_changes);
        code = code.max(outcome.code);
        if arguments.plan {
            // a plan for nothing would still stop an operator
            if !outcome.renamed.is_empty() {
                let plan = ogx_plan::plan(&outcome, arguments.same_name, &ogx_plan::applied(&project), &read);
                io::stdout().write_all(plan.as_bytes())?;
            }
            return Ok(code);
        }
        return output(&project, &outcome.files, &sources, arguments, code);
    }
    let old: Vec<Arc<str>> = project
        .named()
        .into_iter()
        .filter(|file| project.analysis_of(file).is_some_and(|known| !older(known).is_empty()))
        .collect();
    if old.is_empty() && problems.is_empty() {
        match sources.as_slice() {
            [one] => complain(&format!("{one} has no v1alpha1 resource; nothing to migrate")),
            _ => complain(&"there is no v1alpha1 resource; nothing to migrate"),
        }
    }
    // patches come with what they patch
    let (patches, resources): (Vec<_>, Vec<_>) = old.iter().partition(|file| project.is_patch(file));
    for file in resources.into_iter().chain(patches) {
        if project.analysis_of(file).is_none_or(|known| older(known).is_empty()) {
            continue;
        }
        let shown = project.shown(file);
        let before = project.clone();
        match migrate(&mut project, file, arguments) {
            Ok(all) => {
                // the last document was migrated first
                for migrated in all.iter().rev() {
                    migrated.lines().iter().for_each(|line| complain(&format!("{shown}: {line}")));
                }
                if !arguments.allow_changes && !all.iter().all(Migrated::means_the_same) {
                    code = code.max(FINDINGS);
                }
            }
            Err(why) => {
                project = before;
                complain(&format!("{shown}: not migrated: {why}"));
                code = code.max(FINDINGS);
            }
        }
    }
    output(&project, &old, &sources, arguments, code)
}

/// What may help where the cluster did not say what was asked for.
fn way_out(failure: &Failure, arguments: &Arguments) -> &'static str {
    if arguments.namespace.is_empty() && failure.is_forbidden() {
        "; name the namespaces that you may read with --namespace"
    } else {
        ""
    }
}

/// Prints or writes what changed, as the arguments say. `old`: the files that have something to migrate.
pub(super) fn output(
    project: &Project,
    old: &[Arc<str>],
    sources: &[Source],
    arguments: &Arguments,
    code: u8,
) -> io::Result<u8> {
    let stdin = sources == [Source::Stdin];
    if arguments.dry_run {
        project
            .changed()
            .iter()
            .try_for_each(|file| writeln!(io::stdout(), "would migrate {}", project.shown(file)))?;
        return Ok(code);
    }
    if arguments.diff {
        project.changed().iter().try_for_each(|file| io::stdout().write_all(project.diff(file).as_bytes()))?;
    }
    if arguments.write && !stdin {
        if let Err(problem) = project.write() {
            complain(&problem);
            return Ok(FAILURE);
        }
    } else if !arguments.diff {
        print(project, old, sources)?;
    }
    Ok(code)
}

/// Prints what was migrated: one file as it is, several as documents. A file alone is printed also if there is nothing
/// to migrate in it.
fn print(project: &Project, old: &[Arc<str>], sources: &[Source]) -> io::Result<()> {
    let changed = project.changed();
    let shown: Vec<Arc<str>> = match (old, sources) {
        ([], [one]) => vec![one.key()],
        _ => old.iter().filter(|file| changed.contains(*file)).cloned().collect(),
    };
    let mut out = String::new();
    for text in shown.iter().filter_map(|file| project.text(file)) {
        if !out.is_empty() {
            if !out.ends_with('\n') {
                out.push('\n');
            }
            if !text.trim_start().starts_with("---") {
                out.push_str("---\n");
            }
        }
        out.push_str(&text);
    }
    io::stdout().write_all(out.as_bytes())?;
    for other in changed.iter().filter(|file| !shown.contains(*file)) {
        complain(&format!("note: {} changes too; --write does it", project.shown(other)));
    }
    Ok(())
}

/// The documents with resources of the older version.
fn older(analysis: &Analysis) -> BTreeSet<usize> {
    let resources = analysis.resources().into_iter().filter(|resource| resource.version == "v1alpha1");
    resources.map(|resource| resource.document).collect()
}

/// Migrates all resources of a file, the last document first: what stands before it keeps its place.
fn migrate(project: &mut Project, file: &Arc<str>, arguments: &Arguments) -> Result<Vec<Migrated>, NotMigrated> {
    let documents = project.analysis_of(file).map(older).unwrap_or_default();
    let mut all = Vec::new();
    for document in documents.into_iter().rev() {
        if project.analysis_of(file).is_none_or(|known| !older(known).contains(&document)) {
            continue;
        }
        let migrated = rewritten(project, file, document, arguments)?;
        let foreign = project.foreign(migrated.others.iter().map(|other| &other.file));
        if !foreign.is_empty() {
            return Err(NotMigrated::Foreign(foreign));
        }
        project.apply(file, &migrated.edits, &migrated.others, migrated.deletes.as_ref());
        all.push(migrated);
    }
    Ok(all)
}

fn rewritten(
    project: &Project,
    file: &Arc<str>,
    document: usize,
    arguments: &Arguments,
) -> Result<Migrated, NotMigrated> {
    let query = project.about(file).ok_or(NotMigrated::NoResource)?;
    let analysis = project.analysis_of(file).ok_or(NotMigrated::NoResource)?;
    if arguments.remove_config_maps
        && let Some(here) = analysis.resources().into_iter().find(|resource| resource.document == document)
    {
        let offers = ide::migration_offers(&query, Span::new(here.span.start, here.span.start)).into_iter();
        let offers = offers.filter(|offer| offer.document == document && offer.remove);
        let mut possible = offers.filter_map(|offer| ide::accept_migration(&query, &offer).ok()).filter(|migrated| {
            let others = migrated.others.iter().map(|other| &other.file);
            project.may_change(others.chain(&migrated.deletes))
        });
        if let Some(migrated) = possible.next() {
            return Ok(migrated);
        }
    }
    let options = MigrateOptions { config_map: !arguments.keep_config_maps, ..MigrateOptions::default() };
    ide::migrate(&query, document, options)
}
