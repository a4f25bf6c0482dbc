//! Another name for the same thing, everywhere it stands.

mod write;

pub(crate) use write::edits;

use super::names::{Form, LocatedOccurrence, Query, Symbol, TextId, is_config_key};
use super::types::{Diagnostic, TextEdit};
use super::{Analysis, Severity, Span, analyse};
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// What llama-stack's own tool groups start with.
const BUILTIN: &str = "builtin::";

/// How many lines at the start of a file may say that it is generated.
const HEAD: usize = 5;

/// Why something cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RenameRefused {
    /// There is no name, or one that nobody here decides on.
    #[error("There is no name here that could be changed")]
    NoName,
    /// Programs know the thing by this name.
    #[error("{noun} \"{name}\" is known by this name outside these files")]
    Fixed {
        /// The kind of thing, as a noun for the message.
        noun: &'static str,
        /// The name that was asked about.
        name: String,
    },
    /// It is declared in a base config, which comes with the image.
    #[error("{noun} \"{name}\" comes with the base config of distribution \"{distribution}\", which cannot be changed")]
    InBase {
        /// The kind of thing, as a noun for the message.
        noun: &'static str,
        /// The name that was asked about.
        name: String,
        /// The distribution whose base config has the name.
        distribution: String,
    },
    /// It stands for something of the base config because it has the same name.
    #[error(
        "{noun} \"{name}\" replaces the one of the base config of distribution \"{distribution}\": with another name it \
         would be a second one"
    )]
    ReplacesBase {
        /// The kind of thing, as a noun for the message.
        noun: &'static str,
        /// The name that was asked about.
        name: String,
        /// The distribution whose base config has the name.
        distribution: String,
    },
    /// The base config reads it.
    #[error(
        "The base config of distribution \"{distribution}\" reads the environment variable \"{name}\" by this name"
    )]
    ReadByBase {
        /// The name of the environment variable.
        name: String,
        /// The distribution whose base config reads it.
        distribution: String,
    },
    /// No file of the workspace declares it.
    #[error("{noun} \"{name}\" is in no file of the workspace: its references would point at another one")]
    Undeclared {
        /// The kind of thing, as a noun for the message.
        noun: &'static str,
        /// The name that was asked about.
        name: String,
    },
    /// Files refer to it that could mean another one.
    #[error("{noun} \"{name}\" is declared in several files, and {file} does not say which one it means")]
    Ambiguous {
        /// The kind of thing, as a noun for the message.
        noun: &'static str,
        /// The name that was asked about.
        name: String,
        /// The file that refers to it.
        file: String,
    },
    /// A tool writes the file.
    #[error("{file} is generated, so that a change would be lost")]
    Generated {
        /// The name of the file.
        file: String,
    },
    /// It stands at an anchor that serves other things too.
    #[error("\"{name}\" is written as the alias {alias}: change the text at its anchor")]
    Alias {
        /// The name that was asked about.
        name: String,
        /// The alias as it is written, with its `*`.
        alias: String,
    },
    /// The new name is no name.
    #[error("\"{name}\" cannot be the name of the {noun}: {why}")]
    Invalid {
        /// The kind of thing, as a noun for the message.
        noun: &'static str,
        /// The name that was asked for.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The new name is taken.
    #[error("There is a {noun} \"{name}\" already")]
    Taken {
        /// The kind of thing, as a noun for the message.
        noun: &'static str,
        /// The name that was asked for.
        name: String,
    },
    /// The file would have an error that it does not have now.
    #[error("With this name the resource would be wrong: {message}")]
    Breaks {
        /// The message of the finding that the rename would bring.
        message: String,
    },
}

/// The changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdits {
    /// The name of the file.
    pub file: Arc<str>,
    /// Its text, which the edits refer to.
    pub text: Arc<str>,
    /// The edits, in the order of their places.
    pub edits: Vec<TextEdit>,
}

/// What renaming at `offset` would change: its place, and its name as it is written there.
///
/// # Errors
/// Why it cannot be renamed.
pub fn prepare(query: &Query<'_>, offset: usize) -> Result<(Span, String), RenameRefused> {
    let found = query.at(offset).ok_or(RenameRefused::NoName)?;
    targets(query, &found)?;
    Ok((found.span(), found.written()))
}

