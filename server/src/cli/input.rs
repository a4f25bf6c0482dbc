//! Files named on the command line, and their texts.

use super::complain;
use crate::project::{Project, Projects};
use crate::workspace::{self, Host, LeftOut, Limits};
pub(super) use crate::workspace::{MAX_SIZE, with_slashes};
use rayon::prelude::*;
use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One place to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Standard input, written `-` on the command line and `<stdin>` in messages.
    Stdin,
    /// A file, by the path that was given or found.
    File(PathBuf),
    /// What `kubectl` printed of a cluster.
    Cluster(Arc<str>),
}

impl Source {
    /// The source that an argument names.
    pub(super) fn named(argument: &Path) -> Self {
        if argument.as_os_str() == "-" { Self::Stdin } else { Self::File(argument.to_path_buf()) }
    }

    /// The same for the same file, however it was named, with `/` between folders.
    pub(super) fn key(&self) -> Arc<str> {
        let Self::File(path) = self else { return Arc::from(self.to_string()) };
        workspace::key(path)
    }

    /// Where it is: what is read from standard input is in the folder of the run.
    pub(super) fn place(&self) -> Arc<str> {
        match self {
            Self::Stdin | Self::Cluster(_) => Self::File(PathBuf::from("stdin.yaml")).key(),
            Self::File(_) => self.key(),
        }
    }

    /// The kind of text around its manifests, where it is none itself.
    pub(super) fn host(&self) -> Option<Host> {
        match self {
            Self::Stdin | Self::Cluster(_) => None,
            Self::File(path) => Host::of(path),
        }
    }

    /// Reads all of it, within the limit on the size of files.
    pub(super) fn read(&self) -> Result<Arc<str>, Unreadable> {
        let refuse = |reason: String| Unreadable { source: self.clone(), reason };
        let bytes = match self {
            Self::Stdin => {
                let mut bytes = Vec::new();
                let read = io::stdin().lock().take(MAX_SIZE + 1).read_to_end(&mut bytes);
                read.map_err(|error| refuse(error.to_string()))?;
                bytes
            }
            Self::File(path) => read_file(path).map_err(refuse)?,
            Self::Cluster(text) => text.as_bytes().to_vec(),
        };
        if bytes.len() as u64 > MAX_SIZE {
            return Err(refuse(too_large()));
        }
        text(bytes).map(Arc::from).map_err(refuse)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => out.write_str("<stdin>"),
            Self::Cluster(_) => out.write_str("the cluster"),
            // GitHub attaches annotations to paths as Git has them only: without a `.` in front.
            Self::File(path) => {
                let rest = path.strip_prefix(".").ok().filter(|rest| !rest.as_os_str().is_empty());
                out.write_str(&with_slashes(rest.unwrap_or(path).display().to_string()))
            }
        }
    }
}

/// A source without a text, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    source: Source,
    reason: String,
}

impl Unreadable {
    /// The source, as it was named.
    pub(super) fn name(&self) -> String {
        self.source.to_string()
    }

    /// Why there is no text, in a few words.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot read {}: {}", self.source, self.reason)
    }
}

/// The files that the arguments of a command stand for, and what was left out on the way.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The sources, each once, in the order of the arguments.
    pub(super) sources: Vec<Source>,
    /// Arguments that stand for nothing, and what was found in folders and cannot be read.
    pub(super) unreadable: Vec<Unreadable>,
    /// What was found in folders and is not read on purpose.
    pub(super) left_out: Vec<LeftOut>,
    /// Named files that their projects leave out, and projects that cannot be used.
    refused: Vec<String>,
    projects: Projects,
}

/// The kinds of texts in directories in which manifests are looked for.
pub(super) const fn hosts(markdown: bool) -> &'static [Host] {
    if markdown { &[Host::Shell, Host::Markdown] } else { &[Host::Shell] }
}

impl Inputs {
    /// The sources that arguments name: a folder stands for the manifests below it.
    pub(super) fn find(arguments: &[PathBuf]) -> Self {
        Self::with_hosts(arguments, &[])
    }

    /// The same, with texts of these kinds that have manifests inside.
    pub(super) fn with_hosts(arguments: &[PathBuf], hosts: &'static [Host]) -> Self {
        let (mut inputs, mut seen) = (Self::default(), HashSet::new());
        for argument in arguments {
            let source = Source::named(argument);
            let found = match &source {
                Source::File(path) if path.is_dir() => inputs.walk(path, hosts),
                _ => inputs.named(source),
            };
            inputs.sources.extend(found.into_iter().filter(|source| seen.insert(source.key())));
        }
        inputs
    }

