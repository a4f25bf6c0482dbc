//! `llsd.toml`: what a team agreed on, for everybody who works in its repository, in an editor or not.
//!
//! The nearest one at or above a file's folder governs the file, up to the top of the repository. It alone decides then:
//! what an editor's user has set of the same things counts where there is no such file. Nothing in it names a program, a
//! host, or a file outside of its folder.

mod written;

pub use written::schema;

use crate::ide::{Assumed, Severity};
use crate::severities::Severities;
use crate::workspace;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use llsd_generator::check::{facts::GivenBases, rules};
use llsd_generator::generate::{Base, BaseSource, printed};
use llsd_generator::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use written::Written;

/// What the file is called.
pub const FILE_NAME: &str = "llsd.toml";
/// Bytes of an `llsd.toml` at most; a larger one is reported and not read.
const MAX_SIZE: u64 = 1 << 20;
/// In how many folders above a file one is looked for.
const MAX_DEPTH: usize = 64;

/// The settings of a team: one `llsd.toml`, read and checked.
#[derive(Debug)]
pub struct Project {
    /// The path of that `llsd.toml`.
    pub path: PathBuf,
    /// The llama-stack version to assume where the distribution does not tell it.
    pub llama_stack_version: Option<String>,
    /// The severities by rule, which go before those of the user's settings.
    pub severities: Severities,
    bases: Arc<GivenBases>,
    /// For which distributions these are, by name or image, and where that is written.
    based: Vec<(String, Place)>,
    /// The files that these were read from.
    base_files: Vec<PathBuf>,
    include: Option<Gitignore>,
    exclude: Gitignore,
}

/// Something in an `llsd.toml` that cannot be used. Nothing of the file is, then: half of an agreement is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file that the fault is in.
    pub path: PathBuf,
    /// Where in it, counted from 1; `None`: the file as a whole.
    pub place: Option<Place>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The file that has to change for it to be right, if that is another one.
    pub awaited: Option<PathBuf>,
}

/// A line and a column in characters, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.path.display())?;
        if let Some(Place { line, column }) = self.place {
            write!(out, ":{line}:{column}")?;
        }
        write!(out, ": {}", self.message)
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// The sentence with its place, without the name of the file.
    #[must_use]
    pub fn reason(&self) -> String {
        match self.place {
            Some(Place { line, column }) => format!("line {line}, column {column}: {}", self.message),
            None => self.message.clone(),
        }
    }
}

/// The projects of all files that were asked about. Each folder is looked at once.
#[derive(Debug, Default)]
pub struct Projects {
    known: Mutex<HashMap<PathBuf, Governing>>,
}

/// The project of a file, if it has one that can be used.
pub type Governing = Result<Option<Arc<Project>>, Arc<Fault>>;

impl Projects {
    /// What governs a file, given by an absolute path.
    ///
    /// # Errors
    /// If there is an `llsd.toml` that cannot be used.
    pub fn of(&self, file: &Path) -> Governing {
        file.parent().map_or(Ok(None), |folder| self.of_folder(folder, MAX_DEPTH))
    }

