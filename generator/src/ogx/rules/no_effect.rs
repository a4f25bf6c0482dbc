//! Fields that the CRD declares and the operator does nothing with. Source: upstream's operator, run on a real API server,
//! and the variables that each version of ogx reads.

use crate::check::context::{Report, RuleContext};
use crate::check::finding::{Finding, Fix, Severity, Tag};
use crate::check::rule::{Group, Rule};
use crate::ogx::{verdict::target, versions};
use crate::path::Path;
use serde_json::Value;

pub static NO_EFFECT: Rule = Rule {
    id: "llsd::ogx::no-effect",
    severity: Severity::Warning,
    summary: "The field is declared, and the operator or the server does nothing with it.",
    why: "What was meant never happens, without a word: a certificate that is not mounted encrypts nothing.",
    example: "kind: OGXServer\nspec:\n  network:\n    tls: {secretName: server-tls}",
    ..Rule::PLAIN
};

pub(crate) static GROUP: Group = Group { rules: &[&NO_EFFECT], check: Some(check) };

/// Fields below `spec`, with what happens, and what to do instead.
const FIELDS: [(&str, &str); 6] = [
    (
        "network.tls",
        "the operator neither mounts the Secret nor tells the server of it: end TLS at the Ingress or Route, or mount the \
         Secret with workload.overrides and set server.tls_certfile and server.tls_keyfile in the config",
    ),
    ("tls.identity", "the operator does nothing with it: mount the Secret with workload.overrides.volumes"),
    ("network.externalAccess.hostname", "the Ingress is made without a host: write an Ingress of your own"),
    ("network.policy.policyTypes", "the operator works them out from the rules"),
    (
        "registryRefreshIntervalSeconds",
        "the operator sets a variable that no version of ogx reads: set server.registry_refresh_interval_seconds in the \
         base config",
    ),
    ("storage.kv.password", "ogx ignores the password of Redis: give a base config with another store"),
];

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let mut add = |path: Path, why: &str| {
        let message = format!("This has no effect: {why}");
        let mut finding =
            Finding::new(&NO_EFFECT, path.clone(), message).at_key().with_fix(Fix::remove("Remove it", path));
        finding.tags.push(Tag::Unnecessary);
        report.add(finding);
    };
    for (field, why) in FIELDS.iter().filter(|(field, _)| context.is_present(field)) {
        add(RuleContext::spec(field), why);
    }
    let rules = |field: &str| context.get(&RuleContext::spec("network.policy").key(field)).and_then(Value::as_array);
    if rules("egress").is_some() && rules("ingress").is_none_or(Vec::is_empty) {
        add(
            RuleContext::spec("network.policy.egress"),
            "the operator adds rules for egress only beside rules for ingress",
        );
    }
    for (path, model) in context.items(&RuleContext::spec("resources.models")) {
        for field in ["contextLength", "quantization"] {
            if model.get(field).is_some_and(|value| !value.is_null()) {
                add(path.key(field), "ogx ignores it");
            }
        }
    }
    let version = target(context);
    if context.is_present("workload.workers") && !versions::is_from(version, &[1, 2]) {
        let why = format!("ogx {version} does not read OGX_WORKERS, ogx 1.2 and later do");
        add(RuleContext::spec("workload.workers"), &why);
    }
}
