//! Ids of providers, and who names them. Source: upstream's validating webhook.

use crate::check::context::{Report, RuleContext};
use crate::check::finding::{Finding, Fix, Severity};
use crate::check::rule::{Group, Rule};
use crate::check::rules::{duplicate_id::DUPLICATE_ID, model_provider::UNKNOWN_PROVIDER};
use crate::nearest::nearest;
use crate::ogx::providers::{Entry, entries};
use crate::path::Path;
use serde_json::Value;
use std::collections::HashMap;

pub static CASE_ORDER: Rule = Rule {
    id: "llsd::ogx::guessed-provider",
    severity: Severity::Warning,
    summary: "A model names no provider, and there are several.",
    why: "The operator takes the one whose id is first in alphabetical order, which changes when another one is added; \
    clients say <provider>/<model>, so the model would get another name.",
    example: "kind: OGXServer\nspec:\n  providers:\n    inference:\n      remote:\n        vllm: [{endpoint: \"http://vllm:8000/v1\"}]\n        openai: [{apiKey: {name: openai, key: token}}]\n  resources:\n    models:\n      - name: llama3",
    ..Rule::PLAIN
};

pub(crate) static GROUP: Group = Group { rules: &[&CASE_ORDER], check: Some(check) };

fn check(context: &RuleContext<'_>, report: &mut Report) {
    if !context.is_complete(&RuleContext::spec("providers")) {
        return;
    }
    let all = entries(context.value());
    unique(&all, report);
    models(context, &all, report);
}

/// Where an id is written, or follows from the type.
fn id_path(entry: &Entry<'_>) -> Path {
    if entry.value["id"].is_null() { entry.path.clone() } else { entry.path.key("id") }
}

fn unique(all: &[Entry<'_>], report: &mut Report) {
    let mut seen: HashMap<String, Path> = HashMap::new();
    for entry in all {
        let (id, path) = (entry.id(), id_path(entry));
        let Some(first) = seen.get(&id) else {
            seen.insert(id, path);
            continue;
        };
        let why =
            if entry.value["id"].is_null() { ", which follows from its type: give it an id of its own" } else { "" };
        let message = format!("duplicate provider ID \"{id}\"{why}");
        let free =
            (2..).map(|number| format!("{id}-{number}")).find(|free| all.iter().all(|other| other.id() != *free));
        let mut finding = Finding::new(&DUPLICATE_ID, path.clone(), message);
        finding = finding.with_related(first.clone(), "The other provider of this id");
        if let Some(free) = free {
            let title = format!("Give it the id {free}");
            finding = finding.with_fix(match entry.value["id"].is_null() {
                true => Fix::insert(title, entry.path.key("id"), free),
                false => Fix::replace(title, path, free),
            });
        }
        report.add(finding);
    }
}

fn models(context: &RuleContext<'_>, all: &[Entry<'_>], report: &mut Report) {
    // Upstream asks only if there are providers at all; those of the base config do not count.
    if !context.is_present("providers") {
        return;
    }
    let ids: Vec<String> = all.iter().map(Entry::id).collect();
    let of_inference: Vec<String> = all.iter().filter(|entry| entry.api.name == "inference").map(Entry::id).collect();
    for (path, model) in context.items(&RuleContext::spec("resources.models")) {
        let at = path.key("provider");
        let Some(provider) = context.text(&at) else {
            if model.get("provider").is_none_or(Value::is_null) && of_inference.len() > 1 {
                let first = of_inference.iter().min().cloned().unwrap_or_default();
                let message =
                    format!("No provider is named: the operator takes \"{first}\", the first in alphabetical order");
                let fixes = of_inference.iter().map(|id| Fix::insert(format!("Name {id}"), at.clone(), id.as_str()));
                let mut finding = Finding::new(&CASE_ORDER, path, message);
                finding.fixes.extend(fixes);
                report.add(finding);
            }
            continue;
        };
        if ids.iter().any(|id| id == provider) {
            continue;
        }
        let known = ids.join(" ");
        let message = format!(
            "references unknown provider ID \"{provider}\"; available: [{known}]. Providers of the base config do not \
             count as soon as spec.providers is there"
        );
        let mut finding = Finding::new(&UNKNOWN_PROVIDER, at.clone(), message);
        let near = nearest(provider, ids.iter().map(String::as_str));
        finding.fixes.extend(near.map(|id| Fix::change_to(at, id)));
        report.add(finding);
    }
}
