//! What the server would say of a `config.yaml`, version by version.
//!
//! A config names no version. Where the caller knows it (from an image), the verdict is that version's. Otherwise the
//! config itself tells which versions are plausible, and only what all of them agree on is said.

mod access;
pub mod context;
pub(crate) mod environment;
mod fault;
pub mod language;
pub(crate) mod local_state;
mod memory;
mod migrate;
pub mod mounting;
mod places;
mod providers;
pub mod reading;
mod registered;
mod schema;
mod sections;
pub(crate) mod trail;
mod upgrade;
mod versions;
mod words;

pub use memory::Memory;
pub use migrate::{ConfigMigration, Difference, migrate};

use crate::catalog::Catalog;
use crate::check::Rule;
use crate::check::finding::{Finding, Severity, Tag, Target};
use crate::check::rules::{server_config as rule, substitution};
use crate::path::Path;
use access::Access;
use fault::{Fault, Kind};
use memory::Entries;
use schema::ConfigSchema;
use sections::Sections;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is asked for a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The config as plain values, variables as they are written.
    pub config: &'a Value,
    /// Places whose value a template fills in.
    pub unknown: &'a BTreeSet<Path>,
    /// The version of the server that will read it, such as `0.4.7`, if that is known. One without a catalog counts as
    /// not known.
    pub version: Option<&'a str>,
}

/// The verdict on a config.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The versions it was judged by, oldest first.
    pub versions: Vec<&'static str>,
    /// What was found, in the order of the sections.
    pub findings: Vec<Finding>,
}

/// The last version that reads keys such as `url` of inference providers, and the first that reads `base_url` in their
/// place: most configs of the old style were never looked at again when the image moved on.
const LAST_WITH_OLD_NAMES: &str = "0.3.5";
const FIRST_WITH_NEW_NAMES: &str = "0.4.7";

/// Whether a mapping has the shape of a config: providers by API, or APIs that are served, and one more section that
/// only configs have. One that is being written counts, before the first provider has a type.
#[must_use]
pub fn is_config(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    if has("kind") || has("apiVersion") {
        return false;
    }
    let is_list_of_providers = |list: &Value| {
        list.as_array().is_some_and(|items| {
            items.iter().all(|item| item.get("provider_type").is_some() || item.get("provider_id").is_some())
        })
    };
    let providers = value.get("providers").and_then(Value::as_object).filter(|apis| !apis.is_empty());
    let typed = providers.is_some_and(|apis| apis.values().any(is_list_of_providers));
    let is_api = |name: &str| !words::api(name).is_empty();
    let begun = providers
        .is_some_and(|apis| apis.iter().all(|(name, list)| is_api(name) && (list.is_null() || list.is_array())));
    let served = value
        .get("apis")
        .and_then(Value::as_array)
        .is_some_and(|apis| !apis.is_empty() && apis.iter().all(|api| api.as_str().is_some_and(is_api)));
    let own = ["image_name", "distro_name", "storage", "registered_resources"];
    let others = ["apis", "version", "server", "models", "metadata_store"];
    (typed && own.into_iter().chain(others).any(has)) || ((begun || served) && own.into_iter().any(has))
}

/// The name of a version as messages have it: `llama-stack 0.4.7`, `ogx 1.5.0`.
#[must_use]
pub fn named(version: &str) -> String {
    format!("{} {version}", versions::product(version))
}

/// Checks a `config.yaml` of the server against one version of llama-stack or ogx. It never panics, whatever the text
/// holds; what depends on the environment of the server is left open and not reported.
#[must_use]
pub fn check(request: &Request<'_>) -> Verdict {
    let known = request.version.and_then(Catalog::for_version).map(Catalog::version);
    check_among(request.config, request.unknown, known.as_slice())
}

/// Some versions as messages have them, oldest first: `llama-stack 0.4.7 to 0.7.3`.
#[must_use]
pub fn named_range(versions: &[&str]) -> String {
    match versions {
        [] => String::new(),
        [only] => named(only),
        [oldest, .., newest] if versions::product(oldest) == versions::product(newest) => {
            format!("{} to {newest}", named(oldest))
        }
        [oldest, .., newest] => format!("{} to {}", named(oldest), named(newest)),
    }
}