/// The changes that give the thing at `offset` the name `name`, file by file; none if it has that name already.
///
/// # Errors
/// Why it cannot have this name, or cannot be renamed at all.
pub fn rename(query: &Query<'_>, offset: usize, name: &str) -> Result<Vec<FileEdits>, RenameRefused> {
    let found = query.at(offset).ok_or(RenameRefused::NoName)?;
    let uses = targets(query, &found)?;
    let new = renamed(&found.occurrence.symbol, name);
    let noun = new.noun();
    if new == found.occurrence.symbol {
        return Ok(Vec::new());
    }
    if let Some(why) = write::fault(&found.occurrence.symbol, &new) {
        return Err(RenameRefused::Invalid { noun, name: name.to_owned(), why });
    }
    if is_taken(query, &found, &new) {
        return Err(RenameRefused::Taken { noun, name: new.name().to_owned() });
    }
    let mut files: BTreeMap<Arc<str>, (Analysis, Vec<TextEdit>)> = BTreeMap::new();
    for one in &uses {
        let (TextId::File(file), Some(analysis)) = (&one.place, one.analysis()) else { continue };
        let (_, edits) = files.entry(file.clone()).or_insert_with(|| (analysis.clone(), Vec::new()));
        edits.extend(write::edits(analysis, one, &new));
    }
    for (_, edits) in files.values_mut() {
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        edits.dedup();
    }
    if let Some(message) = broken(&files) {
        return Err(RenameRefused::Breaks { message });
    }
    let change = |(file, (analysis, edits)): (Arc<str>, (Analysis, Vec<TextEdit>))| FileEdits {
        file,
        text: analysis.text(),
        edits,
    };
    Ok(files.into_iter().map(change).collect())
}

/// The places to change, all in files.
fn targets(query: &Query<'_>, found: &LocatedOccurrence) -> Result<Vec<LocatedOccurrence>, RenameRefused> {
    let symbol = &found.occurrence.symbol;
    let (noun, name) = (symbol.noun(), found.written());
    let fixed = || RenameRefused::Fixed { noun: capitalized(noun), name: name.clone() };
    let uses = match symbol {
        Symbol::Resource(_) | Symbol::Api(_) | Symbol::Distribution(_) => return Err(fixed()),
        Symbol::ConfigMapKey(_, key) if is_config_key(key) => return Err(fixed()),
        Symbol::Secret(_) | Symbol::SecretKey(..) | Symbol::ConfigMap(_) | Symbol::ConfigMapKey(..) => {
            let uses = query.uses(found);
            unambiguous(query, found, &uses)?;
            uses
        }
        _ => query.joined(found),
    };
    let base = uses.iter().find_map(|one| match &one.place {
        TextId::Base(distribution) => Some(distribution.clone()),
        _ => None,
    });
    let in_files: Vec<LocatedOccurrence> =
        uses.into_iter().filter(|one| matches!(one.place, TextId::File(_))).collect();
    let declared = in_files.iter().any(LocatedOccurrence::is_declaration);
    let noun = capitalized(noun);
    match base {
        Some(distribution) if matches!(symbol, Symbol::Variable(_)) => {
            return Err(RenameRefused::ReadByBase { name, distribution });
        }
        Some(distribution) if declared => return Err(RenameRefused::ReplacesBase { noun, name, distribution }),
        Some(distribution) => return Err(RenameRefused::InBase { noun, name, distribution }),
        None if !declared => return Err(RenameRefused::Undeclared { noun, name }),
        None => {}
    }
    for one in &in_files {
        if let (TextId::File(file), Some(analysis)) = (&one.place, one.analysis())
            && is_generated(analysis)
        {
            return Err(RenameRefused::Generated { file: file.to_string() });
        }
        if one.occurrence.form == Form::Alias && !write::is_anchored_at(one, &in_files) {
            return Err(RenameRefused::Alias { name, alias: one.written() });
        }
    }
    // what stands at the anchor is changed there
    Ok(in_files.into_iter().filter(|one| one.occurrence.form != Form::Alias).collect())
}

/// Whether a file says of itself that a tool writes it.
fn is_generated(analysis: &Analysis) -> bool {
    let head = analysis.document(0).map(|located| located.document.tree().text()).unwrap_or_default();
    head.lines().take(HEAD).any(|line| line.starts_with('#') && line.contains("DO NOT EDIT"))
}

/// Checks that each place that refers to the object can mean this one only.
fn unambiguous(query: &Query<'_>, found: &LocatedOccurrence, uses: &[LocatedOccurrence]) -> Result<(), RenameRefused> {
    let declaring = query.declaring_files(found);
    if declaring.len() < 2 {
        return Ok(());
    }
    match uses.iter().find(|one| !declaring.contains(&one.place)) {
        Some(LocatedOccurrence { place: TextId::File(file), .. }) => Err(RenameRefused::Ambiguous {
            noun: capitalized(found.occurrence.symbol.noun()),
            name: found.occurrence.symbol.name().to_owned(),
            file: file.to_string(),
        }),
        _ => Ok(()),
    }
}

