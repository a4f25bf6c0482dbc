//! The object's metadata, which no CRD describes: the API server checks it for every kind. Source: what it answers.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity, Target};
use super::super::rule::{Group, Rule};
use crate::names::{is_label, is_subdomain};
use crate::nearest::nearest;
use crate::path::Path;
use serde_json::{Map, Value};

pub static FIELD: Rule = Rule {
    id: "llsd::metadata::field",
    severity: Severity::Error,
    summary: "A field of metadata is unknown, of the wrong type, or missing.",
    why: "The API server refuses the whole object, or, where unknown fields are tolerated, drops the field.",
    example: "metadata:\n  name: my-stack\n  label:\n    team: ai",
    ..Rule::PLAIN
};

pub static SYNTAX: Rule = Rule {
    id: "llsd::metadata::syntax",
    severity: Severity::Error,
    summary: "A name, a label or an annotation key is not written as Kubernetes wants it.",
    why: "The API server refuses the object. Names take lower-case letters, digits, `-` and `.`; label values also \
    upper case and `_`, at most 63 characters.",
    example: "metadata:\n  name: My_Stack",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&FIELD, &SYNTAX], check: Some(check) };

/// What the API server decodes each field of metadata into.
const FIELDS: [(&str, Type); 15] = [
    ("annotations", Type::Texts),
    ("creationTimestamp", Type::Text),
    ("deletionGracePeriodSeconds", Type::Integer),
    ("deletionTimestamp", Type::Text),
    ("finalizers", Type::List),
    ("generateName", Type::Text),
    ("generation", Type::Integer),
    ("labels", Type::Texts),
    ("managedFields", Type::Any),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("ownerReferences", Type::Any),
    ("resourceVersion", Type::Text),
    ("selfLink", Type::Text),
    ("uid", Type::Text),
];

#[derive(Clone, Copy)]
enum Type {
    Text,
    Integer,
    /// A mapping with strings as values, such as `labels`.
    Texts,
    /// A list of strings, such as `finalizers`.
    List,
    /// Written by machines; not looked into.
    Any,
}

/// The fields of an owner reference; the first four must be there.
const OWNER_FIELDS: [&str; 6] = ["apiVersion", "kind", "name", "uid", "blockOwnerDeletion", "controller"];

/// Greatest size of keys and values of all annotations together, in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
    and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
    an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const QUALIFIED: &str = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
    'example.com/MyName')";

const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
    and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
    validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let at = Path::root().key("metadata");
    if !context.is_known(&at) {
        return;
    }
    let metadata = match context.get(&at) {
        None => &Map::new(),
        Some(Value::Object(fields)) => fields,
        Some(_) => return report.add(mistyped(&at, "a mapping with a name")),
    };
    for field in metadata.keys() {
        let path = at.key(field);
        match FIELDS.iter().find(|(known, _)| known == field) {
            None => report.add(unknown(&path, field, &FIELDS.map(|(known, _)| known))),
            Some((_, kind)) => types(context, &path, *kind, report),
        }
    }
    names(context, &at, report);
    owners(context, &at.key("ownerReferences"), report);
    for (path, key, value) in entries(context, &at.key("labels")) {
        let text = value.as_str().unwrap_or_default();
        key_syntax(&path, "metadata.labels", &key, &key, report);
        if context.is_known(&path)
            && let Some(detail) = label_value_fault(text)
        {
            report.add(refused(&path, "metadata.labels", text, &plain_label(text), &detail));
        }
    }
    let mut size = 0;
    for (path, key, value) in entries(context, &at.key("annotations")) {
        size += key.len() + value.as_str().map_or(0, str::len);
        // The server compares annotation keys in lower case.
        key_syntax(&path, "metadata.annotations", &key, &key.to_lowercase(), report);
    }
    if size > MAX_ANNOTATIONS {
        let message = format!("The annotations take {size} bytes, {MAX_ANNOTATIONS} are allowed");
        let mut finding = Finding::new(&SYNTAX, at.key("annotations"), message);
        finding.api_server_message = Some(format!("Too long: may not be more than {MAX_ANNOTATIONS} bytes"));
        report.add(finding);
    }
    for (path, item) in context.items(&at.key("finalizers")) {
        if let Some(text) = item.as_str().filter(|_| context.is_known(&path)) {
            key_syntax(&path, "metadata.finalizers", text, text, report);
        }
    }
}

