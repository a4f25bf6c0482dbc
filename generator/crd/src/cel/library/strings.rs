//! Functions on strings. Positions count characters.

use super::print::format;
use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::program::Function;
use crate::cel::value::Val;
use crate::text::quote;

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    if (name, member, count) == ("strings.quote", false, 1) {
        return Some(|_, v| Ok(Val::text(quote(text(&v[0])?))));
    }
    if !member {
        return None;
    }
    Some(match (name, count) {
        ("contains", 2) => |_, v| Ok(Val::Bool(text(&v[0])?.contains(text(&v[1])?))),
        ("startsWith", 2) => |_, v| Ok(Val::Bool(text(&v[0])?.starts_with(text(&v[1])?))),
        ("endsWith", 2) => |_, v| Ok(Val::Bool(text(&v[0])?.ends_with(text(&v[1])?))),
        ("lowerAscii", 1) => |_, v| Ok(Val::text(text(&v[0])?.to_ascii_lowercase())),
        ("upperAscii", 1) => |_, v| Ok(Val::text(text(&v[0])?.to_ascii_uppercase())),
        ("trim", 1) => |_, v| Ok(Val::text(text(&v[0])?.trim())),
        ("charAt", 2) => char_at,
        ("split", 2 | 3) => split,
        ("replace", 3 | 4) => replace,
        ("substring", 2 | 3) => substring,
        ("join", 1 | 2) => join,
        ("format", 2) => |env, v| {
            let arguments = v[1].items(env)?;
            format(env, text(&v[0])?, &arguments).map(Val::text)
        },
        _ => return None,
    })
}

pub(crate) fn text<'v>(value: &'v Val<'_>) -> Result<&'v str, Fail> {
    match value {
        Val::Str(text) => Ok(text),
        _ => Err(Fail::no_overload()),
    }
}

pub(crate) fn integer(value: &Val<'_>) -> Result<i64, Fail> {
    match value {
        Val::Int(integer) => Ok(*integer),
        _ => Err(Fail::no_overload()),
    }
}

fn char_at<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let (text, at) = (text(&v[0])?, integer(&v[1])?);
    let count = text.chars().count() as i64;
    if at < 0 || at > count {
        return Err(Fail::Error(format!("index out of range: {at}")));
    }
    Ok(Val::text(text.chars().nth(at as usize).map(String::from).unwrap_or_default()))
}

fn split<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let (text, separator) = (text(&v[0])?, text(&v[1])?);
    let limit = v.get(2).map_or(Ok(-1), integer)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if limit == 0 {
        return Ok(Val::list(Vec::new()));
    }
    if separator.is_empty() {
        let mut parts: Vec<Val<'a>> = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if parts.len() + 1 == limit {
                parts.push(Val::text(rest));
                break;
            }
            parts.push(Val::text(c));
            rest = &rest[c.len_utf8()..];
        }
        return Ok(Val::list(parts));
    }
    Ok(Val::list(text.splitn(limit, separator).map(Val::text).collect()))
}

fn replace<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let (text, from, to) = (text(&v[0])?, text(&v[1])?, text(&v[2])?);
    let limit = v.get(3).map_or(Ok(-1), integer)?;
    if (text.len() + 1).saturating_mul(to.len()) > 10_000_000 {
        return Err(Fail::undecidable("a string grows too long"));
    }
    Ok(Val::text(match usize::try_from(limit) {
        Ok(limit) => text.replacen(from, to, limit),
        Err(_) => text.replace(from, to),
    }))
}

fn substring<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let (text, start) = (text(&v[0])?, integer(&v[1])?);
    let count = text.chars().count() as i64;
    let end = v.get(2).map_or(Ok(count), integer)?;
    if v.len() == 2 && (start < 0 || start > count) {
        return Err(Fail::Error(format!("index out of range: {start}")));
    }
    if start > end {
        return Err(Fail::Error(format!("invalid substring range. start: {start}, end: {end}")));
    }
    if start < 0 || start > count {
        return Err(Fail::Error(format!("index out of range: {start}")));
    }
    if end < 0 || end > count {
        return Err(Fail::Error(format!("index out of range: {end}")));
    }
    Ok(Val::text(text.chars().skip(start as usize).take((end - start) as usize).collect::<String>()))
}

fn join<'a>(env: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let separator = v.get(1).map_or(Ok(""), text)?;
    let mut out = String::new();
    for (position, item) in v[0].items(env)?.iter().enumerate() {
        if position > 0 {
            out.push_str(separator);
        }
        out.push_str(text(item)?);
    }
    Ok(Val::text(out))
}
