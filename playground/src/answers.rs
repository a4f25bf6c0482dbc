//! Answers as JSON, with positions of the page.

use crate::offsets::Offsets;
use llsd::ide::{
    self, Analysis, CodeAction, CodeFix, CompletionItem, CompletionKind, Diagnostic, Hover, OriginKind, Preview,
    Severity, Span, Tag, TextEdit,
};
use llsd_generator::catalog::Catalog;
use llsd_generator::ogx;
use serde_json::{Value, json};

/// The versions that may be chosen, and what a text may be migrated to.
pub(crate) fn about() -> Value {
    json!({
        "program": env!("CARGO_PKG_VERSION"),
        "versions": Catalog::versions(),
        "ogx": ogx::versions_known().collect::<Vec<_>>(),
    })
}

/// Findings, what was not checked, and the resources.
pub(crate) fn check(analysis: &Analysis, offsets: &Offsets) -> Value {
    let found = analysis.diagnostics();
    let unchecked = analysis.unchecked();
    let resources = analysis.resources();
    json!({
        "diagnostics": found.iter().map(|one| diagnostic(one, offsets)).collect::<Value>(),
        "unchecked": unchecked.iter().map(|one| {
            let mut value = range(one.span, offsets);
            value["rule"] = json!(one.rule);
            value["reason"] = json!(one.reason);
            value
        }).collect::<Value>(),
        "resources": resources.iter().map(|one| {
            let mut value = range(one.span, offsets);
            value["version"] = json!(one.version);
            value["name"] = json!(one.name);
            value
        }).collect::<Value>(),
    })
}

fn range(span: Span, offsets: &Offsets) -> Value {
    json!({ "from": offsets.unit(span.start), "to": offsets.unit(span.end) })
}

fn diagnostic(found: &Diagnostic, offsets: &Offsets) -> Value {
    let mut value = range(found.span, offsets);
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "info",
        Severity::Hint => "hint",
    };
    value["severity"] = json!(severity);
    value["code"] = json!(found.code);
    value["message"] = json!(found.message);
    value["path"] = json!(found.path);
    value["apiServer"] = json!(found.api_server_message);
    value["deprecated"] = json!(found.tags.contains(&Tag::Deprecated));
    value["related"] = found
        .related
        .iter()
        .map(|(span, message)| {
            let mut value = range(*span, offsets);
            value["message"] = json!(message);
            value
        })
        .collect();
    value["fixes"] = found.fixes.iter().map(|one| fix(one, offsets)).collect();
    value
}

fn fix(fix: &CodeFix, offsets: &Offsets) -> Value {
    json!({ "title": fix.title, "edits": edits(&fix.edits, offsets), "preferred": fix.preferred })
}

/// Edits that belong together; all refer to the text as it is.
pub(crate) fn edits(edits: &[TextEdit], offsets: &Offsets) -> Value {
    edits.iter().map(|one| edit(one, offsets)).collect()
}

fn edit(edit: &TextEdit, offsets: &Offsets) -> Value {
    let mut value = range(edit.span, offsets);
    value["insert"] = json!(edit.new_text);
    value
}

/// One offer at the cursor.
pub(crate) fn offer(item: &CompletionItem, offsets: &Offsets) -> Value {
    let kind = match item.kind {
        CompletionKind::Field => "field",
        CompletionKind::Enum => "enum",
        CompletionKind::Value => "value",
        CompletionKind::Provider => "provider",
        CompletionKind::Reference => "reference",
        CompletionKind::Snippet => "snippet",
    };
    json!({
        "label": item.label,
        "kind": kind,
        "detail": item.detail,
        "documentation": item.documentation,
        "edit": edit(&item.insert, offsets),
        "snippet": item.snippet,
        "sort": item.sort,
        "filter": item.filter,
    })
}

/// What a place means, in Markdown.
pub(crate) fn hover(hover: &Hover, offsets: &Offsets) -> Value {
    let mut value = range(hover.span, offsets);
    value["markdown"] = json!(hover.markdown);
    value
}

/// A change that is offered. None reaches beyond the text, as no other is known.
pub(crate) fn action(action: &CodeAction, offsets: &Offsets) -> Value {
    json!({ "title": action.title, "edits": edits(&action.edits, offsets), "preferred": action.preferred })
}

/// The config generated for the resource at byte `at`, or for the first one where there is none; `null` without any.
pub(crate) fn preview(analysis: &Analysis, offsets: &Offsets, at: usize) -> Value {
    let first = || analysis.resources().first().map(|first| (first.document, 0));
    let chosen = analysis.resource_at(at).or_else(first);
    let preview = chosen.and_then(|(document, resource)| ide::preview_of(analysis, document, resource));
    preview.map_or(Value::Null, |preview| config(&preview, offsets))
}

fn config(preview: &Preview, offsets: &Offsets) -> Value {
    let lines = preview.lines.iter().map(|line| {
        let kind = match line.kind {
            OriginKind::Resource => "resource",
            OriginKind::Base => "base",
            OriginKind::Default => "default",
            OriginKind::Rule => "rule",
        };
        let mut value = line.source_span.map_or_else(|| json!({}), |span| range(span, offsets));
        value["kind"] = json!(kind);
        value["path"] = json!(line.path);
        value
    });
    let problems = preview.problems.iter().map(|problem| {
        let mut value = range(problem.span, offsets);
        value["message"] = json!(problem.message);
        value
    });
    let env = preview
        .env
        .iter()
        .map(|variable| json!({ "name": variable.name, "source": variable.source, "path": variable.path }));
    json!({
        "name": preview.name,
        "image": preview.image,
        "version": preview.llama_stack_version,
        "generated": !preview.hash.is_empty(),
        "text": preview.text,
        "lines": lines.collect::<Value>(),
        "problems": problems.collect::<Value>(),
        "env": env.collect::<Value>(),
        "warnings": preview.warnings,
    })
}
