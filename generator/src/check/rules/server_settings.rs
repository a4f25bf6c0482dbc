//! TLS and workers of a server whose config is not generated. Source: llama-stack takes both from its config, and the
//! operator changes no config that it did not generate.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::mounted_files::config_map;
use super::super::rule::{Group, Rule};
use crate::api::{ApiVersion, CONFIG_KEY};
use crate::document::Plain;
use crate::generate::{TLS_CERTIFICATE, TLS_KEY};
use serde_json::Value;

pub static SERVER_SETTINGS: Rule = Rule {
    id: "llsd::config::server-settings",
    severity: Severity::Warning,
    summary: "TLS or workers are set, and the config that the server reads is not generated.",
    why: "llama-stack takes both from its config. Without TLS in the config the server speaks HTTP while the probes ask for HTTPS, and the pod never becomes ready; without workers in it one process serves.",
    example: "distribution: {image: \"quay.io/example/llama-stack:0.4.7\"}\nnetworking:\n  tls: {enabled: true, secretName: server-tls}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&SERVER_SETTINGS], check: Some(check) };

/// Fields from which a config is generated.
const GENERATING: [&str; 4] = ["providers", "resources", "storage", "disabled"];

fn check(context: &RuleContext<'_>, report: &mut Report) {
    if context.version != ApiVersion::V1Alpha2 || GENERATING.iter().any(|field| context.is_present(field)) {
        return;
    }
    let overrides = context.is_present("overrideConfig");
    let own =
        context.text(&RuleContext::spec("overrideConfig.configMapName")).and_then(|name| config_map(context, name));
    let own = own.and_then(|data| data.get(CONFIG_KEY));
    let own = own.map(|text| Plain::read(&llsd_yaml::parse_document(text)).value);
    let has = |key: &str| own.as_ref().is_some_and(|config| !config["server"][key].is_null());
    let tls = RuleContext::spec("networking.tls.enabled");
    let by_name = context.is_present("distribution.name");
    if context.get(&tls) == Some(&Value::Bool(true)) && (overrides || !by_name) {
        let keys = format!("server.tls_certfile: {TLS_CERTIFICATE} and server.tls_keyfile: {TLS_KEY}");
        add(context, &tls, overrides, has("tls_certfile") && has("tls_keyfile"), &keys, report);
    }
    let workers = RuleContext::spec("workload.workers");
    if let Some(count) = context.get(&workers).and_then(Value::as_i64).filter(|count| *count > 1) {
        let keys = format!("server.workers: {count}");
        add(context, &workers, overrides, has("workers"), &keys, report);
    }
}

fn add(
    context: &RuleContext<'_>,
    path: &crate::path::Path,
    overrides: bool,
    is_there: bool,
    keys: &str,
    report: &mut Report,
) {
    if is_there {
        return;
    }
    let message = match overrides {
        true => format!("The server takes this from its config: the ConfigMap of overrideConfig needs {keys}"),
        false => format!(
            "The server takes this from its config, and the image's own has it not: give providers, so that a config is \
             generated, or an overrideConfig with {keys}"
        ),
    };
    // Whether the ConfigMap has it is not known everywhere.
    let unsure = overrides && context.facts.config_maps.is_none();
    let severity = if unsure { Severity::Hint } else { Severity::Warning };
    report.add(Finding::new(&SERVER_SETTINGS, path.clone(), message).weighing(severity));
}
