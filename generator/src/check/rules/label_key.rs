//! Labels of namespaces that may connect. Source: the operator, whose network policies match label keys
//! only.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Cause, Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::api::{ApiVersion, CrdRule};

pub static LABEL_VALUE: Rule = Rule {
    id: "llsd::networking::label-value",
    severity: Severity::Error,
    summary: "A label of allowedFrom has a value.",
    why: "The operator asks whether a namespace has the label, whatever its value; no label is called \"key=value\", so \
    nobody would be let in.",
    example: "allowedFrom:\n  labels:\n    - team=ai",
    refines: &[CrdRule::LabelKey],
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&LABEL_VALUE], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let at = match context.version {
        ApiVersion::V1Alpha1 => RuleContext::spec("network.allowedFrom.labels"),
        ApiVersion::V1Alpha2 => RuleContext::spec("networking.allowedFrom.labels"),
        ApiVersion::OgxV1Beta1 => return,
    };
    for (path, _) in context.items(&at) {
        let Some((key, value)) = context.text(&path).and_then(|label| label.split_once(['=', ':'])) else { continue };
        let message = format!(
            "allowedFrom.labels takes label keys: write \"{key}\". Namespaces that have this label may connect, \
             whatever its value; \"{value}\" cannot be asked for"
        );
        let edits = vec![FixEdit::Replace { path: path.clone(), value: key.into() }];
        let fix = Fix { title: format!("Change to \"{key}\""), edits, preferred: false };
        report.add(Finding::new(&LABEL_VALUE, path, message).because(Cause::Crd(CrdRule::LabelKey)).with_fix(fix));
    }
}
