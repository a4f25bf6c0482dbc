//! Values of variables that the server takes for numbers or truth values. Source: see [`Reading`].

use super::super::context::{Report, RuleContext};
use super::super::finding::{Cause, Finding, Severity};
use super::super::mounted_files::started_with;
use super::super::rule::{Group, Rule};
use super::env::runs_base;
use super::server_config::WRONG_VALUE;
use crate::api::ApiVersion;
use crate::config::reading::Reading;
use crate::config::{self, Request, environment};
use crate::document::Plain;
use crate::generate::{EnvSource, Generated, plain_id};
use crate::ogx;
use crate::path::{Path, Segment};
use crate::references::{NeededBy, ReferenceKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub static BECOMES_NUMBER: Rule = Rule {
    id: "llsd::env::becomes-number",
    severity: Severity::Error,
    summary: "llama-stack reads the variable's value as a number or a truth value, where the config needs a text.",
    why: "Values of variables are converted by their looks, whatever quotes they have: a token of digits becomes a number, llama-stack refuses it, and the server exits. The same happens to a value from a Secret or ConfigMap.",
    example: "env:\n  - {name: VLLM_API_TOKEN, value: \"123456\"}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&BECOMES_NUMBER], check: Some(check) };

/// A variable whose value is not read as a text.
struct Variable<'a> {
    reading: Reading,
    /// Where the value is written, or the key that it is taken from.
    place: Path,
    /// What holds the value, where that is not the resource itself.
    object: Option<(ReferenceKind, &'a str, &'a str, NeededBy)>,
}

/// What variables do to the config that the resource names, or to that of its distribution.
pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let mut variables = written(context);
    if variables.is_empty() {
        return;
    }
    if let Some((name, text)) = started_with(context) {
        // A value that is written in the resource is told where the config reads it.
        variables.retain(|_, variable| variable.object.is_some());
        let plain = Plain::read(&llsd_yaml::parse_document(text));
        let within = format!(" in ConfigMap \"{name}\"");
        return judge(context, &variables, &plain.value, &plain.unknown, &within, report);
    }
    // Of a config that is generated, all of it counts.
    let generates = ["providers", "resources", "storage", "disabled"].iter().any(|field| context.is_present(field));
    if context.version == ApiVersion::OgxV1Beta1 || generates || !runs_base(context) {
        return;
    }
    if let Some(base) = context.base() {
        judge(context, &variables, &base.to_json(), &BTreeSet::new(), "", report);
    }
}

/// What variables do to the config that is generated for the resource.
pub(in crate::check) fn check_generated(context: &RuleContext<'_>, generated: &Generated, report: &mut Report) {
    let mut variables = written(context);
    for variable in &generated.env {
        let EnvSource::Secret(secret) = &variable.source else { continue };
        let origin = &variable.origin;
        let below = ["secretKeyRef.key", "key"].map(|below| origin.clone().below(below));
        let written = below.into_iter().find(|place| place.find(context.value()).is_some());
        let place = written.unwrap_or_else(|| origin.clone());
        // A template decides whether it is there at all.
        if !context.is_known(&place) {
            continue;
        }
        let object = (ReferenceKind::Secret, secret.name.as_str(), secret.key.as_str(), NeededBy::Server);
        if let Some(reading) = known(context, object.0, object.1, object.2) {
            variables.insert(&variable.name, Variable { reading, place, object: Some(object) });
        }
    }
    if !variables.is_empty() {
        judge(context, &variables, &generated.config.tree().to_json(), &BTreeSet::new(), "", report);
    }
}

/// The variables that the resource sets to something that is not read as a text. Of two with one name the last counts.
fn written<'a>(context: &RuleContext<'a>) -> BTreeMap<&'a str, Variable<'a>> {
    let mut found = BTreeMap::new();
    for (name, path, _) in context.env() {
        found.remove(name);
        let literal = context.text(&path.key("value")).and_then(Reading::of);
        let variable = literal
            .map(|reading| Variable { reading, place: path.key("value"), object: None })
            .or_else(|| taken(context, &path.key("valueFrom")));
        found.extend(variable.map(|variable| (name, variable)));
    }
    found
}

