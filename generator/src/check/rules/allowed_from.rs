//! Who may connect. Source: the operator makes network policies only where its configuration switches them on.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;

pub static POLICIES_OFF: Rule = Rule {
    id: "llsd::networking::policies-off",
    severity: Severity::Warning,
    summary: "allowedFrom is set, and the operator makes no network policies.",
    why: "Without a network policy every pod of the cluster may connect, whatever allowedFrom says. The operator makes policies where its ConfigMap llama-stack-operator-config has enableNetworkPolicy switched on; it is off by default.",
    example: "networking:\n  allowedFrom:\n    namespaces: [apps]",
    ..Rule::PLAIN
};

/// What holds where the operator is known to make none: in the editor, at `kubectl apply` and in the status.
pub const NO_POLICIES: &str = "allowedFrom has no effect: this operator makes no network policies, so every pod may connect. \
                               enableNetworkPolicy in its ConfigMap switches them on";

pub(super) static GROUP: Group = Group { rules: &[&POLICIES_OFF], check: Some(check) };

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let field = match context.version {
        ApiVersion::V1Alpha1 => "network.allowedFrom",
        ApiVersion::V1Alpha2 => "networking.allowedFrom",
        ApiVersion::OgxV1Beta1 => return,
    };
    if !context.is_present(field) {
        return;
    }
    let path = RuleContext::spec(field);
    let (message, severity) = match context.facts.network_policies {
        Some(true) => return,
        Some(false) => (NO_POLICIES, Severity::Warning),
        None => (
            "This has an effect only where the operator makes network policies, which are off by default: \
             enableNetworkPolicy in its ConfigMap",
            Severity::Hint,
        ),
    };
    report.add(Finding::new(&POLICIES_OFF, path, message).at_key().weighing(severity));
}
