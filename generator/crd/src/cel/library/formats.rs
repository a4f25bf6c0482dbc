//! The named formats of Kubernetes: `format.dns1123Label().validate(name)`.

use super::strings::text;
use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::program::Function;
use crate::cel::url::Url;
use crate::cel::value::Val;
use crate::format;

const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        ("format.named", false, 1) => |_, v| {
            let name = text(&v[0])?;
            let known = NAMES.into_iter().find(|known| *known == name);
            Ok(known.map_or(Val::Optional(None), |known| Val::some(Val::Format(known))))
        },
        ("format.dns1123Label", false, 0) => |_, _| Ok(Val::Format("dns1123Label")),
        ("format.dns1123Subdomain", false, 0) => |_, _| Ok(Val::Format("dns1123Subdomain")),
        ("format.dns1035Label", false, 0) => |_, _| Ok(Val::Format("dns1035Label")),
        ("format.qualifiedName", false, 0) => |_, _| Ok(Val::Format("qualifiedName")),
        ("format.dns1123LabelPrefix", false, 0) => |_, _| Ok(Val::Format("dns1123LabelPrefix")),
        ("format.dns1123SubdomainPrefix", false, 0) => |_, _| Ok(Val::Format("dns1123SubdomainPrefix")),
        ("format.dns1035LabelPrefix", false, 0) => |_, _| Ok(Val::Format("dns1035LabelPrefix")),
        ("format.labelValue", false, 0) => |_, _| Ok(Val::Format("labelValue")),
        ("format.uri", false, 0) => |_, _| Ok(Val::Format("uri")),
        ("format.uuid", false, 0) => |_, _| Ok(Val::Format("uuid")),
        ("format.byte", false, 0) => |_, _| Ok(Val::Format("byte")),
        ("format.date", false, 0) => |_, _| Ok(Val::Format("date")),
        ("format.datetime", false, 0) => |_, _| Ok(Val::Format("datetime")),
        ("validate", true, 2) => validate,
        _ => return None,
    })
}

/// The faults, if any. Their wording is ours for names, so rules that print it are stricter in nothing but text.
fn validate<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let Val::Format(name) = v[0] else { return Err(Fail::no_overload()) };
    let text = text(&v[1])?;
    let fault = match name {
        "uri" => Url::parse_request(text).err(),
        "uuid" => fault(format::matches("uuid", text) == Some(true), "does not match the UUID format"),
        "byte" => fault(format::matches("byte", text) == Some(true), "invalid base64"),
        "date" => fault(format::matches("date", text) == Some(true), "invalid date"),
        "datetime" => fault(format::matches("datetime", text) == Some(true), "invalid datetime"),
        "dns1123Label" => fault(format::dns_label(text), "must be a DNS label"),
        "dns1123LabelPrefix" => fault(format::dns_label(&masked(text)), "must be a DNS label"),
        "dns1035Label" => fault(dns1035(text), "must be a DNS label that starts with a letter"),
        "dns1035LabelPrefix" => fault(dns1035(&masked(text)), "must be a DNS label that starts with a letter"),
        "dns1123Subdomain" => fault(subdomain(text), "must be a DNS subdomain"),
        "dns1123SubdomainPrefix" => fault(subdomain(&masked(text)), "must be a DNS subdomain"),
        "labelValue" => fault(text.is_empty() || qualified_part(text), "must be a label value"),
        _ => fault(qualified_name(text), "must be a qualified name"),
    };
    Ok(fault.map_or(Val::Optional(None), |fault| Val::some(Val::list(vec![Val::text(fault)]))))
}

fn fault(fits: bool, text: &str) -> Option<String> {
    (!fits).then(|| text.to_owned())
}

/// A name that will be continued may end in a dash.
fn masked(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => format!("{rest}a"),
        _ => text.to_owned(),
    }
}

fn dns1035(text: &str) -> bool {
    format::dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

fn subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(format::dns_name_part)
}

/// Letters, digits, and `-`, `_`, `.` inside; at most 63.
pub(crate) fn qualified_part(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

/// A name, perhaps with the DNS subdomain of its owner before a slash.
pub(crate) fn qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        None => qualified_part(text),
        Some((prefix, name)) => subdomain(prefix) && !name.contains('/') && qualified_part(name),
    }
}
