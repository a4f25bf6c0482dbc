//! Network policies. Source: upstream's operator, whose own rules give way to the first one that the resource has.

use crate::check::context::{Report, RuleContext};
use crate::check::finding::{Finding, Severity};
use crate::check::rule::{Group, Rule};
use serde_json::Value;

pub static REPLACES: Rule = Rule {
    id: "llsd::ogx::policy-replaces",
    severity: Severity::Information,
    summary: "Rules for ingress take the place of all that the operator would make.",
    why: "The operator's namespace, from which it asks for the server's health, the namespaces of the router and those that \
    read metrics may connect by its own rules only.",
    example: "kind: OGXServer\nspec:\n  network:\n    policy:\n      ingress:\n        - from: [{namespaceSelector: {matchLabels: {team: ai}}}]",
    ..Rule::PLAIN
};

pub(crate) static GROUP: Group = Group { rules: &[&REPLACES], check: Some(check) };

/// The namespace of the operator, and the label by which its rules let in the router.
const OPERATOR: &str = "ogx-k8s-operator-system";
const ROUTER: &str = "network.openshift.io/policy-group";

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let at = RuleContext::spec("network.policy.ingress");
    let Some(rules) = context.get(&at).filter(|rules| rules.as_array().is_some_and(|all| !all.is_empty())) else {
        return;
    };
    // A rule without peers lets everybody in.
    let open = |rule: &Value| rule.get("from").is_none_or(|from| from.as_array().is_some_and(Vec::is_empty));
    let text = rules.to_string();
    if rules.as_array().is_some_and(|all| all.iter().any(open)) || text.contains("\"namespaceSelector\":{}") {
        return;
    }
    let missing: Vec<&str> = [
        (text.contains(OPERATOR), "the operator's namespace (health)"),
        (text.contains(ROUTER), "the router's namespaces (network.openshift.io/policy-group: ingress)"),
    ]
    .into_iter()
    .filter_map(|(there, what)| (!there).then_some(what))
    .collect();
    if !missing.is_empty() {
        let message = format!(
            "These rules take the place of the operator's own, which also let in {}, and the metrics port",
            missing.join(", ")
        );
        report.add(Finding::new(&REPLACES, at, message).at_key());
    }
}
