//! A config rewritten for another version of the server.
//!
//! What the other version reads, its catalog and schema say; how things are called there, the table in `changes.rs`.
//! Everything that has another name or place there is renamed or moved, what has no successor is removed and told, and so
//! is what the version needs besides. What no version reads stays: it means nothing before and after.

mod changes;
mod draft;
mod providers;
mod sections;

use super::schema::ConfigSchema;
use super::{Request, check, named, versions};
use crate::catalog::Catalog;
use crate::check::finding::{FixEdit, Severity};
use crate::check::rules::substitution;
use crate::distribution::BaseConfig;
use crate::document::Plain;
use crate::fold::{Class, Line, LineKind};
use crate::path::Path;
use draft::Draft;
use serde_json::Value;
use std::collections::BTreeSet;

/// Something that does not mean the same in the other version.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Whether something is lost, changed, added, or cannot be told.
    pub class: Class,
    /// Its place in the config as it was.
    pub path: Path,
    /// What happens to it and why; without the place, no full stop.
    pub message: String,
}

/// A config rewritten for another version, and what is to be said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigMigration {
    /// The changes of the text, each after those before it.
    pub edits: Vec<FixEdit>,
    /// What does not mean the same, worst first.
    pub differences: Vec<Difference>,
    /// What was renamed or moved and means the same.
    pub notes: Vec<String>,
    /// The scalars that are as they were: the place of each before and after. Nothing is said of a way back to an older
    /// version.
    pub kept: Vec<(Path, Path)>,
    /// The config as it is once all edits are made.
    pub value: Value,
}

impl ConfigMigration {
    /// The versions that a config may be rewritten for next: the newest of llama-stack and of ogx, as far as they are
    /// newer than all of `versions`, oldest first.
    #[must_use]
    pub fn newer_versions(versions: &[&str]) -> Vec<&'static str> {
        let all = Catalog::versions();
        let newest = [false, true].map(|ogx| all.iter().rev().find(|version| versions::is_ogx(version) == ogx));
        let is_newer = |version: &&String| versions.iter().all(|other| is_older(other, version));
        newest.into_iter().flatten().filter(is_newer).map(String::as_str).collect()
    }

    /// Whether nothing is lost, changed or left open. There may be more than there was.
    #[must_use]
    pub fn means_the_same(&self) -> bool {
        self.differences.iter().all(|one| one.class == Class::Added)
    }

    /// What there is to say, worst first.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let line = |one: &Difference| Line {
            kind: LineKind::Difference(one.class),
            text: match one.path.to_string() {
                path if path.is_empty() => one.message.clone(),
                path => format!("{path}: {}", one.message),
            },
        };
        let (added, others): (Vec<&Difference>, Vec<_>) =
            self.differences.iter().partition(|one| one.class == Class::Added);
        let notes = self.notes.iter().map(|text| Line { kind: LineKind::Note, text: text.clone() });
        others.into_iter().map(line).chain(notes).chain(added.into_iter().map(line)).collect()
    }
}

/// Rewrites a config for version `to`. `from`: the version that reads it now, where that is known; `unknown`: places that
/// a template fills in, which stay as they are. `None` if there is no catalog of version `to`.
#[must_use]
pub fn migrate(config: &Value, unknown: &BTreeSet<Path>, from: Option<&str>, to: &str) -> Option<ConfigMigration> {
    let catalog = Catalog::for_version(to)?;
    let to = catalog.version();
    let from = from.and_then(Catalog::for_version).map(Catalog::version);
    let from = from.or_else(|| {
        let plausible = check(&Request { config, unknown, version: None }).versions;
        plausible.iter().find(|version| **version == to).or(plausible.last()).copied()
    });
    let task = Task {
        from,
        to,
        catalog,
        schema: ConfigSchema::of(to)?,
        base: BaseConfig::of_version("starter", to)
            .map(|base| Plain::read(&llsd_yaml::parse_document(base.text)).value)
            .unwrap_or_default(),
        unknown,
    };
    let mut draft = Draft::new(config);
    task.variables(&mut draft);
    let gone = task.providers(&mut draft);
    task.sections(&mut draft);
    task.apis(&mut draft, &gone);
    task.dangling(&mut draft, &gone);
    task.needs(&mut draft);
    task.left(&mut draft);
    if from != Some(to) || !draft.edits.is_empty() {
        task.foreign(&mut draft);
    }
    let mut differences = std::mem::take(&mut draft.differences);
    let backward = from.filter(|from| is_older(to, from));
    differences.extend(backward.map(|from| Difference {
        class: Class::Unknown,
        path: Path::root(),
        message: format!(
            "{} is older than {}: what it reads in another form may be lost without a word here. Compare before you rely on it",
            named(to),
            named(from)
        ),
    }));
    differences.sort_by_key(|one| one.class);
    Some(ConfigMigration {
        kept: if backward.is_some() { Vec::new() } else { draft.kept(config) },
        edits: draft.edits,
        notes: draft.notes,
        value: draft.value,
        differences,
    })
}

/// Whether the version `one` came before `other`; both have catalogs.
fn is_older(one: &str, other: &str) -> bool {
    let age = |version: &str| Catalog::versions().iter().position(|known| known == version);
    age(one) < age(other)
}

/// What a rewriting goes by.
struct Task<'t> {
    /// The version that reads the config now, as far as it can be told.
    from: Option<&'static str>,
    to: &'static str,
    catalog: &'static Catalog,
    schema: &'static ConfigSchema,
    /// The starter's base config of the version: how it is meant to be used.
    base: Value,
    unknown: &'t BTreeSet<Path>,
}

impl Task<'_> {
    /// The version as messages have it.
    fn name(&self) -> String {
        named(self.to)
    }

    /// Whether a template decides about a place, or about something in it.
    fn is_open(&self, draft: &Draft, now: &Path) -> bool {
        let before = draft.before(now);
        self.unknown.iter().any(|open| open.starts_with(&before) || before.starts_with(open))
    }

    /// Writes variables in the form that the server puts in.
    fn variables(&self, draft: &mut Draft) {
        for finding in substitution::findings(&draft.value, &Path::root(), &|path| !self.unknown.contains(path)) {
            let Some(fix) = finding.fixes.iter().find(|fix| fix.preferred) else { continue };
            for edit in &fix.edits {
                if let FixEdit::Replace { path, value } = edit {
                    let message =
                        format!("{} is written {value}, which the server puts in", as_text(path, &draft.value));
                    draft.tell(Class::Change, path, message);
                    draft.replace(path, value.clone());
                }
            }
        }
    }

    /// What the version still finds wrong, and did not find before the config was rewritten.
    fn left(&self, draft: &mut Draft) {
        let unknown = draft.now(self.unknown);
        let verdict = check(&Request { config: &draft.value, unknown: &unknown, version: Some(self.to) });
        for finding in verdict.findings.iter().filter(|finding| finding.severity == Severity::Error) {
            draft.tell(Class::Unknown, &finding.path, &*finding.message);
        }
    }
}

/// A scalar as a message quotes it.
fn as_text(path: &Path, value: &Value) -> String {
    path.find(value).and_then(Value::as_str).map_or_else(String::new, |text| format!("\"{text}\""))
}
