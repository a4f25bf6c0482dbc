//! What the real builder makes of a kustomization or chart is judged, and each finding is placed where the text came from.
//!
//! The user's files stay as they are: a kustomization of our own in a temporary folder takes the one to be built, and
//! asks for the origins of its resources.

mod helm;
mod kustomize;
mod origin;
mod sources;

use crate::ide::{self, Assumed, Diagnostic, Span, Stop, Workspace};
use crate::subprocess::{self, Limits};
use sources::Sources;
pub use sources::shown;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// What a builder may take.
const LIMITS: Limits = Limits { patience: Duration::from_secs(60), output: 64 << 20 };

/// Where a proxy would listen if there were one: what a builder tries to fetch all the same ends here.
const NOWHERE: &str = "http://127.0.0.1:9";

/// A fault, placed: file, place, rule, sentence.
type Fault = (Arc<str>, Span, &'static str, String);

/// A file that something built is made of.
#[derive(Debug)]
pub struct Origin {
    /// Its path, as [`crate::workspace::key`] writes it.
    pub file: Arc<str>,
    /// Its text when it was built.
    pub text: Arc<str>,
    /// How many built resources begin in it.
    pub resources: usize,
    /// The names and images of their distributions.
    pub based_on: BTreeSet<String>,
    /// What is wrong with what was built, as far as it comes from here; in the order of its places in the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Builds kustomizations and charts and judges what comes out.
#[derive(Debug, Default)]
pub struct Built {
    sources: Sources,
    /// What is wrong with each file that a built resource is made of.
    files: BTreeMap<Arc<str>, Vec<Diagnostic>>,
    /// How many built resources each file is the origin of.
    resources: BTreeMap<Arc<str>, usize>,
    /// The names and images of their distributions.
    based_on: BTreeMap<Arc<str>, BTreeSet<String>>,
    said: HashSet<Fault>,
}

impl Built {
    /// Judges what `kubectl kustomize` makes of a folder, by what is assumed of distributions. `stop` ends the builder.
    ///
    /// # Errors
    /// A sentence, where it cannot be built.
    pub fn kustomization(&mut self, folder: &Path, assumed: Assumed, stop: Stop<'_>) -> Result<(), String> {
        let (text, root) = kustomize::build(folder, &mut self.sources, stop)?;
        self.judge(&text, assumed, &Sources::made, &|text| origin::kustomize(text, &root));
        Ok(())
    }

    /// Judges what `helm template` makes of a chart with these files of values, by what is assumed of distributions.
    ///
    /// # Errors
    /// A sentence, where it cannot be built.
    pub fn chart(&mut self, chart: &Path, values: &[PathBuf], assumed: Assumed) -> Result<(), String> {
        let text = helm::build(chart, values)?;
        self.judge(&text, assumed, &|_, _| None, &|text| origin::helm(text, chart));
        Ok(())
    }

    fn judge(
        &mut self,
        text: &str,
        assumed: Assumed,
        made: &dyn Fn(&Sources, &ide::ObjectKey) -> Option<ide::Made>,
        origin: &dyn Fn(&str) -> Option<PathBuf>,
    ) {
        let analysis = ide::analyse(text.into(), None, &Workspace::new().assuming(assumed));
        for resource in analysis.resources() {
            let key = (resource.namespace.clone(), resource.name.clone());
            let whole = analysis.document_text(resource.document).unwrap_or_default();
            let origin = origin(&whole).and_then(|path| self.sources.read(&path));
            let made = made(&self.sources, &key);
            // the builder knows best where it began
            let made = made.filter(|made| origin.as_ref().is_none_or(|file| made.writers[0].file == *file));
            let made = made.or_else(|| self.sources.alone(origin.as_ref()?, &key));
            let Some(made) = made.filter(|made| !made.writers.is_empty()) else { continue };
            let file = Arc::clone(&made.writers[0].file);
            self.based_on.entry(Arc::clone(&file)).or_default().extend(analysis.based_on());
            *self.resources.entry(file).or_default() += 1;
            for found in analysis.diagnostics().into_iter().filter(|one| one.document == resource.document) {
                self.place(&analysis, &made, found);
            }
        }
    }

    /// Notes a diagnostic of the built text where its text came from, unless another build has.
    fn place(&mut self, analysis: &ide::Analysis, made: &ide::Made, found: Diagnostic) {
        let (path, target) = analysis.place_of(&found);
        let place = made.place(&path, target, |file| self.sources.analysis(file));
        let (file, span) = place.unwrap_or_else(|| (Arc::clone(&made.writers[0].file), Span::new(0, 0)));
        if !self.said.insert((Arc::clone(&file), span, found.code, found.message.clone())) {
            return;
        }
        // fixes and further places are of the built text, which nobody edits
        let placed = Diagnostic { span, document: 0, fixes: Vec::new(), related: Vec::new(), elsewhere: None, ..found };
        // comments do not come through a builder
        if !self.sources.analysis(&file).is_some_and(|source| source.silences(&placed)) {
            self.files.entry(file).or_default().push(placed);
        }
    }

    /// What was found, by file.
    #[must_use]
    pub fn finish(mut self) -> Vec<Origin> {
        let names: BTreeSet<Arc<str>> = self.files.keys().chain(self.resources.keys()).cloned().collect();
        let origin = |file: Arc<str>| {
            let mut diagnostics = self.files.remove(&file).unwrap_or_default();
            diagnostics.sort_by_key(|found| (found.span.start, found.span.end));
            Origin {
                text: self.sources.analysis(&file).map(ide::Analysis::text).unwrap_or_default(),
                resources: self.resources.get(&file).copied().unwrap_or_default(),
                based_on: self.based_on.remove(&file).unwrap_or_default(),
                diagnostics,
                file,
            }
        };
        names.into_iter().map(origin).collect()
    }
}

/// Runs one of several programs that do the same: the first that is there.
fn run(programs: &[(&str, Vec<std::ffi::OsString>)], stop: Stop<'_>) -> Result<String, String> {
    for (program, arguments) in programs {
        let mut command = Command::new(program);
        command.args(arguments);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, NOWHERE);
        }
        // git would be asked for repositories
        command.env_remove("NO_PROXY").env_remove("no_proxy").env("GIT_ALLOW_PROTOCOL", "none");
        return match subprocess::run(&mut command, LIMITS, stop) {
            Err(subprocess::Failure::Start(error)) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(subprocess::Failure::Start(error)) => Err(format!("{program} cannot be run: {error}")),
            Err(failure) => Err(format!("{program} {failure}")),
            Ok(ended) if !ended.well => Err(format!("{program} refuses it: {}", complaint(&ended.errors))),
            Ok(ended) => Ok(ended.output),
        };
    }
    let names: Vec<&str> = programs.iter().map(|(program, _)| *program).collect();
    Err(format!("{} is not installed: it is not on the PATH", names.join(" or ")))
}

/// What a builder says when it fails, on one line and not endless.
fn complaint(errors: &str) -> String {
    /// Characters that are repeated of what a builder says: the cause comes first, and fits on one screen.
    const LENGTH: usize = 2_000;
    let lines: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = lines.join(" ");
    let text = text.split_once("err=").map_or(text.as_str(), |(_, text)| text).trim_matches(['"', '<', '>', ' ']);
    let text = text.trim_start_matches("error: ").trim_start_matches("Error: ");
    text.chars().take(LENGTH).collect()
}