/// Judges a config that one of these versions will read, oldest first; empty: one of those that the config itself makes
/// plausible. `unknown`: places whose value a template fills in.
#[must_use]
pub fn check_among(config: &Value, unknown: &BTreeSet<Path>, known: &[&'static str]) -> Verdict {
    judge(config, unknown, known, &Entries::default())
}

/// The same of a config of which another text was judged before: what is known of entries that are still there is taken
/// from `memory`, and what is found of others is kept there.
#[must_use]
pub fn check_again(config: &Value, unknown: &BTreeSet<Path>, known: &[&'static str], memory: &Memory) -> Verdict {
    judge(config, unknown, known, &memory.entries(config, unknown))
}

fn judge(config: &Value, unknown: &BTreeSet<Path>, known: &[&'static str], entries: &Entries) -> Verdict {
    let candidates = if known.is_empty() { versions::plausible(config) } else { known.to_vec() };
    let twice = registered::twice(config, unknown);
    let faults = |version| faults(version, config, unknown, entries, &twice);
    let mut found: Vec<(&'static str, Vec<Fault>)> =
        candidates.into_iter().filter_map(|version| Some((version, faults(version)?))).collect();
    // Versions that read more of the keys are more plausible.
    let ignored = |faults: &[Fault]| {
        faults
            .iter()
            .filter(|fault| matches!(fault.kind, Kind::UnknownKey | Kind::RenamedKey | Kind::MissingKey))
            // A store that later versions have a default for does not tell which version was meant.
            .filter(|fault| fault.kind != Kind::MissingKey || !fault.path.starts_with(&Path::root().key("storage")))
            .count()
    };
    let least = found.iter().map(|(_, faults)| ignored(faults)).min().unwrap_or_default();
    found.retain(|(_, faults)| !known.is_empty() || ignored(faults) == least);
    let mut findings = agreed(&found);
    if let ([(LAST_WITH_OLD_NAMES, _)], []) = (found.as_slice(), known) {
        let later = faults(FIRST_WITH_NEW_NAMES).unwrap_or_default();
        let renamed = later.iter().filter(|fault| fault.kind == Kind::RenamedKey);
        let said: BTreeSet<Path> = findings.iter().map(|finding| finding.path.clone()).collect();
        let new = renamed.filter(|fault| !said.contains(&fault.path));
        findings.extend(new.map(|fault| of_some(fault, FIRST_WITH_NEW_NAMES, FIRST_WITH_NEW_NAMES)));
    }
    let is_known = |path: &Path| !unknown.contains(path);
    findings.extend(substitution::findings(config, &Path::root(), &is_known));
    Verdict { versions: found.into_iter().map(|(version, _)| version).collect(), findings }
}

/// Everything that one version has to say. `twice`: what is registered twice.
fn faults(
    version: &'static str,
    config: &Value,
    unknown: &BTreeSet<Path>,
    entries: &Entries,
    twice: &[Fault],
) -> Option<Vec<Fault>> {
    let (schema, catalog) = (ConfigSchema::of(version)?, Catalog::for_version(version)?);
    let upgraded = versions::is_ogx(version).then(|| upgrade::upgraded(config)).flatten();
    let (config, told) = upgraded.as_ref().map_or((config, None), |(config, told)| (config, told.clone()));
    let mut faults = schema.faults(config, unknown, entries);
    if !versions::skips_entries(version) {
        for fault in faults.iter_mut().filter(|fault| fault.kind == Kind::DanglingName) {
            *fault = Fault::error(Kind::WrongValue, fault.path.clone(), "wants a text here");
        }
    }
    // The server makes a text of whatever the name is.
    let name = Path::root().key(if versions::has_distro_name(version) { "distro_name" } else { "image_name" });
    faults.retain(|fault| {
        fault.path != name || fault.kind != Kind::WrongValue || name.find(config) == Some(&Value::Null)
    });
    faults.extend(told);
    let all = providers::providers(config, catalog, unknown);
    providers::check(config, catalog, &all, unknown, (entries, schema.number()), &mut faults);
    let sections = Sections {
        config,
        catalog,
        providers: &all,
        unknown,
        declared: all.iter().filter_map(|one| Some((one.api, one.id?))).collect(),
        version,
    };
    sections.check(&mut faults);
    faults.extend_from_slice(twice);
    Access { config, providers: &all, unknown, version: &versions::numbers(version) }.check(&mut faults);
    Some(faults)
}

/// The faults that all versions find, in the words of the newest, and the keys that only later ones read under another
/// name: a config that still has the old one is hardly meant to stay with the old server.
fn agreed(found: &[(&'static str, Vec<Fault>)]) -> Vec<Finding> {
    let mut by: BTreeMap<(Kind, &Path), Vec<&'static str>> = BTreeMap::new();
    for (version, faults) in found {
        for fault in faults {
            let versions = by.entry((fault.kind, &fault.path)).or_default();
            if versions.last() != Some(version) {
                versions.push(version);
            }
        }
    }
    // Where each version refuses, if for another reason, the place is wrong in any case: an API that one version has no
    // provider for, and the next one does not know.
    let refuses = |faults: &[Fault], path: &Path| {
        faults.iter().any(|fault| fault.severity == Severity::Error && fault.path == *path)
    };
    let refused = |fault: &Fault| {
        fault.severity == Severity::Error && found.iter().all(|(_, faults)| refuses(faults, &fault.path))
    };
    let Some((_, faults)) = found.last() else { return Vec::new() };
    let said = faults.iter().filter_map(|fault| {
        let versions = by.get(&(fault.kind, &fault.path))?;
        let (oldest, newest) = (versions.first()?, versions.last()?);
        let all = versions.len() == found.len();
        let said =
            |all: bool| if all { finding(fault, &subject(oldest, newest)) } else { of_some(fault, oldest, newest) };
        (all || fault.kind == Kind::RenamedKey || refused(fault)).then(|| said(all))
    });
    said.collect()
}

/// What only some of the plausible versions find: mending it might break the config for the others.
fn of_some(fault: &Fault, oldest: &str, newest: &str) -> Finding {
    let mut finding = finding(fault, &subject(oldest, newest));
    finding.fixes.iter_mut().for_each(|fix| fix.preferred = false);
    // The others start.
    if finding.severity == Severity::Error && fault.kind == Kind::RenamedKey {
        finding.severity = Severity::Warning;
    }
    finding
}

fn subject(oldest: &str, newest: &str) -> String {
    match (versions::product(oldest), versions::product(newest)) {
        _ if oldest == newest => named(newest),
        (one, other) if one == other => format!("{one} ({oldest} to {newest})"),
        (one, other) => format!("The server ({one} {oldest} to {other} {newest})"),
    }
}

fn finding(fault: &Fault, subject: &str) -> Finding {
    let message = format!("{subject} {}", fault.message);
    let mut finding = Finding::new(rule_of(fault.kind), fault.path.clone(), message).weighing(fault.severity);
    if fault.at_key {
        finding.target = Target::Key;
    }
    if fault.kind == Kind::Deprecated {
        finding.tags.push(Tag::Deprecated);
    }
    finding.fixes.extend(fault.fix.clone());
    finding
}

fn rule_of(kind: Kind) -> &'static Rule {
    match kind {
        Kind::UnknownKey => &rule::UNKNOWN_KEY,
        Kind::RenamedKey => &rule::RENAMED_KEY,
        Kind::WrongValue => &rule::WRONG_VALUE,
        Kind::MissingKey => &rule::MISSING,
        Kind::UnknownApi => &rule::UNKNOWN_API,
        Kind::UnknownType => &rule::UNKNOWN_TYPE,
        Kind::Deprecated => &rule::DEPRECATED,
        Kind::Duplicate => &rule::DUPLICATE,
        Kind::DanglingName => &rule::DANGLING,
        Kind::ApiMismatch => &rule::API_MISMATCH,
        Kind::WrongDefault => &rule::WRONG_DEFAULT,
        Kind::PlainSecret => &rule::PLAIN_SECRET,
        Kind::SharedStorage => &rule::SHARED_STORAGE,
    }
}
