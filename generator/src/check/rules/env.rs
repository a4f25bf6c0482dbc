//! Environment variables. Source: Kubernetes (of two entries with one name the last counts, and server-side apply
//! refuses the list), the base configs (a variable that no `${env.…}` names has no effect on them), and what llama-stack
//! makes of the values.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::mounted_files::started_with;
use super::super::rule::{Group, Rule};
use super::endpoint::{has_scheme, is_bare, no_path, no_scheme};
use crate::api::ApiVersion;
use crate::api::v1alpha2::api_name;
use crate::distribution::BaseConfig;
use crate::generate::{Data, Tracked, plain_id};
use crate::nearest::nearest_within;
use crate::path::Path;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

/// Letters in which a variable may differ from the one that was meant.
const MAX_TYPOS: usize = 2;

/// Words that may stand in a variable's name or not without making it another one. Others, such as EMBEDDING, tell that a
/// second server is meant.
const FILLERS: [&str; 9] = ["API", "BASE", "ENDPOINT", "HOST", "HTTP", "INFERENCE", "REMOTE", "SERVER", "SERVICE"];

/// What variables begin with that libraries read by themselves, or the server.
const OF_LIBRARIES: [&str; 5] = ["AWS_", "AZURE_", "GOOGLE_", "VERTEX_", "SQLITE_STORE_DIR"];

pub static DUPLICATE: Rule = Rule {
    id: "llsd::env::duplicate",
    severity: Severity::Warning,
    summary: "An environment variable is set twice.",
    why: "The last entry counts, and the first only looks as if it did.",
    example: "env:\n  - {name: VLLM_URL, value: http://a:8000/v1}\n  - {name: VLLM_URL, value: http://b:8000/v1}",
    fixes: Some(without_the_other),
    ..Rule::PLAIN
};

pub static UNREAD: Rule = Rule {
    id: "llsd::env::unread",
    severity: Severity::Warning,
    summary: "The config does not read the variable, but one with a similar name.",
    why: "The server would start as if the variable were not set.",
    example: "server:\n  distribution: {name: starter}\n  containerSpec:\n    env:\n      - {name: VLLM_API_URL, value: http://vllm:8000/v1}",
    ..Rule::PLAIN
};

pub static WITHOUT_EFFECT: Rule = Rule {
    id: "llsd::env::without-effect",
    severity: Severity::Information,
    summary: "Nothing in the config reads the variable, which the configs of other distributions do.",
    why: "It looks as if it set something up; the server starts without it.",
    example: "server:\n  distribution: {name: remote-vllm}\n  containerSpec:\n    env:\n      - {name: OLLAMA_URL, value: http://ollama:11434}",
    ..Rule::PLAIN
};

pub static REPLACED: Rule = Rule {
    id: "llsd::env::replaced",
    severity: Severity::Warning,
    summary: "Nothing reads the variable any more, because a provider of the resource replaces the one that read it.",
    why: "The value looks as if it had an effect; the server uses what the resource's provider says. An overlay that sets the variable no longer changes anything.",
    example: "providers:\n  inference:\n    - {provider: vllm, endpoint: http://a:8000/v1}\nworkload:\n  overrides:\n    env:\n      - {name: VLLM_URL, value: http://b:8000/v1}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group =
    Group { rules: &[&DUPLICATE, &UNREAD, &WITHOUT_EFFECT, &REPLACED], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let variables = context.env();
    let mut seen: HashMap<&str, &Path> = HashMap::new();
    for (name, path, _) in &variables {
        if let Some(first) = seen.insert(name, path) {
            let message = format!("{name} is set twice: this entry counts, the earlier one does not");
            let finding = Finding::new(&DUPLICATE, path.key("name"), message);
            report.add(finding.with_related(first.key("name"), "The other entry"));
        }
    }
    if variables.is_empty() {
        return;
    }
    // What ogx's images bring is not known.
    let knows_base = context.version != ApiVersion::OgxV1Beta1 && runs_base(context);
    let base = context.base().filter(|_| knows_base);
    let uses = base.as_deref().map(uses_of).unwrap_or_default();
    for (name, path, _) in &variables {
        let read = uses.get(name).map(Vec::as_slice).unwrap_or_default();
        address(context, name, path, read, report);
    }
    if base.is_none() {
        if let Some((name, text)) = started_with(context) {
            let read = read_by(text);
            let reader = format!("The config in ConfigMap \"{name}\"");
            for (name, path, _) in variables.iter().filter(|(name, ..)| !read.contains(name)) {
                unread(&reader, name, path, &read, &seen, report);
            }
        }
        return;
    }
    let stays = |place: &&Use<'_>| !is_replaced(context, place);
    let read: BTreeSet<&str> =
        uses.iter().filter(|(_, uses)| uses.iter().any(|one| stays(&one))).map(|(name, _)| *name).collect();
    for (name, path, _) in &variables {
        match uses.get(name) {
            None => unread("The distribution's config", name, path, &read, &seen, report),
            Some(uses) if !read.contains(name) => {
                let by = uses.iter().find_map(|one| one.provider.as_ref().map(|provider| provider.id));
                replaced(name, path, by.unwrap_or_default(), report);
            }
            Some(_) => {}
        }
    }
}

/// A place of a config that reads a variable.
struct Use<'c> {
    /// The provider whose config reads it.
    provider: Option<Reader<'c>>,
}

