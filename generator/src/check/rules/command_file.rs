//! The config file that an overridden command starts with. Source: the Go operator, which mounts the ConfigMap of
//! `userConfig` as the folder `/etc/llama-stack`, so that its keys are the files there.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use super::config_key::config_map;
use crate::api::{ApiVersion, CONFIG_KEYS};
use crate::path::Path;

/// Where the ConfigMap is mounted.
const FOLDER: &str = "/etc/llama-stack/";

pub static MISSING_FILE: Rule = Rule {
    id: "llsd::config::missing-file",
    severity: Severity::Error,
    summary: "The command starts the server with a file that the mounted ConfigMap does not have.",
    why: "The keys of the ConfigMap are the files in /etc/llama-stack. The server does not find its config, and exits.",
    example: "containerSpec:\n  command: [llama, stack, run, /etc/llama-stack/run.yaml]\nuserConfig: {configMapName: config}   # with key config.yaml",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&MISSING_FILE], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    if context.version != ApiVersion::V1Alpha1 {
        return;
    }
    for field in ["command", "args"] {
        for (path, _) in context.items(&RuleContext::spec("server.containerSpec").key(field)) {
            let Some(text) = context.text(&path) else { continue };
            for file in files(text) {
                one(context, &path, text, file, report);
            }
        }
    }
}

/// The files in the folder that a piece of a command names.
fn files(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(FOLDER).filter_map(|(start, mark)| {
        let rest = &text[start + mark.len()..];
        let end = rest
            .find(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_')))
            .unwrap_or(rest.len());
        (rest[..end].ends_with(".yaml") || rest[..end].ends_with(".yml")).then_some(&rest[..end])
    })
}

fn one(context: &RuleContext<'_>, path: &Path, text: &str, file: &str, report: &mut Report) {
    let name_path = RuleContext::spec("server.userConfig.configMapName");
    if context.get(&RuleContext::spec("server.userConfig")).is_none() {
        // A volume of the user's own may hold it.
        let mounts = RuleContext::spec("server.podOverrides");
        if context.get(&mounts).is_none() && context.is_known(&mounts) && context.is_known(&name_path) {
            let message = format!("Nothing is mounted at {FOLDER}{file}: there is no userConfig");
            report.add(Finding::new(&MISSING_FILE, path.clone(), message));
        }
        return;
    }
    let Some(name) = context.text(&name_path) else { return };
    let Some(data) = config_map(context, name) else {
        let reason = format!("ConfigMap \"{name}\" is not known");
        report.not_checked(&MISSING_FILE, path, &reason);
        return;
    };
    if data.contains_key(file) {
        return;
    }
    let keys: Vec<&str> = data.keys().map(String::as_str).collect();
    let message = format!(
        "ConfigMap \"{name}\" has no key \"{file}\", so {FOLDER}{file} does not exist. Its keys: {}",
        keys.join(", ")
    );
    let mut finding = Finding::new(&MISSING_FILE, path.clone(), message).with_related(name_path, "The ConfigMap");
    if let Some(key) = keys.iter().find(|key| CONFIG_KEYS.contains(key)) {
        let value = text.replace(&format!("{FOLDER}{file}"), &format!("{FOLDER}{key}"));
        let edits = vec![FixEdit::Replace { path: path.clone(), value: value.into() }];
        finding = finding.with_fix(Fix { title: format!("Start with {key}"), edits, preferred: true });
    }
    report.add(finding);
}