/// Owner references name one object each, in full.
fn owners(context: &RuleContext<'_>, at: &Path, report: &mut Report) {
    for (path, owner) in context.items(at) {
        let Some(owner) = owner.as_object().filter(|_| context.is_known(&path)) else { continue };
        for field in owner.keys().filter(|field| !OWNER_FIELDS.contains(&field.as_str())) {
            report.add(unknown(&path.key(field), field, &OWNER_FIELDS));
        }
        for field in &OWNER_FIELDS[..4] {
            let empty = owner.get(*field).is_none_or(|value| value.is_null() || value == "");
            if empty && context.is_known(&path.key(*field)) {
                let message = format!("An owner reference needs {field}");
                let api_server_path = format!("{at}.{field}");
                report.add(refused(&path.key(*field), &api_server_path, "", &message, "must not be empty"));
            }
        }
    }
}

fn entries(context: &RuleContext<'_>, at: &Path) -> Vec<(Path, String, Value)> {
    let map = context.get(at).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (at.key(key), key.clone(), value.clone())).collect()
}

fn types(context: &RuleContext<'_>, path: &Path, kind: Type, report: &mut Report) {
    let Some(value) = context.get(path) else { return };
    let fits = match kind {
        Type::Text => value.is_string(),
        Type::Integer => value.is_i64(),
        Type::Texts => value.is_object(),
        Type::List => value.is_array(),
        Type::Any => true,
    };
    if !fits {
        let wanted = match kind {
            Type::Text => "a string",
            Type::Integer => "an integer",
            Type::Texts => "a mapping of strings",
            Type::List | Type::Any => "a list of strings",
        };
        return report.add(quoted(mistyped(path, wanted), path, value, matches!(kind, Type::Text)));
    }
    let children: Vec<(Path, &Value)> = match value {
        Value::Object(map) if matches!(kind, Type::Texts) => map.iter().map(|(key, v)| (path.key(key), v)).collect(),
        Value::Array(items) if matches!(kind, Type::List) => {
            items.iter().enumerate().map(|(at, item)| (path.index(at), item)).collect()
        }
        _ => Vec::new(),
    };
    for (path, child) in children {
        // The server reads a null as an empty string.
        if !child.is_string() && !child.is_null() && context.is_known(&path) {
            report.add(quoted(mistyped(&path, "a string"), &path, child, true));
        }
    }
}

fn names(context: &RuleContext<'_>, at: &Path, report: &mut Report) {
    let (name, prefix) = (at.key("name"), at.key("generateName"));
    let is_empty = |path: &Path| {
        context.is_known(path) && context.get(path).is_none_or(|value| value.as_str().is_some_and(str::is_empty))
    };
    if is_empty(&name) && is_empty(&prefix) {
        let mut finding = Finding::new(&FIELD, name.clone(), "The resource needs a name");
        finding.api_server_message = Some("Required value: name or generateName is required".to_owned());
        report.add(finding);
    }
    if let Some(text) = context.text(&name).filter(|text| !text.is_empty())
        && let Some(detail) = subdomain_fault(text)
    {
        report.add(refused(&name, "metadata.name", text, &plain_name(text), &detail));
    }
    if let Some(text) = context.text(&prefix).filter(|text| !text.is_empty()) {
        // The server forgives a dash at the end, and with it the letter before.
        let masked = text.strip_suffix('-').and_then(|rest| rest.char_indices().next_back());
        let judged = masked.map_or_else(|| text.to_owned(), |(last, _)| format!("{}a", &text[..last]));
        if let Some(detail) = subdomain_fault(&judged) {
            report.add(refused(&prefix, "metadata.generateName", text, &plain_name(text), &detail));
        }
        let made = format!("{text}00000");
        if is_empty(&name)
            && let Some(detail) = subdomain_fault(&made)
        {
            report.add(refused(&prefix, "metadata.name", &made, &plain_name(&made), &detail));
        }
    }
    let namespace = at.key("namespace");
    if let Some(text) = context.text(&namespace).filter(|text| !text.is_empty() && !is_label(text)) {
        report.add(Finding::new(&SYNTAX, namespace, plain_name(text)));
    }
}