/// The setting of a provider that takes its value from a variable.
#[derive(Clone, Copy)]
struct Reader<'c> {
    api: &'c str,
    id: &'c str,
    provider_type: &'c str,
    /// The setting, where its whole value is the variable's.
    key: Option<&'c str>,
}

/// Every variable that a config reads, with the places. As deep as configs are read.
fn uses_of(config: &Tracked) -> BTreeMap<&str, Vec<Use<'_>>> {
    let mut found = BTreeMap::new();
    for (section, value) in config.as_map().into_iter().flatten() {
        let Some(apis) = value.as_map().filter(|_| section == "providers") else {
            collect(value, None, &mut found);
            continue;
        };
        for (api, list) in apis {
            for entry in list.as_list().unwrap_or_default() {
                let (Some(id), Some(kind)) = (entry.text_of("provider_id"), entry.text_of("provider_type")) else {
                    continue;
                };
                let reader = Reader { api, id: plain_id(id), provider_type: kind, key: None };
                for (field, value) in entry.as_map().into_iter().flatten() {
                    match value.as_map().filter(|_| field == "config") {
                        Some(settings) => settings.iter().for_each(|(key, value)| {
                            collect(value, Some(Reader { key: Some(key), ..reader }), &mut found);
                        }),
                        None => collect(value, Some(reader), &mut found),
                    }
                }
            }
        }
    }
    found
}

fn collect<'c>(config: &'c Tracked, provider: Option<Reader<'c>>, found: &mut BTreeMap<&'c str, Vec<Use<'c>>>) {
    let part = provider.map(|reader| Reader { key: None, ..reader });
    match &config.data {
        Data::Text(text) => {
            for (start, mark) in text.match_indices("${env.") {
                let rest = &text[start + mark.len()..];
                let end = rest.find([':', '}']).unwrap_or(rest.len());
                let whole = start == 0 && rest.find('}') == Some(rest.len() - 1);
                found.entry(&rest[..end]).or_default().push(Use { provider: if whole { provider } else { part } });
            }
        }
        Data::List(items) => items.iter().for_each(|item| collect(item, part, found)),
        Data::Map(entries) => entries.values().for_each(|value| collect(value, part, found)),
        Data::Literal(_) => {}
    }
}

/// Whether the resource puts something else in the place that reads the variable.
fn is_replaced(context: &RuleContext<'_>, one: &Use<'_>) -> bool {
    let Some(reader) = &one.provider else { return false };
    let own = context.providers().iter().any(|entry| entry.api == reader.api && entry.id == Some(reader.id));
    own || context
        .items(&RuleContext::spec("disabled"))
        .any(|(path, _)| context.text(&path).is_some_and(|api| api_name(api) == reader.api))
}

