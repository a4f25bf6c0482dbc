//! The resource's name. Source: children are called `<name>-<suffix>`, with suffixes of up to 15
//! characters, and Services take DNS labels only.

use super::super::context::{Report, RuleContext};
use super::super::facts::Namesake;
use super::super::finding::{Cause, Finding, Fix, Severity};
use super::super::rule::{Group, Rule};
use crate::api::{CrdRule, Kind};
use crate::path::Path;

/// Greatest length of a name: a label has 63 characters, the operator's longest suffix 15, and that of
/// ogx-k8s-operator (`-prometheus-rules`) 17.
fn longest(kind: Kind) -> usize {
    match kind {
        Kind::LlamaStackDistribution => 48,
        Kind::OgxServer => 46,
    }
}

pub static NAME: Rule = Rule {
    id: "llsd::metadata::name",
    severity: Severity::Error,
    summary: "The resource's name is too long for the names that are made from it, or has a dot.",
    why: "The operator names the Service, the Deployment and others after the resource, with suffixes of up to 15 \
    characters (17 of an OGXServer). A Service name has at most 63 characters and no dots, so the resource could never become \
    ready.",
    example: "metadata:\n  name: llama.example.com",
    refines: &[CrdRule::NameLength, CrdRule::NameDots],
    fixes: Some(without_dots),
    ..Rule::PLAIN
};

pub static DUPLICATE: Rule = Rule {
    id: "llsd::metadata::duplicate",
    severity: Severity::Error,
    summary: "Another resource of the file, or of the same kustomization, has the same name and namespace.",
    why: "The one that is applied last replaces the other; kustomize refuses two of the same version.",
    example: "metadata:\n  name: my-stack\n---\nmetadata:\n  name: my-stack",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&NAME, &DUPLICATE], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let path = Path::parse("metadata.name");
    let Some(name) = context.text(&path) else { return };
    let length = name.chars().count();
    let kind = context.version.kind();
    let longest = longest(kind);
    if length > longest {
        let appended = 63 - longest;
        let message = format!(
            "The name has {length} characters, {longest} are allowed: the operator appends up to {appended} for the names \
             of the Service and other objects"
        );
        report.add(Finding::new(&NAME, path.clone(), message).because(Cause::Crd(CrdRule::NameLength)));
    }
    if name.contains('.') {
        let message = "The name must not contain dots: the Service is named after it, and Service names have none";
        report.add(Finding::new(&NAME, path.clone(), message).because(Cause::Crd(CrdRule::NameDots)));
    }
    let own = (context.namespace().to_owned(), name.to_owned());
    if context.facts.resources.contains(&(kind, own.clone())) {
        let message = format!("Another {} is called \"{name}\" in the same namespace", kind.name());
        return report.add(Finding::new(&DUPLICATE, path, message));
    }
    let Some(Namesake { shown, kustomization, .. }) = context.facts.namesakes.get(&own) else { return };
    let message = format!(
        "{} \"{name}\" is in {shown} too, and {kustomization} lists both files: the one that is applied last replaces the \
         other",
        kind.name()
    );
    report.add(Finding::new(&DUPLICATE, path, message));
}

fn without_dots(context: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let name = context.text(&finding.path).filter(|name| name.contains('.'));
    name.map(|name| Fix::change_to(finding.path.clone(), &name.replace('.', "-"))).into_iter().collect()
}