/// The symbol under its new name.
fn renamed(symbol: &Symbol, name: &str) -> Symbol {
    let name = name.trim().to_owned();
    match symbol {
        Symbol::Resource((namespace, _)) => Symbol::Resource((namespace.clone(), name)),
        Symbol::Secret((namespace, _)) => Symbol::Secret((namespace.clone(), name)),
        Symbol::ConfigMap((namespace, _)) => Symbol::ConfigMap((namespace.clone(), name)),
        Symbol::SecretKey(object, _) => Symbol::SecretKey(object.clone(), name),
        Symbol::ConfigMapKey(object, _) => Symbol::ConfigMapKey(object.clone(), name),
        Symbol::Provider { api, .. } => Symbol::Provider { api: api.clone(), id: name },
        Symbol::Model(_) => Symbol::Model(name),
        Symbol::Shield(_) => Symbol::Shield(name),
        Symbol::ToolGroup(_) if name.contains("::") => Symbol::ToolGroup(name),
        // what stands in front says what serves it, and stays
        Symbol::ToolGroup(old) => {
            let served = old.rsplit_once("::").map_or(BUILTIN, |(served, _)| &old[..served.len() + 2]);
            Symbol::ToolGroup(format!("{served}{name}"))
        }
        Symbol::Api(_) => Symbol::Api(name),
        Symbol::Variable(_) => Symbol::Variable(name),
        Symbol::Distribution(_) => Symbol::Distribution(name),
        Symbol::Backend(_) => Symbol::Backend(name),
    }
}

/// Whether something else has the new name already.
fn is_taken(query: &Query<'_>, found: &LocatedOccurrence, new: &Symbol) -> bool {
    let mut other = found.clone();
    other.occurrence.symbol = new.clone();
    match new {
        Symbol::Secret(_) | Symbol::ConfigMap(_) => {
            query.named(new).iter().any(|one| one.occurrence.symbol.is_same(new))
        }
        Symbol::SecretKey(..) | Symbol::ConfigMapKey(..) => !query.uses(&other).is_empty(),
        _ => !query.joined(&other).is_empty(),
    }
}

/// The message of an error that the edits bring into one of the files.
fn broken(files: &BTreeMap<Arc<str>, (Analysis, Vec<TextEdit>)>) -> Option<String> {
    let edited = |(file, (analysis, edits)): (&Arc<str>, &(Analysis, Vec<TextEdit>))| {
        let mut text = analysis.text().to_string();
        for edit in edits.iter().rev() {
            text.replace_range(edit.span.start..edit.span.end, &edit.new_text);
        }
        (file.clone(), analyse(text.into(), Some(analysis), analysis.workspace()))
    };
    let after: Vec<(Arc<str>, Analysis)> = files.iter().map(edited).collect();
    for (file, new) in &after {
        let (old, _) = files.get(file)?;
        // what the other files will say then
        let mut workspace = old.workspace().clone();
        for (other, analysis) in after.iter().filter(|(other, _)| other != file) {
            workspace.set(other, analysis.objects());
        }
        let new = analyse(new.text(), Some(new), &workspace).diagnostics();
        let before = errors(&old.diagnostics());
        let more = errors(&new).into_iter().find(|(code, count)| before.get(code).is_none_or(|old| old < count));
        if let Some((code, _)) = more {
            let mut errors = new.into_iter().filter(|one| one.severity == Severity::Error);
            return errors.find(|one| one.code == code).map(|one| one.message);
        }
    }
    None
}

/// How many errors there are of each rule.
fn errors(all: &[Diagnostic]) -> BTreeMap<&'static str, usize> {
    let mut codes = BTreeMap::new();
    for one in all.iter().filter(|one| one.severity == Severity::Error) {
        *codes.entry(one.code).or_default() += 1;
    }
    codes
}

/// A noun at the start of a sentence.
fn capitalized(noun: &'static str) -> &'static str {
    match noun {
        "key of the Secret" => "The key",
        "key of the ConfigMap" => "The key",
        "provider" => "Provider",
        "model" => "Model",
        "shield" => "Shield",
        "tool group" => "Tool group",
        "environment variable" => "Environment variable",
        "storage backend" => "Storage backend",
        "distribution" => "Distribution",
        "resource" => "Resource",
        other => other,
    }
}