/// What is wrong with a variable's value as an address.
fn address(context: &RuleContext<'_>, name: &str, path: &Path, read: &[Use<'_>], report: &mut Report) {
    let at = path.key("value");
    let Some(value) = context.text(&at).filter(|_| name.ends_with("_URL")) else { return };
    if is_host(value) && !has_scheme(value) {
        return report.add(no_scheme(at, value, "a URL needs one", Severity::Warning));
    }
    let of_provider = |one: &Use<'_>| {
        let reader = one.provider.as_ref()?;
        let known = context.catalog()?.provider(reader.api, reader.provider_type)?;
        let is_address = known.endpoint.as_ref()?.keys().first().copied() == reader.key;
        known.endpoint_path.as_deref().filter(|_| is_address)
    };
    // A config of the user's own may read the variable, too: of vLLM it is known all the same.
    let usual = name.starts_with("VLLM_").then_some("/v1");
    if let Some(wanted) = read.iter().find_map(of_provider).or(usual).filter(|_| is_bare(value) && has_scheme(value)) {
        report.add(no_path(at, value, wanted));
    }
}

/// Host, or host and port: what is certainly meant as an address.
fn is_host(value: &str) -> bool {
    let place = value.split('/').next().unwrap_or_default();
    let (host, port) = place.rsplit_once(':').unwrap_or((place, ""));
    host.starts_with(|char: char| char.is_ascii_alphanumeric())
        && host.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-'))
        && if port.is_empty() { host.contains('.') } else { port.bytes().all(|byte| byte.is_ascii_digit()) }
}

/// Whether the server runs with the distribution's own config, or one made from it.
pub(super) fn runs_base(context: &RuleContext<'_>) -> bool {
    let others = match context.version {
        ApiVersion::V1Alpha1 => ["server.userConfig", "server.containerSpec.command", "server.containerSpec.args"],
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => {
            ["overrideConfig", "workload.overrides.command", "workload.overrides.args"]
        }
    };
    others.iter().all(|other| {
        let path = RuleContext::spec(other);
        context.is_known(&path) && context.get(&path).is_none()
    })
}

fn replaced(name: &str, path: &Path, by: &str, report: &mut Report) {
    let message = format!(
        "Nothing reads {name} any more: the distribution's provider \"{by}\", which did, is replaced or disabled here"
    );
    let fix = Fix::remove(format!("Remove {name}"), path.clone());
    report.add(Finding::new(&REPLACED, path.key("name"), message).with_fix(fix));
}

/// The variables that the text of a config reads.
fn read_by(text: &str) -> BTreeSet<&str> {
    let names = text.split("${env.").skip(1).filter_map(|rest| rest.split([':', '}']).next());
    names
        .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        .collect()
}

/// Only a variable with a likely meaning is reported: many others are read by libraries, not by the config.
fn unread(
    reader: &str,
    name: &str,
    path: &Path,
    read: &BTreeSet<&str>,
    set: &HashMap<&str, &Path>,
    report: &mut Report,
) {
    if !name.contains('_') {
        return;
    }
    let at = path.key("name");
    let free = || read.iter().copied().filter(|other| !set.contains_key(other));
    let words: Vec<&str> = name.split('_').collect();
    // VLLM_API_URL has every word of VLLM_URL, beginning with the first, and none that makes it another variable.
    let inside = free().find(|other| {
        let parts: Vec<&str> = other.split('_').collect();
        parts.len() > 1
            && parts.first() == words.first()
            && parts.iter().all(|part| words.contains(part))
            && words.iter().all(|word| parts.contains(word) || FILLERS.contains(word))
    });
    let Some(meant) = inside.or_else(|| nearest_within(name, free(), MAX_TYPOS)) else {
        return without_effect(reader, name, at, report);
    };
    let message = format!("{reader} does not read {name}. Did you mean {meant}?");
    report.add(Finding::new(&UNREAD, at.clone(), message).with_fix(Fix {
        title: format!("Change to {meant}"),
        edits: vec![FixEdit::Replace { path: at, value: meant.into() }],
        preferred: false,
    }));
}

/// A variable that other configs read, and this one does not.
fn without_effect(reader: &str, name: &str, at: Path, report: &mut Report) {
    static READ_BY_SOME: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| BaseConfig::all().iter().flat_map(|base| read_by(base.text)).collect());
    let by_libraries = OF_LIBRARIES.iter().any(|start| name.starts_with(start)) || name.ends_with("_API_KEY");
    if READ_BY_SOME.contains(name) && !by_libraries {
        let message = format!("{reader} does not read {name}: it has no effect");
        report.add(Finding::new(&WITHOUT_EFFECT, at, message));
    }
}

fn without_the_other(_: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let others = finding.related.iter().filter_map(|other| other.path.parent());
    others.map(|other| Fix::remove("Remove the other entry", other)).collect()
}