fn key_syntax(path: &Path, api_server_path: &str, key: &str, compared: &str, report: &mut Report) {
    for detail in key_faults(compared) {
        let message = format!(
            "\"{key}\" is not a valid key: letters, digits, `-`, `_` and `.`, at most 63, beginning and ending with a \
             letter or digit; before it may stand a domain and a `/`"
        );
        let mut finding = refused(path, api_server_path, key, &message, &detail);
        finding.target = Target::Key;
        report.add(finding);
    }
}

/// What is wrong with a key such as `example.com/name`, in the server's words.
fn key_faults(key: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut parts = key.split('/');
    let (first, second, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next().is_some());
    if more {
        return vec![QUALIFIED.to_owned()];
    }
    let name = match second {
        None => first,
        Some(name) => {
            if first.is_empty() {
                faults.push("prefix part must be non-empty".to_owned());
            } else if let Some(fault) = subdomain_fault(first) {
                faults.push(format!("prefix part {fault}"));
            }
            name
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        faults.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_word(name) {
        faults.push(NAME_PART.to_owned());
    }
    faults
}

fn label_value_fault(value: &str) -> Option<String> {
    if value.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    (!value.is_empty() && !is_word(value)).then(|| LABEL_VALUE.to_owned())
}

fn subdomain_fault(name: &str) -> Option<String> {
    if name.len() > 253 {
        return Some("must be no more than 253 characters".to_owned());
    }
    (!is_subdomain(name)).then(|| SUBDOMAIN.to_owned())
}

/// Letters, digits and, inside, `-`, `_` and `.`.
fn is_word(text: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn plain_name(text: &str) -> String {
    format!(
        "\"{text}\" is not a valid name: it takes lower-case letters, digits and `-`, and begins and ends with a letter \
         or digit"
    )
}

fn plain_label(text: &str) -> String {
    format!(
        "\"{text}\" is not a valid label value: at most 63 letters, digits, `-`, `_` and `.`, beginning and ending with \
         a letter or digit"
    )
}

fn mistyped(path: &Path, wanted: &str) -> Finding {
    let mut finding = Finding::new(&FIELD, path.clone(), format!("expected {wanted}"));
    finding.api_server_message = Some("cannot be decoded".to_owned());
    finding
}

/// Offers to write a number or a boolean as a string, where one is wanted.
fn quoted(finding: Finding, path: &Path, value: &Value, wanted: bool) -> Finding {
    if !wanted || value.is_object() || value.is_array() {
        return finding;
    }
    let edits = vec![FixEdit::Replace { path: path.clone(), value: value.to_string().into() }];
    finding.with_fix(Fix { title: format!("Write \"{value}\""), edits, preferred: true })
}

fn unknown(path: &Path, field: &str, known: &[&'static str]) -> Finding {
    let near = nearest(field, known.iter().copied());
    let hint = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    let message = format!("unknown field \"{field}\"{hint}");
    let mut finding = Finding::new(&FIELD, path.clone(), message).at_key();
    finding.api_server_message = Some(format!("unknown field \"{path}\""));
    match near {
        Some(near) => finding.with_fix(Fix {
            title: format!("Rename \"{field}\" to \"{near}\""),
            edits: vec![FixEdit::RenameKey { path: path.clone(), to: near.to_owned() }],
            preferred: true,
        }),
        None => finding,
    }
}

fn refused(path: &Path, api_server_path: &str, value: &str, message: &str, detail: &str) -> Finding {
    let mut finding = Finding::new(&SYNTAX, path.clone(), message);
    finding.api_server_message = Some(format!("Invalid value: {}: {detail}", Value::from(value)));
    finding.api_server_path = (path.to_string() != api_server_path).then(|| api_server_path.to_owned());
    finding
}
