//! What is found in files that are looked at together.

use super::input::{Inputs, Source};
use super::report::{self, Checked, Other, Report};
use super::{CLEAN, FAILURE, FINDINGS};
use crate::ide::{self, Analysis, Severity, Workspace};
use crate::project::Project;
use crate::workspace;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that is checked.
pub(super) struct File {
    /// As it was named.
    name: String,
    /// The same however it is named.
    key: Arc<str>,
    text: Arc<str>,
    project: Option<Arc<Project>>,
}

impl File {
    /// A source with its text.
    pub(super) fn new(source: &Source, text: Arc<str>, project: Option<Arc<Project>>) -> Self {
        Self { name: source.to_string(), key: source.key(), text, project }
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

    /// What is known of others, with the llama-stack version that the team assumes.
    fn assuming(&self, workspace: Workspace) -> Workspace {
        workspace.assuming(self.project.as_ref().and_then(|project| project.llama_stack_version.as_deref()))
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
    learn_what_is_applied(files, &mut workspace);
    let numbers: HashMap<&str, usize> = files.iter().enumerate().map(|(number, file)| (&*file.key, number)).collect();
    let elsewhere = |other: &ide::Elsewhere| {
        let number = *numbers.get(other.file.as_deref()?)?;
        let span = first[number].named_at(&other.resource, None)?;
        Some(Other::new(files[number].name.clone(), &files[number].text, span))
    };
    let together = files.len() > 1 && workspace.files().next().is_some();
    let again = |(file, analysis): (&File, &Analysis)| {
        if !together || !analysis.is_relevant() {
            return file.checked(analysis, &elsewhere);
        }
        let workspace = file.assuming(workspace.seen_by(&file.key));
        file.checked(&ide::analyse(file.text.clone(), Some(analysis), &workspace), &elsewhere)
    };
    files.par_iter().zip(&first).map(again).collect()
}

/// Kustomizations and charts count also where only some files of their folders were named. They are looked for beside
/// files that repeat a name only.
fn learn_what_is_applied(files: &[File], workspace: &mut Workspace) {
    let known: HashSet<&str> = files.iter().map(|file| &*file.key).collect();
    let telling: BTreeSet<PathBuf> =
        workspace.repeating().flat_map(|file| workspace::telling(Path::new(&**file))).collect();
    for path in telling {
        let source = Source::File(path);
        let key = source.key();
        if let (false, Ok(text)) = (known.contains(&*key), source.read()) {
            workspace.set(&key, ide::analyse(text, None, &Workspace::new()).objects());
        }
    }
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
