//! External providers that take the place of others. Source: the merge in the pod, which puts an external provider where
//! the config has one of its API and id.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::generate::{of_api, plain_id};

pub static REPLACES: Rule = Rule {
    id: "llsd::external::replaces",
    severity: Severity::Warning,
    summary: "An external provider has the id of another provider of its API.",
    why: "It takes the other one's place in the config. Models and clients that mean the other one reach this one.",
    example: "distribution: {name: starter}\nexternalProviders:\n  inference:\n    - {providerId: openai, image: \"quay.io/example/provider:1\"}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&REPLACES], check: Some(check) };

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let external = context.external_providers();
    if external.is_empty() {
        return;
    }
    let base = context.base();
    for entry in external {
        let Some(id) = entry.id else { continue };
        let path = entry.path.key("providerId");
        let own = context.providers().iter().find(|other| other.api == entry.api && other.id == Some(id));
        let message = |whose: &str| format!("This provider takes the place of {whose} of the id \"{id}\"");
        if let Some(own) = own {
            let finding = Finding::new(&REPLACES, path, message("the resource's own provider"));
            report.add(finding.with_related(own.id_path(), "The provider that is replaced"));
        } else if base.as_deref().is_some_and(|base| of_api(base, &entry.api).any(|(other, _)| plain_id(other) == id)) {
            report.add(Finding::new(&REPLACES, path, message("the distribution's provider")));
        }
    }
}
