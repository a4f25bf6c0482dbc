//! The key of a ConfigMap with the user's config. Source: contract section 2 for `overrideConfig`; for v1alpha1 the Go
//! operator, whose start script reads `/etc/llama-stack/config.yaml`.

use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use super::super::subject::{Report, Subject};
use crate::api::ApiVersion;
use crate::generate::CONFIG_KEY;
use std::collections::BTreeMap;

pub static MISSING_KEY: Rule = Rule {
    id: "llsd::config::missing-key",
    severity: Severity::Error,
    summary: "The ConfigMap with the server's config has no key config.yaml.",
    why: "The operator starts the server with that file; under another key, such as run.yaml, it is not found.",
    example: "userConfig:\n  configMapName: config   # a ConfigMap with the key run.yaml only",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&MISSING_KEY], check: Some(check) };

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    let path = match subject.version {
        ApiVersion::V1Alpha1 => Subject::spec("server.userConfig.configMapName"),
        ApiVersion::V1Alpha2 => Subject::spec("overrideConfig.configMapName"),
    };
    let Some(name) = subject.text(&path) else { return };
    // An own command may start with any file: see the rule about that.
    let command = Subject::spec("server.containerSpec.command");
    if subject.version == ApiVersion::V1Alpha1 && (subject.get(&command).is_some() || !subject.is_known(&command)) {
        return;
    }
    // That the ConfigMap is missing altogether is another rule's business.
    let Some(data) = config_map(subject, name).filter(|data| !data.contains_key(CONFIG_KEY)) else { return };
    let keys: Vec<&str> = data.keys().map(String::as_str).collect();
    let advice = if data.contains_key("run.yaml") { ". Rename its key run.yaml to config.yaml" } else { "" };
    let message = format!("ConfigMap \"{name}\" has no key \"{CONFIG_KEY}\" (its keys: {}){advice}", keys.join(", "));
    report.add(Finding::new(&MISSING_KEY, path, message));
}

/// The data of a ConfigMap in the resource's namespace, if it is known.
pub(super) fn config_map<'a>(subject: &Subject<'a>, name: &str) -> Option<&'a BTreeMap<String, String>> {
    subject.facts.config_maps.as_ref()?.get(&(subject.namespace().to_owned(), name.to_owned()))
}
