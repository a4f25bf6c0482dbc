//! Conversions between types: `int()`, `string()`, `duration()` and the like, with the errors that cel-go gives.

use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::program::Function;
use crate::cel::time::{Timestamp, parse_duration, print_duration};
use crate::cel::value::Val;
use crate::text::float;
use std::rc::Rc;

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    if member || count != 1 {
        return None;
    }
    Some(match name {
        "int" => int,
        "uint" => uint,
        "double" => double,
        "string" => string,
        "bool" => boolean,
        "bytes" => |_, v| match &v[0] {
            Val::Bytes(_) => Ok(v[0].clone()),
            Val::Str(text) => Ok(Val::Bytes(Rc::new(text.as_bytes().to_vec()))),
            _ => Err(Fail::no_overload()),
        },
        "dyn" => |_, v| Ok(v[0].clone()),
        "type" => |_, v| match &v[0] {
            // Objects have types of their own on the API server.
            Val::Json(value, schema) if value.is_object() && schema.additional.is_none() => {
                Err(Fail::undecidable("the type of an object"))
            }
            value => Ok(Val::Type(value.type_name())),
        },
        "timestamp" => timestamp,
        "duration" => |_, v| match &v[0] {
            Val::Duration(_) => Ok(v[0].clone()),
            Val::Str(text) => {
                parse_duration(text).map(Val::Duration).ok_or_else(|| failed("string", "google.protobuf.Duration"))
            }
            _ => Err(Fail::no_overload()),
        },
        _ => return None,
    })
}

fn failed(from: &str, to: &str) -> Fail {
    Fail::Error(format!("type conversion error from '{from}' to '{to}'"))
}

fn int<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let overflow = || Fail::error("integer overflow");
    Ok(Val::Int(match &v[0] {
        Val::Int(a) => *a,
        Val::UInt(a) => i64::try_from(*a).map_err(|_| overflow())?,
        Val::Double(a) if a.abs() < 2f64.powi(63) => *a as i64,
        Val::Double(_) => return Err(overflow()),
        Val::Str(text) => decimal(text).ok_or_else(|| failed("string", "int"))?,
        Val::Timestamp(t) => t.seconds,
        Val::Duration(nanos) => *nanos,
        _ => return Err(Fail::no_overload()),
    }))
}

/// Digits with an optional sign, and nothing else.
fn decimal(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn uint<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let overflow = || Fail::error("unsigned integer overflow");
    Ok(Val::UInt(match &v[0] {
        Val::UInt(a) => *a,
        Val::Int(a) => u64::try_from(*a).map_err(|_| overflow())?,
        Val::Double(a) if *a >= 0.0 && *a < 2f64.powi(64) => *a as u64,
        Val::Double(_) => return Err(overflow()),
        Val::Str(text) if !text.starts_with('+') => text.parse().map_err(|_| failed("string", "uint"))?,
        Val::Str(_) => return Err(failed("string", "uint")),
        _ => return Err(Fail::no_overload()),
    }))
}

fn double<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    Ok(Val::Double(match &v[0] {
        Val::Double(a) => *a,
        Val::Int(a) => *a as f64,
        Val::UInt(a) => *a as f64,
        // Go also reads hexadecimal floats and underscores, and finds overflow where Rust finds infinity.
        Val::Str(text) => match text.parse::<f64>() {
            Ok(float) if float.is_finite() => float,
            Ok(_) => return Err(Fail::undecidable("a float that is not finite")),
            Err(_) if text.contains(['x', 'X']) && text.contains(['p', 'P']) => {
                return Err(Fail::undecidable("a float in an unusual notation"));
            }
            Err(_) => return Err(failed("string", "double")),
        },
        _ => return Err(Fail::no_overload()),
    }))
}

fn string<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    Ok(match &v[0] {
        Val::Str(_) => v[0].clone(),
        Val::Bool(flag) => Val::text(flag.to_string()),
        Val::Int(a) => Val::text(a.to_string()),
        Val::UInt(a) => Val::text(a.to_string()),
        Val::Double(a) => Val::text(float(*a)),
        Val::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Val::text(text),
            Err(_) => return Err(Fail::error("invalid UTF-8 in bytes, cannot convert to string")),
        },
        Val::Timestamp(t) => Val::text(t.print()),
        Val::Duration(nanos) => Val::text(print_duration(*nanos)),
        Val::Ip(ip) => Val::text(ip.to_string()),
        Val::Cidr(range) => Val::text(format!("{}/{}", range.address, range.bits)),
        _ => return Err(Fail::no_overload()),
    })
}

fn boolean<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    match &v[0] {
        Val::Bool(_) => Ok(v[0].clone()),
        Val::Str(text) => match text.as_ref() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Val::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Val::Bool(false)),
            _ => Err(failed("string", "bool")),
        },
        _ => Err(Fail::no_overload()),
    }
}

fn timestamp<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let to = "google.protobuf.Timestamp";
    match &v[0] {
        Val::Timestamp(_) => Ok(v[0].clone()),
        Val::Str(text) => Timestamp::parse(text, false).map(Val::Timestamp).ok_or_else(|| failed("string", to)),
        Val::Int(seconds) => {
            Timestamp::new(*seconds, 0).map(Val::Timestamp).ok_or_else(|| Fail::error("timestamp overflow"))
        }
        _ => Err(Fail::no_overload()),
    }
}

/// A key as error texts show it.
pub(crate) fn shown(value: &Val<'_>) -> String {
    match value {
        Val::Str(text) => text.to_string(),
        Val::Int(a) => a.to_string(),
        Val::UInt(a) => a.to_string(),
        Val::Bool(a) => a.to_string(),
        Val::Double(a) => float(*a),
        other => other.type_name().to_owned(),
    }
}