fn taken<'a>(context: &RuleContext<'a>, from: &Path) -> Option<Variable<'a>> {
    let fields = [(ReferenceKind::Secret, "secretKeyRef"), (ReferenceKind::ConfigMap, "configMapKeyRef")];
    fields.into_iter().find_map(|(kind, field)| {
        let place = from.key(field).key("key");
        let (name, key) = (context.text(&from.key(field).key("name"))?, context.text(&place)?);
        let reading = known(context, kind, name, key)?;
        Some(Variable { reading, place, object: Some((kind, name, key, NeededBy::Pod)) })
    })
}

/// What the value of a key is read as, if that is known and no text.
fn known(context: &RuleContext<'_>, kind: ReferenceKind, name: &str, key: &str) -> Option<Reading> {
    let object = (context.namespace().to_owned(), name.to_owned());
    context.facts.readings.get(&(kind, object))?.get(key).copied()
}

/// Tells which variables end up where the config needs a text. `within`: where the config is, for messages.
fn judge(
    context: &RuleContext<'_>,
    variables: &BTreeMap<&str, Variable<'_>>,
    config: &Value,
    unknown: &BTreeSet<Path>,
    within: &str,
    report: &mut Report,
) {
    let version = match context.version {
        ApiVersion::OgxV1Beta1 => Some(ogx::verdict::target(context).to_owned()),
        ApiVersion::V1Alpha1 | ApiVersion::V1Alpha2 => context.llama_stack_version(),
    };
    let readings = variables.iter().map(|(name, variable)| (*name, variable.reading)).collect();
    let mut told = BTreeSet::new();
    for (path, name) in misfits(&Request { config, unknown, version: version.as_deref() }, &readings) {
        let Some(variable) = variables.get(name.as_str()).filter(|_| told.insert(name.clone())) else { continue };
        let server = if context.version == ApiVersion::OgxV1Beta1 { "ogx" } else { "llama-stack" };
        let (what, setting) = (variable.reading.name(), setting(config, &path));
        let (value, owner) = match variable.object {
            Some((kind, object, key, _)) => {
                (format!("the value of key \"{key}\" of {} \"{object}\"", kind.name()), format!("key \"{key}\""))
            }
            None => ("this value".to_owned(), name),
        };
        let wanted = match variable.reading {
            Reading::Number => "a value with a letter in it",
            Reading::TruthValue => "another value",
        };
        let message = format!(
            "{server} reads {value} as {what}, whatever its quotes, and {setting}{within} has to be a text: the server \
             exits. Give {owner} {wanted}"
        );
        let finding = Finding::new(&BECOMES_NUMBER, variable.place.clone(), message);
        report.add(match variable.object {
            Some((kind, .., needed_by)) => finding.because(Cause::Object(kind, needed_by)),
            None => finding,
        });
    }
}

/// The places of a config that take a text and get something else from one of these variables, each with its variable.
fn misfits(request: &Request<'_>, readings: &BTreeMap<&str, Reading>) -> Vec<(Path, String)> {
    let read = |name: &str| readings.get(name).map(|reading| reading.example());
    let (config, places) = environment::with_values(request.config, &read);
    if places.is_empty() {
        return Vec::new();
    }
    let wrong = |config: &Value| -> BTreeSet<Path> {
        let found = config::check(&Request { config, ..*request }).findings.into_iter();
        found.filter(|finding| *finding.rule == WRONG_VALUE).map(|finding| finding.path).collect()
    };
    let refused = wrong(&config);
    // Where a text would not do either, the place is wrong for another reason.
    let text = |name: &str| readings.contains_key(name).then(|| "text".into());
    let anyway = wrong(&environment::with_values(request.config, &text).0);
    places.into_iter().filter(|(path, _)| refused.contains(path) && !anyway.contains(path)).collect()
}

/// A place of a config in words.
fn setting(config: &Value, path: &Path) -> String {
    let id = |steps: &[Segment]| {
        let entry: Path = steps.iter().take(3).cloned().collect();
        entry.key("provider_id").find(config)?.as_str().map(|id| plain_id(id).to_owned())
    };
    match path.segments() {
        [Segment::Key(section), _, _, Segment::Key(config_of), rest @ ..]
            if section == "providers" && config_of == "config" && !rest.is_empty() =>
        {
            let setting: Path = rest.iter().cloned().collect();
            match id(path.segments()) {
                Some(id) => format!("\"{setting}\" of provider \"{id}\""),
                None => format!("\"{path}\""),
            }
        }
        _ => format!("\"{path}\""),
    }
}
