//! Secrets and ConfigMaps that a resource names. Source: the kubelet, which starts no container before they are there; the
//! operator tells it in the condition `SecretsResolved`.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Cause, Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::nearest::nearest;
use crate::path::Path;
use crate::references::{Reference, ReferenceKind as Kind};

pub static NOT_FOUND: Rule = Rule {
    id: "llsd::reference::not-found",
    severity: Severity::Error,
    summary: "A Secret or ConfigMap that the resource names does not exist.",
    why: "The pod would wait for it and never start.",
    example: "apiKey:\n  secretKeyRef: {name: openai-credential, key: api-key}",
    ..Rule::PLAIN
};

pub static NO_KEY: Rule = Rule {
    id: "llsd::reference::no-key",
    severity: Severity::Error,
    summary: "The Secret or ConfigMap does not have the key that the resource names.",
    why: "The pod would wait for it and never start.",
    example: "apiKey:\n  secretKeyRef: {name: openai-credentials, key: apikey}",
    ..Rule::PLAIN
};

pub static NAME_HASH: Rule = Rule {
    id: "llsd::reference::name-hash",
    severity: Severity::Warning,
    summary: "A kustomization puts a hash behind the name of the Secret or ConfigMap that the resource names.",
    why: "kustomize brings the new name into objects of Kubernetes' own kinds, and into others only where `configurations` tell \
    it which field holds a name. The resource keeps the name without the hash, and its pod would wait for that.",
    example: "# kustomization.yaml\nresources: [stack.yaml]\nconfigMapGenerator:\n- name: config   # becomes config-8mbdf7882g\n  files: [config.yaml]",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&NOT_FOUND, &NO_KEY, &NAME_HASH], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    for reference in required(context) {
        judge(context, reference, report);
    }
}

/// The objects of its own namespace that a resource names and cannot do without, with the places. At another namespace
/// nobody looked.
pub(in crate::check) fn required<'s, 'a>(context: &'s RuleContext<'a>) -> impl Iterator<Item = &'s Reference<'a>> {
    let here = |reference: &&Reference<'a>| match &reference.namespace {
        Some((namespace, path)) => context.is_known(path) && *namespace == context.namespace(),
        None => true,
    };
    context.references().iter().filter(|reference| reference.is_required()).filter(here)
}

fn judge(context: &RuleContext<'_>, reference: &Reference<'_>, report: &mut Report) {
    let object = (context.namespace().to_owned(), reference.name.to_owned());
    let kind = reference.kind.name();
    let cause = Cause::Object(reference.kind, reference.needed_by);
    if let Some(by) = context.facts.hashed.get(&(reference.kind, object.clone())) {
        let message = format!(
            "{by} puts a hash behind the name of {kind} \"{}\", which kustomize does not bring into a {}: set \
             disableNameSuffixHash in the options of its generator",
            reference.name,
            context.version.kind().name()
        );
        report.add(Finding::new(&NAME_HASH, reference.path.clone(), message).because(cause.clone()));
    }
    // The keys of the object: `None` if objects of its kind are not known, `Some(None)` if it does not exist.
    let (keys, names): (Option<Option<Vec<&str>>>, Vec<&str>) = match reference.kind {
        Kind::Secret => {
            let known = context.facts.secrets.as_ref();
            let keys = known.map(|known| known.get(&object).map(|keys| keys.iter().map(String::as_str).collect()));
            (keys, known.into_iter().flatten().map(|((_, name), _)| name.as_str()).collect())
        }
        Kind::ConfigMap => {
            let known = context.facts.config_maps.as_ref();
            let keys = known.map(|known| known.get(&object).map(|data| data.keys().map(String::as_str).collect()));
            (keys, known.into_iter().flatten().map(|((_, name), _)| name.as_str()).collect())
        }
    };
    let Some(keys) = keys else {
        return report.not_checked(&NOT_FOUND, &reference.path, &format!("{kind}s are not known here"));
    };
    let namespace = context.namespace();
    let place = if namespace.is_empty() { String::new() } else { format!(" in namespace \"{namespace}\"") };
    let Some(keys) = keys else {
        if !context.knows_namespace() {
            let reason = "the resource's namespace is not known";
            return report.not_checked(&NOT_FOUND, &reference.path, reason);
        }
        let message = format!("{kind} \"{}\" not found{place}. Referenced by: {}", reference.name, reference.path);
        let finding = Finding::new(&NOT_FOUND, reference.path.clone(), message).because(cause);
        return report.add(with_nearest(finding, reference.name, &reference.path, &names));
    };
    for (key, path) in reference.keys.iter().filter(|(key, _)| !keys.contains(key)) {
        let message = format!("{kind} \"{}\"{place} has no key \"{key}\". Referenced by: {path}", reference.name);
        let finding = Finding::new(&NO_KEY, path.clone(), message).because(cause.clone());
        report.add(with_nearest(finding, key, path, &keys));
    }
}

fn with_nearest(finding: Finding, written: &str, path: &Path, known: &[&str]) -> Finding {
    let Some(closest) = nearest(written, known.iter().copied()) else { return finding };
    let edits = vec![FixEdit::Replace { path: path.clone(), value: closest.into() }];
    finding.with_fix(Fix { title: format!("Change to \"{closest}\""), edits, preferred: false })
}
