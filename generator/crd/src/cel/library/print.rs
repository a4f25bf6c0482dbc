//! Numbers as text, and `format()`.

use crate::cel::eval::{Env, Fail};
use crate::cel::time::print_duration;
use crate::cel::value::Val;
use crate::text::quote;

/// Fills the clauses of a format string, such as `%s` and `%.2f`. What CEL prints in ways of its own (exponents, maps)
/// is left open.
pub(crate) fn format<'a>(env: &Env<'a>, pattern: &str, arguments: &[Val<'a>]) -> Result<String, Fail> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut next = arguments.iter();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut precision = None;
        let mut verb = chars.next();
        if verb == Some('%') {
            out.push('%');
            continue;
        }
        if verb == Some('.') {
            let mut digits = String::new();
            verb = chars.next();
            while let Some(digit) = verb.filter(char::is_ascii_digit) {
                digits.push(digit);
                verb = chars.next();
            }
            // A precision beyond what a float can hold only makes zeros.
            precision = Some(
                digits.parse::<usize>().ok().filter(|p| *p <= 100).ok_or_else(|| Fail::undecidable("a precision"))?,
            );
        }
        let Some(argument) = next.next() else {
            return Err(Fail::undecidable("format() with too few arguments"));
        };
        out.push_str(&clause(env, verb, precision, argument)?);
        if out.len() > 1_000_000 {
            return Err(Fail::undecidable("a string grows too long"));
        }
    }
    Ok(out)
}

fn clause<'a>(env: &Env<'a>, verb: Option<char>, precision: Option<usize>, value: &Val<'a>) -> Result<String, Fail> {
    let wrong = || Fail::undecidable("format() with an argument of another type");
    Ok(match (verb, value) {
        (Some('s'), value) => shown(env, value, 0)?,
        (Some('d'), Val::Int(a)) => a.to_string(),
        (Some('d'), Val::UInt(a)) => a.to_string(),
        (Some('f'), value) => format!("{:.*}", precision.unwrap_or(6), number(value).ok_or_else(wrong)?),
        (Some('b'), Val::Int(a)) => format!("{}{:b}", if *a < 0 { "-" } else { "" }, a.unsigned_abs()),
        (Some('b'), Val::Bool(flag)) => u8::from(*flag).to_string(),
        (Some('o'), Val::Int(a)) => format!("{}{:o}", if *a < 0 { "-" } else { "" }, a.unsigned_abs()),
        (Some('x'), Val::Int(a)) => format!("{}{:x}", if *a < 0 { "-" } else { "" }, a.unsigned_abs()),
        (Some('X'), Val::Int(a)) => format!("{}{:X}", if *a < 0 { "-" } else { "" }, a.unsigned_abs()),
        (Some('x'), Val::Str(text)) => text.bytes().map(|b| format!("{b:02x}")).collect(),
        (Some('X'), Val::Str(text)) => text.bytes().map(|b| format!("{b:02X}")).collect(),
        _ => return Err(wrong()),
    })
}

fn number(value: &Val<'_>) -> Option<f64> {
    match value {
        Val::Double(a) if a.is_finite() => Some(*a),
        Val::Int(a) => Some(*a as f64),
        Val::UInt(a) => Some(*a as f64),
        _ => None,
    }
}

fn shown<'a>(env: &Env<'a>, value: &Val<'a>, depth: usize) -> Result<String, Fail> {
    env.step()?;
    if depth > 20 {
        return Err(Fail::undecidable("format() of a deeply nested value"));
    }
    Ok(match value {
        Val::Str(text) => text.to_string(),
        Val::Bool(flag) => flag.to_string(),
        Val::Null => "null".to_owned(),
        Val::Int(a) => a.to_string(),
        Val::UInt(a) => a.to_string(),
        Val::Double(a) if a.is_finite() => a.to_string(),
        Val::Timestamp(t) => t.print(),
        Val::Duration(nanos) => print_duration(*nanos),
        Val::Type(name) => (*name).to_owned(),
        value if value.list_len().is_some() => {
            let items = value.items(env)?;
            let item = |item: &Val<'a>| match item {
                Val::Str(text) => Ok(quote(text)),
                Val::Int(_) | Val::Bool(_) => shown(env, item, depth + 1),
                _ => Err(Fail::undecidable("format() of a list of this type")),
            };
            let items: Result<Vec<String>, Fail> = items.iter().map(item).collect();
            format!("[{}]", items?.join(", "))
        }
        _ => return Err(Fail::undecidable("format() of this type")),
    })
}
