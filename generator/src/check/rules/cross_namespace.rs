//! ConfigMaps of other namespaces. Source: the Go operator: the existence check and the hash use
//! `userConfig.configMapNamespace`, but a pod can mount ConfigMaps of its own namespace only.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity, Tag};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;

pub static OTHER_NAMESPACE: Rule = Rule {
    id: "llsd::config::other-namespace",
    severity: Severity::Warning,
    summary: "userConfig names a ConfigMap of another namespace.",
    why: "A pod can mount ConfigMaps of its own namespace only: it waits for one of the same name there.",
    example: "metadata: {namespace: demo}\nspec:\n  server:\n    userConfig: {configMapName: config, configMapNamespace: shared}",
    ..Rule::PLAIN
};

pub static SAME_NAMESPACE: Rule = Rule {
    id: "llsd::config::same-namespace",
    severity: Severity::Hint,
    summary: "userConfig names the resource's own namespace.",
    why: "That is what applies anyway; without it the resource can be applied to any namespace.",
    example: "metadata: {namespace: demo}\nspec:\n  server:\n    userConfig: {configMapName: config, configMapNamespace: demo}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&OTHER_NAMESPACE, &SAME_NAMESPACE], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    if context.version != ApiVersion::V1Alpha1 {
        return;
    }
    let path = RuleContext::spec("server.userConfig.configMapNamespace");
    let Some(other) = context.text(&path).filter(|other| !other.is_empty()) else { return };
    let own = context.namespace();
    if own.is_empty() || !context.knows_namespace() {
        let reason = "the resource's own namespace is not known";
        return report.not_checked(&OTHER_NAMESPACE, &path, reason);
    }
    if other == own {
        let edits = vec![FixEdit::Remove { path: path.clone() }];
        let message = "This is the resource's own namespace, which applies anyway";
        let mut finding = Finding::new(&SAME_NAMESPACE, path, message).with_fix(Fix {
            title: "Remove it".to_owned(),
            edits,
            preferred: false,
        });
        finding.tags.push(Tag::Unnecessary);
        return report.add(finding);
    }
    let message = format!(
        "The pod mounts the ConfigMap of this name in its own namespace \"{own}\", not that of \"{other}\": copy it there"
    );
    report.add(Finding::new(&OTHER_NAMESPACE, path, message));
}
