//! Operators: arithmetic, comparison, `in`, and negation, with CEL's checks for overflow.

use crate::cel::eval::{Env, EvalResult, Fail, add_lists, ordered};
use crate::cel::program::Function;
use crate::cel::value::{Val, contains as any_equal, equal};
use cel::common::ast::operators;
use std::cmp::Ordering;
use std::rc::Rc;

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        (operators::EQUALS, false, 2) => |env, v| Ok(Val::Bool(equal(env, &v[0], &v[1])?)),
        (operators::NOT_EQUALS, false, 2) => |env, v| Ok(Val::Bool(!equal(env, &v[0], &v[1])?)),
        (operators::LESS, false, 2) => |_, v| ordered(&v[0], &v[1], Ordering::is_lt),
        (operators::LESS_EQUALS, false, 2) => |_, v| ordered(&v[0], &v[1], Ordering::is_le),
        (operators::GREATER, false, 2) => |_, v| ordered(&v[0], &v[1], Ordering::is_gt),
        (operators::GREATER_EQUALS, false, 2) => |_, v| ordered(&v[0], &v[1], Ordering::is_ge),
        (operators::IN, false, 2) => contained,
        (operators::LOGICAL_NOT, false, 1) => |_, v| match &v[0] {
            Val::Bool(flag) => Ok(Val::Bool(!flag)),
            _ => Err(Fail::no_overload()),
        },
        (operators::NEGATE, false, 1) => negate,
        (operators::ADD, false, 2) => add,
        (operators::SUBSTRACT, false, 2) => subtract,
        (operators::MULTIPLY, false, 2) => multiply,
        (operators::DIVIDE, false, 2) => divide,
        (operators::MODULO, false, 2) => modulo,
        ("size", _, 1) => size,
        _ => return None,
    })
}

fn overflow() -> Fail {
    Fail::error("integer overflow")
}

fn unsigned_overflow() -> Fail {
    Fail::error("unsigned integer overflow")
}

fn contained<'a>(env: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    if v[1].list_len().is_some() {
        return Ok(Val::Bool(any_equal(env, &v[1].items(env)?, &v[0])?));
    }
    // A field of an object is no key: only maps are searched.
    match (&v[1], &v[0]) {
        (Val::Json(map, schema), Val::Str(key)) if schema.additional.is_some() => {
            Ok(Val::Bool(map.get(key.as_ref()).is_some()))
        }
        (Val::Map(_), key) => Ok(Val::Bool(v[1].lookup(env, key)?.is_some())),
        (Val::Json(..), _) => Err(Fail::undecidable("in on an object that is no map")),
        _ => Err(Fail::no_overload()),
    }
}

fn size<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let count = match &v[0] {
        Val::Str(text) => text.chars().count(),
        Val::Bytes(bytes) => bytes.len(),
        value => match value.list_len() {
            Some(count) => count,
            None => value.keys().ok_or_else(Fail::no_overload)?.len(),
        },
    };
    Ok(Val::Int(count as i64))
}

fn negate<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    Ok(match &v[0] {
        Val::Int(a) => Val::Int(a.checked_neg().ok_or_else(overflow)?),
        Val::Double(a) => Val::Double(-a),
        Val::Duration(a) => Val::Duration(a.checked_neg().ok_or_else(|| Fail::error("duration overflow"))?),
        _ => return Err(Fail::no_overload()),
    })
}

fn add<'a>(env: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    Ok(match (&v[0], &v[1]) {
        (Val::Int(a), Val::Int(b)) => Val::Int(a.checked_add(*b).ok_or_else(overflow)?),
        (Val::UInt(a), Val::UInt(b)) => Val::UInt(a.checked_add(*b).ok_or_else(unsigned_overflow)?),
        (Val::Double(a), Val::Double(b)) => Val::Double(a + b),
        (Val::Str(a), Val::Str(b)) => {
            if a.len() + b.len() > 10_000_000 {
                return Err(Fail::undecidable("a string grows too long"));
            }
            Val::text(format!("{a}{b}"))
        }
        (Val::Bytes(a), Val::Bytes(b)) => Val::Bytes(Rc::new([a.as_slice(), b.as_slice()].concat())),
        (Val::Timestamp(t), Val::Duration(d)) | (Val::Duration(d), Val::Timestamp(t)) => {
            Val::Timestamp(t.plus(*d).ok_or_else(|| Fail::error("timestamp overflow"))?)
        }
        (Val::Duration(a), Val::Duration(b)) => {
            Val::Duration(a.checked_add(*b).ok_or_else(|| Fail::error("duration overflow"))?)
        }
        (left, right) if left.list_len().is_some() && right.list_len().is_some() => return add_lists(env, left, right),
        _ => return Err(Fail::no_overload()),
    })
}

fn subtract<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let late = || Fail::error("duration overflow");
    Ok(match (&v[0], &v[1]) {
        (Val::Int(a), Val::Int(b)) => Val::Int(a.checked_sub(*b).ok_or_else(overflow)?),
        (Val::UInt(a), Val::UInt(b)) => Val::UInt(a.checked_sub(*b).ok_or_else(unsigned_overflow)?),
        (Val::Double(a), Val::Double(b)) => Val::Double(a - b),
        (Val::Timestamp(a), Val::Timestamp(b)) => Val::Duration(a.since(*b).ok_or_else(late)?),
        (Val::Timestamp(t), Val::Duration(d)) => {
            let past = d.checked_neg().and_then(|d| t.plus(d));
            Val::Timestamp(past.ok_or_else(|| Fail::error("timestamp overflow"))?)
        }
        (Val::Duration(a), Val::Duration(b)) => Val::Duration(a.checked_sub(*b).ok_or_else(late)?),
        _ => return Err(Fail::no_overload()),
    })
}

fn multiply<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    Ok(match (&v[0], &v[1]) {
        (Val::Int(a), Val::Int(b)) => Val::Int(a.checked_mul(*b).ok_or_else(overflow)?),
        (Val::UInt(a), Val::UInt(b)) => Val::UInt(a.checked_mul(*b).ok_or_else(unsigned_overflow)?),
        (Val::Double(a), Val::Double(b)) => Val::Double(a * b),
        _ => return Err(Fail::no_overload()),
    })
}

fn divide<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    Ok(match (&v[0], &v[1]) {
        (Val::Int(_), Val::Int(0)) | (Val::UInt(_), Val::UInt(0)) => return Err(Fail::error("division by zero")),
        (Val::Int(a), Val::Int(b)) => Val::Int(a.checked_div(*b).ok_or_else(overflow)?),
        (Val::UInt(a), Val::UInt(b)) => Val::UInt(a / b),
        (Val::Double(a), Val::Double(b)) => Val::Double(a / b),
        _ => return Err(Fail::no_overload()),
    })
}

fn modulo<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    Ok(match (&v[0], &v[1]) {
        (Val::Int(_), Val::Int(0)) | (Val::UInt(_), Val::UInt(0)) => return Err(Fail::error("modulus by zero")),
        (Val::Int(a), Val::Int(b)) => Val::Int(a.checked_rem(*b).ok_or_else(overflow)?),
        (Val::UInt(a), Val::UInt(b)) => Val::UInt(a % b),
        _ => return Err(Fail::no_overload()),
    })
}
