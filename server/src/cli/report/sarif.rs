//! SARIF 2.1.0, which code scanning services read.

use super::place::{Lines, Place};
use super::{Other, Report};
use crate::ide::{Diagnostic, Severity, Span};
use llsd_generator::check::rules;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// One run with a result per finding.
pub(super) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let files = &report.files;
    let all = files.iter().flat_map(|file| &file.diagnostics);
    let rules: BTreeSet<&str> = all.map(|found| found.code).collect();
    let results: Vec<Value> = files
        .iter()
        .flat_map(|file| {
            let lines = Lines::new(&file.text);
            let all = file.diagnostics.iter().enumerate();
            all.map(move |(number, found)| result(&file.name, &lines, found, file.others.get(&number)))
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "llsd",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.iter().map(|id| described(id)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.unreadable.is_empty(),
                "toolExecutionNotifications": notifications(report),
            }],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// A rule as a code scanning service shows it.
fn described(id: &str) -> Value {
    let Some(rule) = rules::find(id) else { return json!({"id": id}) };
    json!({
        "id": id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": format!("{} {}", rule.summary, rule.why)},
        "help": {
            "text": format!("{}\n\n{}", rule.why, rule.example),
            "markdown": format!("{}\n\n```yaml\n{}\n```", rule.why, rule.example),
        },
        "helpUri": rule.documentation(),
        "defaultConfiguration": {"level": level(rule.severity)},
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "note",
    }
}

/// What was not looked at: files that could not be read, documents without a resource, rules that were not decided.
fn notifications(report: &Report) -> Vec<Value> {
    let unreadable = report.unreadable.iter().map(|one| {
        json!({
            "level": "error",
            "message": {"text": one.to_string()},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(&one.name())}}}],
        })
    });
    let open = report.files.iter().flat_map(|file| {
        let lines = Lines::new(&file.text);
        file.unchecked.iter().map(move |open| {
            let place = lines.place(open.span.start);
            let mut told = json!({
                "level": "note",
                "message": {"text": format!("not checked: {}", open.reason)},
                "locations": [physical(&file.name, (place, lines.place(open.span.end)))],
            });
            if let Some(rule) = &open.rule {
                told["associatedRule"] = json!({"id": rule});
            }
            told
        })
    });
    unreadable.chain(open).collect()
}

fn result(name: &str, lines: &Lines<'_>, found: &Diagnostic, other: Option<&Other>) -> Value {
    let inside = |span: Span| (lines.place(span.start), lines.place(span.end));
    let mut location = physical(name, inside(found.span));
    location["logicalLocations"] = json!([{"fullyQualifiedName": found.path}]);
    let related = found.related.iter().map(|(span, message)| (physical(name, inside(*span)), message.as_str()));
    let elsewhere = other.zip(found.elsewhere.as_ref());
    let elsewhere = elsewhere.map(|(at, other)| (physical(&at.name, (at.start, at.end)), other.message));
    let related: Vec<Value> = related
        .chain(elsewhere)
        .map(|(mut location, message)| {
            location["message"] = json!({"text": message});
            location
        })
        .collect();
    json!({
        "ruleId": found.code,
        "level": level(found.severity),
        "message": {"text": found.message},
        "locations": [location],
        "relatedLocations": related,
    })
}

fn physical(name: &str, (start, end): (Place, Place)) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(name)},
            "region": {
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
            },
        },
    })
}

/// A file name as a relative URI reference. One that begins with a drive is no relative one: its colon would end a scheme.
fn uri(name: &str) -> String {
    let (mut uri, rest) = match name.split_at_checked(2) {
        Some((drive, rest)) if drive.ends_with(':') && rest.starts_with('/') => (format!("file:///{drive}"), rest),
        _ => (String::with_capacity(name.len()), name.trim_start_matches("./")),
    };
    for byte in rest.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn files_are_named_as_uris() {
        assert_eq!(uri("./deploy/my file.yaml"), "deploy/my%20file.yaml");
        assert_eq!(uri("/tmp/é.yaml"), "/tmp/%C3%A9.yaml");
        assert_eq!(uri("C:/deploy/a.yaml"), "file:///C:/deploy/a.yaml");
        assert_eq!(uri("é/a.yaml"), "%C3%A9/a.yaml");
    }
}
