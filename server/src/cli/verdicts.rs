//! What is found in files that are looked at together.

use super::bases::assumed;
use super::input::{Inputs, Source};
use super::report::{self, Checked, Other, Report};
use super::{CLEAN, FAILURE, FINDINGS};
use crate::ide::{self, Analysis, Severity, Workspace};
use crate::project::Project;
use crate::surroundings;
use llsd_generator::check::facts::GivenBases;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A file that is checked.
pub(super) struct File {
    /// The name of the input, as it is printed.
    name: String,
    /// The same however it is named.
    key: Arc<str>,
    /// As it is looked at: of a script or page the manifests in it.
    text: Arc<str>,
    project: Option<Arc<Project>>,
    /// The base config that the user named.
    base: Option<Arc<GivenBases>>,
}

impl File {
    /// A source with its text.
    pub(super) fn new(source: &Source, text: Arc<str>, project: Option<Arc<Project>>) -> Self {
        let text = source.host().map_or(text.clone(), |host| host.manifests(&text).into());
        Self { name: source.to_string(), key: source.key(), text, project, base: None }
    }

    /// The same, with the base config that the user named.
    pub(super) fn on(self, base: Option<&Arc<GivenBases>>) -> Self {
        Self { base: base.cloned(), ..self }
    }

    /// Reads sources; what cannot be read is noted in `inputs`.
    pub(super) fn read(sources: Vec<Source>, inputs: &mut Inputs) -> Vec<Self> {
        let texts: Vec<_> = sources.par_iter().map(Source::read).collect();
        let mut files = Vec::with_capacity(texts.len());
        for (source, text) in sources.into_iter().zip(texts) {
            match text {
                Ok(text) => files.push(Self::new(&source, text, inputs.project(&source))),
                Err(problem) => inputs.unreadable.push(problem),
            }
        }
        files
    }

    /// What is known of others, with what the team or the user assumes.
    fn assuming(&self, workspace: Workspace) -> Workspace {
        workspace.assuming(assumed(self.project.as_deref(), self.base.as_ref()))
    }

    fn checked(&self, analysis: &Analysis, elsewhere: report::Elsewhere<'_>) -> Checked {
        let mut checked = Checked::new(self.name.clone(), analysis, elsewhere);
        if let Some(project) = &self.project {
            checked.weigh(&project.severities);
        }
        checked
    }
}

/// Every file on its own, then once more those that may have to do with others.
pub(super) fn check(files: &[File]) -> Vec<Checked> {
    let alone = |file: &File| file.assuming(Workspace::new());
    let first: Vec<Analysis> =
        files.par_iter().map(|file| ide::analyse(file.text.clone(), None, &alone(file))).collect();
    let mut workspace = Workspace::new();
    for (file, analysis) in files.iter().zip(&first) {
        workspace.set(&file.key, analysis.objects());
    }
    let relevant = files.iter().zip(&first).filter(|(_, analysis)| analysis.may_be_relevant());
    let relevant = relevant.map(|(file, _)| PathBuf::from(&*file.key)).collect();
    surroundings::learn(&relevant, &mut workspace);
    let numbers: HashMap<&str, usize> = files.iter().enumerate().map(|(number, file)| (&*file.key, number)).collect();
    let elsewhere = |other: &ide::Elsewhere| {
        let number = *numbers.get(other.file.as_deref()?)?;
        let span = first[number].named_at(&other.resource, None)?;
        Some(Other::new(files[number].name.clone(), &files[number].text, span))
    };
    let together = workspace.files().nth(1).is_some();
    let again = |(file, analysis): (&File, &Analysis)| {
        if !together || !analysis.may_be_relevant() {
            return file.checked(analysis, &elsewhere);
        }
        let workspace = file.assuming(workspace.seen_by(&file.key));
        file.checked(&ide::analyse(file.text.clone(), Some(analysis), &workspace), &elsewhere)
    };
    files.par_iter().zip(&first).map(again).collect()
}

/// The exit code that a report stands for.
pub(super) fn code(report: &Report) -> u8 {
    let mut found = report.files.iter().flat_map(|file| &file.diagnostics);
    if !report.unreadable.is_empty() {
        FAILURE
    } else if found.any(|found| found.severity <= Severity::Warning) {
        FINDINGS
    } else {
        CLEAN
    }
}
