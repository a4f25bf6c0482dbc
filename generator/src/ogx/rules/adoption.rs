//! Volumes and Services that are taken over from llama-stack's operator. Source: upstream's operator and webhook, run
//! against what the old operator leaves behind.

use crate::check::context::{Report, RuleContext};
use crate::check::finding::{Finding, Fix, Severity};
use crate::check::rule::{Group, Rule};
use crate::names::is_label;
use crate::path::Path;
use serde_json::json;

/// Names the old resource whose volume is taken over.
pub const STORAGE: &str = "ogx.io/adopt-storage";
/// Names the old resource whose Service and Ingress are taken over.
pub const NETWORKING: &str = "ogx.io/adopt-networking";

pub static BROKEN: Rule = Rule {
    id: "llsd::ogx::adoption",
    severity: Severity::Error,
    summary: "An adoption annotation names no other resource, or what it adopts has no place.",
    why: "The operator refuses the resource's own name and names that no resource can have. Without workload.storage the \
    pod gets an empty folder in place of the volume.",
    example: "kind: OGXServer\nmetadata:\n  name: chat\n  annotations:\n    ogx.io/adopt-storage: chat",
    ..Rule::PLAIN
};

pub static UNPREPARED: Rule = Rule {
    id: "llsd::ogx::adoption-unprepared",
    severity: Severity::Information,
    summary: "What the old operator made is adopted only after it has been labelled.",
    why: "The new operator sees objects with the label app.kubernetes.io/managed-by: ogx-operator alone. Those of the old \
    operator have another value: adoption passes over them without a word, and deleting the old resource then deletes \
    its volume.",
    example: "kind: OGXServer\nmetadata:\n  name: chat-ogx\n  annotations:\n    ogx.io/adopt-storage: chat\nspec:\n  distribution: {name: starter}\n  workload:\n    storage: {}",
    ..Rule::PLAIN
};

pub(crate) static GROUP: Group = Group { rules: &[&BROKEN, &UNPREPARED], check: Some(check) };

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let own = context.text(&Path::parse("metadata.name"));
    for (annotation, what) in [(STORAGE, "pvc"), (NETWORKING, "service")] {
        let path = Path::parse("metadata.annotations").key(annotation);
        let Some(old) = context.text(&path) else { continue };
        if Some(old) == own {
            let message =
                "adoption annotation value must not equal the CR name; same-name adoption causes resource conflicts";
            report.add(Finding::new(&BROKEN, path, message));
        } else if !is_label(old) {
            let message =
                format!("\"{old}\" is no name that a resource can have: write that of the old LlamaStackDistribution");
            report.add(Finding::new(&BROKEN, path, message));
        } else {
            let kind = if annotation == STORAGE { "PersistentVolumeClaim" } else { "Service" };
            let message = format!(
                "{kind} {old}-{what} must have the label app.kubernetes.io/managed-by=ogx-operator before this is applied, and \
                 nothing is to be deleted before the operator has adopted it"
            );
            report.add(Finding::new(&UNPREPARED, path, message).at_key());
        }
    }
    let path = Path::parse("metadata.annotations").key(STORAGE);
    if context.get(&path).is_some()
        && !context.is_present("workload.storage")
        && context.is_known(&RuleContext::spec("workload"))
    {
        let message = "Without workload.storage the pod gets an empty folder, and the adopted volume is not mounted";
        let fix = Fix::insert("Add workload.storage", RuleContext::spec("workload.storage"), json!({}));
        report.add(Finding::new(&BROKEN, path, message).at_key().with_fix(fix));
    }
}
