//! The key of a ConfigMap with the user's config. Source: the operator mounts this key; for v1alpha1 the Go operator, whose
//! start script reads `/etc/llama-stack/config.yaml` from version 0.6 on, and `run.yaml` before.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Cause, Finding, Severity};
use super::super::mounted_files::{CONFIG_VARIABLES, config_map};
use super::super::rule::{Group, Rule};
use crate::api::{ApiVersion, CONFIG_KEY, OLD_CONFIG_KEY};
use crate::path::Path;
use crate::references::{NeededBy, ReferenceKind};

pub static MISSING_KEY: Rule = Rule {
    id: "llsd::config::missing-key",
    severity: Severity::Error,
    summary: "The ConfigMap with the server's config has no key config.yaml.",
    why: "The operator starts the server with that file; under another key, such as run.yaml, it is not found.",
    example: "userConfig:\n  configMapName: config   # a ConfigMap with the key run.yaml only",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&MISSING_KEY], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let path = match context.version {
        ApiVersion::V1Alpha1 => RuleContext::spec("server.userConfig.configMapName"),
        ApiVersion::V1Alpha2 => RuleContext::spec("overrideConfig.configMapName"),
        // names the key itself
        ApiVersion::OgxV1Beta1 => return,
    };
    let Some(name) = context.text(&path) else { return };
    // An own command may start with any file: see the rule about that.
    let command = RuleContext::spec(match context.version {
        ApiVersion::V1Alpha1 => "server.containerSpec.command",
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => "workload.overrides.command",
    });
    if context.get(&command).is_some() || !context.is_known(&command) {
        return;
    }
    // The entry point of the image starts with the file that a variable names; the script for v1alpha1 does not.
    let is_named = || context.env().iter().any(|(name, ..)| CONFIG_VARIABLES.contains(name));
    if context.version != ApiVersion::V1Alpha1 && is_named() {
        return;
    }
    // That the ConfigMap is missing altogether is another rule's business.
    let Some(data) = config_map(context, name).filter(|data| !data.contains_key(CONFIG_KEY)) else { return };
    let keys: Vec<&str> = data.keys().map(String::as_str).collect();
    let missing = format!("ConfigMap \"{name}\" has no key \"{CONFIG_KEY}\" (its keys: {})", keys.join(", "));
    if !data.contains_key(OLD_CONFIG_KEY) {
        return report.add(about_config_map(path, missing));
    }
    // Which operator a v1alpha1 resource is for is not known: those before 0.6 read the other key.
    let (message, severity) = match context.version {
        ApiVersion::V1Alpha1 => (
            format!(
                "{missing}: the operator reads it from version 0.6 on, and {OLD_CONFIG_KEY} before. Rename the key {OLD_CONFIG_KEY} to \
                 {CONFIG_KEY} with the upgrade"
            ),
            Severity::Warning,
        ),
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => {
            (format!("{missing}. Rename its key {OLD_CONFIG_KEY} to {CONFIG_KEY}"), Severity::Error)
        }
    };
    report.add(about_config_map(path, message).weighing(severity));
}

fn about_config_map(path: Path, message: String) -> Finding {
    Finding::new(&MISSING_KEY, path, message).because(Cause::Object(ReferenceKind::ConfigMap, NeededBy::Server))
}