    /// What governs a source. One that cannot be used has been told as unreadable.
    pub(super) fn project(&self, source: &Source) -> Option<Arc<Project>> {
        self.projects.of(Path::new(&*source.place())).ok().flatten()
    }

    /// A source that was named itself, unless its project leaves it out.
    fn named(&mut self, source: Source) -> Vec<Source> {
        match self.govern(&source) {
            Some(project) if source != Source::Stdin && project.leaves_out(Path::new(&*source.place())) => {
                self.refused.push(format!("left out {source}: {} says so", project.path.display()));
                Vec::new()
            }
            _ => vec![source],
        }
    }

    /// The project of a source; one that cannot be used is told.
    fn govern(&mut self, source: &Source) -> Option<Arc<Project>> {
        match self.projects.of(Path::new(&*source.place())) {
            Ok(project) => project,
            Err(fault) => {
                let unreadable = Unreadable { source: Source::File(fault.path.clone()), reason: fault.reason() };
                if !self.unreadable.contains(&unreadable) {
                    self.unreadable.push(unreadable);
                }
                None
            }
        }
    }

    /// Says on standard error what is left out.
    pub(super) fn tell_left_out(&self) {
        for LeftOut { path, reason } in &self.left_out {
            complain(&format!("left out {}: {reason}", path.display()));
        }
        self.refused.iter().for_each(|line| complain(line));
    }

    fn walk(&mut self, folder: &Path, hosts: &'static [Host]) -> Vec<Source> {
        let found = workspace::walk(folder, &Limits { hosts, ..Limits::COMMAND }, &|| false);
        let (failed, left_out): (Vec<_>, Vec<_>) = found.left_out.into_iter().partition(|one| one.reason.is_failure());
        let files: Vec<Source> = found.files.into_par_iter().filter(|path| is_for_us(path)).map(Source::File).collect();
        if files.is_empty() && failed.is_empty() && left_out.is_empty() {
            let (source, reason) =
                (Source::File(folder.to_path_buf()), "no .yaml, .yml or .json manifest in this directory".to_owned());
            self.unreadable.push(Unreadable { source, reason });
        }
        let unreadable =
            |LeftOut { path, reason }| Unreadable { source: Source::File(path), reason: reason.to_string() };
        self.unreadable.extend(failed.into_iter().map(unreadable));
        self.left_out.extend(left_out);
        let ours = |source: &Source| {
            let project = self.govern(source);
            !project.is_some_and(|project| project.leaves_out(Path::new(&*source.place())))
        };
        files.into_iter().filter(ours).collect()
    }
}

/// The sources that arguments name, and what cannot be read. What is left out on purpose is said on standard error.
pub(super) fn expand(arguments: &[PathBuf]) -> (Vec<Source>, Vec<Unreadable>) {
    let inputs = Inputs::find(arguments);
    inputs.tell_left_out();
    (inputs.sources, inputs.unreadable)
}

/// Whether a file of a folder is a manifest. Most files of JSON are something else altogether.
fn is_for_us(path: &Path) -> bool {
    workspace::is_manifest(path)
        || workspace::text_of(path, MAX_SIZE).is_some_and(|text| workspace::may_have_resources(&text))
}

/// Also from a pipe, such as `<(kustomize build)`; of everything only as much as may be.
fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let told = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    };
    let found = fs::metadata(path).map_err(told)?;
    if found.is_dir() {
        return Err("is a directory; name one file".to_owned());
    }
    if found.len() > MAX_SIZE {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(told)?.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(told)?;
    Ok(bytes)
}

fn too_large() -> String {
    format!("larger than {} MiB", MAX_SIZE >> 20)
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err("is UTF-16; save it as UTF-8".to_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count();
        format!("is not UTF-8 (line {line}); save it as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn other_encodings_are_named() {
        assert_eq!(text(b"\xFF\xFEa\0".to_vec()).unwrap_err(), "is UTF-16; save it as UTF-8");
        assert_eq!(text(b"a: 1\nb: \xE4".to_vec()).unwrap_err(), "is not UTF-8 (line 2); save it as UTF-8");
        assert_eq!(text("é".into()).unwrap(), "é");
    }
}
