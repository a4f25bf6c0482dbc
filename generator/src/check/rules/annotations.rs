//! Annotations of other tools that act on the resource. Source: kubectl (`last-applied-configuration` is its own record of
//! what it applied), Helm and Argo CD (hooks are deleted before the next ones are made; what the operator made for a
//! resource goes with it, the volume as well).

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, Severity};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;
use crate::path::Path;

/// Where kubectl keeps what it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

pub static LAST_APPLIED_KEPT: Rule = Rule {
    id: "llsd::metadata::last-applied",
    severity: Severity::Information,
    summary: "The file holds kubectl's record of an earlier apply.",
    why: "It came with what `kubectl get -o yaml` printed. The next `kubectl apply` compares with this old record instead of what it last applied, and may leave fields behind or take others away.",
    example: "metadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"kind\": \"LlamaStackDistribution\"}",
    fixes: Some(|_, finding| vec![Fix { preferred: true, ..Fix::remove("Remove it", finding.path.clone()) }]),
    ..Rule::PLAIN
};

pub static HOOK_DELETES_STORAGE: Rule = Rule {
    id: "llsd::metadata::hook-deletes-storage",
    severity: Severity::Warning,
    summary: "Helm or Argo CD deletes the resource before it applies it again, and its volume with it.",
    why: "The operator makes the volume for the resource, and Kubernetes deletes it together with the resource. Everything that the server has stored is lost with each upgrade.",
    example: "metadata:\n  annotations:\n    helm.sh/hook: post-install,post-upgrade\nspec:\n  server:\n    storage: {size: 20Gi}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&LAST_APPLIED_KEPT, &HOOK_DELETES_STORAGE], check: Some(check) };

/// The hooks of the two tools: the annotation, the one about deletion, and the tool.
const HOOKS: [(&str, &str, &str); 2] = [
    ("helm.sh/hook", "helm.sh/hook-delete-policy", "Helm"),
    ("argocd.argoproj.io/hook", "argocd.argoproj.io/hook-delete-policy", "Argo CD"),
];

/// Where Argo CD is told to delete and make anew what it cannot change.
const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let at = Path::root().key("metadata").key("annotations");
    let last = at.key(LAST_APPLIED);
    if context.get(&last).is_some() {
        let message =
            "kubectl's record of an earlier apply does not belong into a file: the next apply would compare with it";
        report.add(Finding::new(&LAST_APPLIED_KEPT, last, message).at_key());
    }
    let storage = match context.version {
        ApiVersion::V1Alpha1 => "server.storage",
        ApiVersion::V1Alpha2 => "workload.storage",
        // The volume of an OGXServer has no owner, and outlives it.
        ApiVersion::OgxV1Beta1 => return,
    };
    if !context.is_present(storage) {
        return;
    }
    for (hook, policy, tool) in HOOKS {
        let path = at.key(hook);
        let Some(when) = context.text(&path) else { continue };
        // A hook that only deletes, or that a test runs, is not made again with the next upgrade.
        let again = when.split(',').map(str::trim).any(|event| !matches!(event, "test" | "test-success" | "Skip"));
        if !again {
            continue;
        }
        // Without a policy, both tools delete the last one before they make the next.
        let rule = match context.text(&at.key(policy)) {
            Some(policy) => format!("with the policy \"{policy}\""),
            None => "as it does by default".to_owned(),
        };
        let message = format!(
            "{tool} deletes this hook and makes it anew, {rule}: the volume with the server's data goes with it"
        );
        report.add(
            Finding::new(&HOOK_DELETES_STORAGE, path, message).with_related(RuleContext::spec(storage), "The volume"),
        );
    }
    let path = at.key(SYNC_OPTIONS);
    let options: Vec<&str> = context.text(&path).into_iter().flat_map(|text| text.split(',')).map(str::trim).collect();
    if options.contains(&"Replace=true") && options.contains(&"Force=true") {
        let message =
            "Argo CD deletes the resource to replace it by force: the volume with the server's data goes with it";
        report.add(
            Finding::new(&HOOK_DELETES_STORAGE, path, message).with_related(RuleContext::spec(storage), "The volume"),
        );
    }
}
