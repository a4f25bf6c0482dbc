//! Objects that ogx-k8s-operator does not see. Source: its cache holds Secrets and ConfigMaps with the label alone; what has
//! it not is "not found".

use crate::check::context::{Report, RuleContext};
use crate::check::finding::{Cause, Finding, Severity};
use crate::check::rule::{Group, Rule};
use crate::ogx::WATCH_LABEL;
use crate::references::NeededBy;

pub static NOT_WATCHED: Rule = Rule {
    id: "llsd::ogx::not-watched",
    severity: Severity::Error,
    summary: "A Secret or ConfigMap that the resource names does not carry the label that ogx-k8s-operator asks for.",
    why: "ogx-k8s-operator sees objects with the label ogx.io/watch: \"true\" alone. It says that others are not found, and \
    the resource fails. llsd-operator finds them.",
    example: "kind: Secret\nmetadata:\n  name: openai   # without the label ogx.io/watch: \"true\"\n---\nkind: OGXServer\nspec:\n  providers:\n    inference:\n      remote:\n        openai:\n          - apiKey: {name: openai, key: token}",
    ..Rule::PLAIN
};

pub(crate) static GROUP: Group = Group { rules: &[&NOT_WATCHED], check: Some(check) };

fn check(context: &RuleContext<'_>, report: &mut Report) {
    // Variables and volumes of the user's own are the kubelet's business, which sees all objects.
    for reference in context.references().iter().filter(|reference| reference.needed_by == NeededBy::Server) {
        let object = (context.namespace().to_owned(), reference.name.to_owned());
        if context.facts.unwatched.contains(&(reference.kind, object)) {
            let message = format!(
                "{} \"{}\" lacks the label {WATCH_LABEL}: \"true\", without which ogx-k8s-operator does not find it",
                reference.kind.name(),
                reference.name
            );
            let cause = Cause::Object(reference.kind, reference.needed_by);
            report.add(Finding::new(&NOT_WATCHED, reference.path.clone(), message).because(cause));
        }
    }
}