    /// Whether a file, given by an absolute path, decides what a project that was asked about says.
    pub fn depend_on(&self, file: &Path) -> bool {
        if file.file_name().is_some_and(|name| name == FILE_NAME) {
            return true;
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().any(|found| match found {
            Ok(project) => project.as_ref().is_some_and(|project| project.base_files.iter().any(|one| one == file)),
            Err(fault) => fault.awaited.as_deref() == Some(file),
        })
    }

    /// Looks again from now on.
    pub fn forget(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn of_folder(&self, folder: &Path, depth: usize) -> Governing {
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(folder) {
            return known.clone();
        }
        let path = folder.join(FILE_NAME);
        let found = if path.symlink_metadata().is_ok() {
            Project::read(path).map(|project| Some(Arc::new(project))).map_err(Arc::new)
        } else if depth == 0 || folder.join(".git").symlink_metadata().is_ok() {
            Ok(None)
        } else {
            folder.parent().map_or(Ok(None), |above| self.of_folder(above, depth - 1))
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(folder.to_path_buf(), found.clone());
        found
    }
}

impl Project {
    fn read(path: PathBuf) -> Result<Self, Fault> {
        let Some(text) = workspace::text_of(&path, MAX_SIZE) else {
            let message = "cannot be read: it is no file, no UTF-8 text, or larger than 1 MiB".to_owned();
            return Err(Fault { path, place: None, message, awaited: None });
        };
        Self::parse(path, &text)
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self, Fault> {
        let fault = |span: Option<Range<usize>>, message: String| {
            let place = span.map(|span| place(text, span.start));
            Fault { path: path.clone(), place, message, awaited: None }
        };
        let written: Written = toml::from_str(text)
            .map_err(|error| fault(error.span(), error.message().trim_end().replace('\n', "; ")))?;
        let mut severities = BTreeMap::new();
        for (rule, level) in written.severity {
            let name = rule.get_ref();
            let known = || rules::all().iter().map(|known| known.id);
            let exists = match name.strip_suffix('*') {
                Some(start) => known().any(|id| id.starts_with(start)),
                None => known().any(|id| id == name),
            };
            if !exists {
                let near = nearest(name, known()).map(|near| format!(", did you mean {near}?"));
                let near = near.unwrap_or_else(|| "; `llsd explain` lists them".to_owned());
                return Err(fault(Some(rule.span()), format!("there is no rule \"{name}\"{near}")));
            }
            severities.insert(name.clone(), Option::<Severity>::from(level));
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        let globs = |patterns: &[toml::Spanned<String>]| {
            let mut builder = GitignoreBuilder::new(folder);
            for pattern in patterns {
                builder.add_line(None, pattern.get_ref()).map_err(|error| {
                    let message = format!("\"{}\" is no pattern of files: {error}", pattern.get_ref());
                    fault(Some(pattern.span()), message)
                })?;
            }
            builder.build().map_err(|error| fault(None, error.to_string()))
        };
        let (mut bases, mut based, mut base_files) = (GivenBases::default(), Vec::new(), Vec::new());
        for (distribution, file) in written.bases {
            based.push((distribution.get_ref().clone(), place(text, distribution.span().start)));
            let path = folder.join(file.get_ref()).components().collect();
            let base = base(folder, file.get_ref()).map_err(|message| {
                let awaited = Some(PathBuf::clone(&path));
                Fault { awaited, ..fault(Some(file.span()), message) }
            })?;
            bases.by_distribution.insert(distribution.into_inner(), base);
            base_files.push(path);
        }
        let bases = Arc::new(bases);
        let include = written.include.as_deref().map(globs).transpose()?;
        let exclude = globs(&written.exclude)?;
        let llama_stack_version = match written.llama_stack_version {
            Some(version) if !is_version(version.get_ref()) => {
                let message = format!("\"{}\" is no version such as 0.4.7", version.get_ref());
                return Err(fault(Some(version.span()), message));
            }
            version => version.map(toml::Spanned::into_inner),
        };
        let severities = Severities(severities);
        Ok(Self { llama_stack_version, bases, based, base_files, severities, include, exclude, path })
    }

    /// What is assumed of distributions that do not tell it.
    #[must_use]
    pub fn assumed(&self) -> Assumed {
        let version = self.llama_stack_version.as_deref().map(Arc::from);
        Assumed { version, bases: Arc::clone(&self.bases) }
    }

    /// What `bases` has for distributions that nobody uses, a fault each. `used`: the names and images of all resources that
    /// it governs.
    pub fn unused_bases(&self, used: &BTreeSet<String>) -> impl Iterator<Item = Fault> {
        let unused = self.based.iter().filter(|(name, _)| !used.contains(name));
        unused.map(|(name, place)| {
            let near = nearest(name, used.iter().map(String::as_str)).map(|near| format!(", did you mean \"{near}\"?"));
            let message = format!(
                "nothing starts from the base config of \"{name}\": no resource has a distribution of that name or image{}",
                near.unwrap_or_default()
            );
            Fault { path: self.path.clone(), place: Some(*place), message, awaited: None }
        })
    }

    /// The folder of its file, which it governs with all below.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Whether a file, given by an absolute path, is left alone.
    #[must_use]
    pub fn leaves_out(&self, file: &Path) -> bool {
        let matches = |globs: &Gitignore| {
            let inside = file.starts_with(globs.path());
            inside && globs.matched_path_or_any_parents(file, false).is_ignore()
        };
        matches(&self.exclude) || self.include.as_ref().is_some_and(|globs| !matches(globs))
    }
}

/// A base config in the folder of an `llsd.toml`, or below.
fn base(folder: &Path, file: &str) -> Result<Base, String> {
    let inside = Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let path = folder.join(file);
    let is_there = path.symlink_metadata().is_ok();
    if !inside || (is_there && !workspace::is_within(&path, &[folder.to_path_buf()])) {
        return Err(format!("\"{file}\" is no file in the folder of {FILE_NAME}"));
    }
    read_base(&path).map_err(|problem| format!("\"{file}\" {problem}"))
}

/// Reads a base config of up to 1 MiB that a user names, and makes sure that it is one.
///
/// # Errors
/// What is wrong with the file, to stand behind its name.
pub fn read_base(path: &Path) -> Result<Base, String> {
    let text = workspace::text_of(path, MAX_SIZE)
        .ok_or_else(|| "cannot be read: it is no file, no UTF-8 text, or larger than 1 MiB".to_owned())?;
    printed(&text).map_err(|error| format!("is no config: {error}"))?;
    Ok(Base { text: text.into(), source: BaseSource::Given })
}

fn is_version(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn place(text: &str, offset: usize) -> Place {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Place { line: 1 + before.matches('\n').count(), column: 1 + before[start..].chars().count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Project, String> {
        Project::parse("/team/llsd.toml".into(), text).map_err(|fault| fault.to_string())
    }

    #[test]
    fn everything_can_be_said() {
        let project = parse(
            "llama-stack-version = \"0.4.7\"\ninclude = [\"deploy/\", \"*.llsd.yaml\"]\nexclude = [\"deploy/old/\"]\n\
             [severity]\n\"llsd::model::*\" = \"off\"\n\"llsd::model::unknown-provider\" = \"hint\"\n",
        )
        .unwrap();
        assert_eq!(project.llama_stack_version.as_deref(), Some("0.4.7"));
        assert_eq!(project.severities.of("llsd::model::other", Severity::Error), None);
        assert_eq!(project.severities.of("llsd::model::unknown-provider", Severity::Error), Some(Severity::Hint));
        for (file, left_out) in [
            ("/team/deploy/a.yaml", false),
            ("/team/deploy/old/a.yaml", true),
            ("/team/x/y.llsd.yaml", false),
            ("/team/a.yaml", true),
        ] {
            assert_eq!(project.leaves_out(Path::new(file)), left_out, "{file}");
        }
        assert!(!parse("").unwrap().leaves_out(Path::new("/team/a.yaml")));
    }

    #[test]
    fn base_configs_are_files_of_its_own_folder() {
        let folder = std::env::temp_dir().join(format!("llsd-bases-test-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("configs")).unwrap();
        std::fs::write(folder.join("configs/ours.yaml"), "version: 2\napis: [inference]\n").unwrap();
        std::fs::write(folder.join("list.yaml"), "[]\n").unwrap();
        let of = |file: &str| {
            let text = format!("[bases]\n\"quay.io/x/y:1\" = \"{file}\"\n");
            Project::parse(folder.join(FILE_NAME), &text).map_err(|fault| fault.reason())
        };
        let project = of("./configs/ours.yaml").unwrap();
        assert!(project.bases.by_distribution["quay.io/x/y:1"].text.starts_with("version: 2"));
        for (file, message) in [
            (
                "../configs/ours.yaml",
                "line 2, column 19: \"../configs/ours.yaml\" is no file in the folder of llsd.toml",
            ),
            ("/etc/passwd", "line 2, column 19: \"/etc/passwd\" is no file in the folder of llsd.toml"),
            ("list.yaml", "line 2, column 19: \"list.yaml\" is no config: "),
            ("none.yaml", "line 2, column 19: \"none.yaml\" cannot be read"),
        ] {
            let told = of(file).unwrap_err();
            assert!(told.starts_with(message), "{told}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn base_configs_for_nobody_are_told_with_the_name_that_was_meant() {
        let folder = std::env::temp_dir().join(format!("llsd-unused-bases-test-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("ours.yaml"), "version: 2\napis: [inference]\n").unwrap();
        let text = "[bases]\nstartr = \"ours.yaml\"\n\"quay.io/x/y:1\" = \"ours.yaml\"\n";
        let project = Project::parse(folder.join(FILE_NAME), text).unwrap();
        let told = |used: &[&str]| -> Vec<String> {
            let used = used.iter().map(|name| (*name).to_owned()).collect();
            project.unused_bases(&used).map(|fault| fault.reason()).collect()
        };
        assert_eq!(told(&["startr", "quay.io/x/y:1"]), Vec::<String>::new());
        let told = told(&["starter", "quay.io/x/y:1"]);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("line 2, column 1: nothing starts from the base config of \"startr\""), "{told:?}");
        assert!(told[0].ends_with(", did you mean \"starter\"?"), "{told:?}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_cannot_be_used_is_named_with_its_place() {
        for (text, message) in [
            ("exlude = []\n", "1:1: unknown field `exlude`"),
            ("\n  exclude = \"a\"\n", "2:13: invalid type: string \"a\""),
            ("[severity]\n\"port\" = \"off\"\n", "2:1: there is no rule \"port\""),
            ("[severity]\n\"llsd::model::*\" = \"loud\"\n", "2:20: unknown variant `loud`"),
            ("exclude = [\"ok\", \"a{b\"]\n", "1:18: \"a{b\" is no pattern of files"),
            ("llama-stack-version = \"latest\"\n", "1:23: \"latest\" is no version"),
            ("a = \n", "1:5: "),
        ] {
            let told = parse(text).unwrap_err();
            assert!(told.starts_with(&format!("/team/llsd.toml:{message}")), "{told}");
        }
    }
}
