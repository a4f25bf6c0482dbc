//! Optional values: `optional.of()`, `orValue()` and what `?` in front of a field or index gives.

use crate::cel::eval::{Env, Fail};
use crate::cel::program::Function;
use crate::cel::value::Val;

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        ("optional.of", false, 1) => |_, v| Ok(Val::some(v[0].clone())),
        ("optional.none", false, 0) => |_, _| Ok(Val::Optional(None)),
        ("optional.ofNonZeroValue", false, 1) => {
            |env, v| Ok(if is_zero(env, &v[0])? { Val::Optional(None) } else { Val::some(v[0].clone()) })
        }
        ("hasValue", true, 1) => |_, v| match &v[0] {
            Val::Optional(inner) => Ok(Val::Bool(inner.is_some())),
            _ => Err(Fail::no_overload()),
        },
        ("value", true, 1) => |_, v| match &v[0] {
            Val::Optional(Some(inner)) => Ok((**inner).clone()),
            Val::Optional(None) => Err(Fail::error("optional.none() dereference")),
            _ => Err(Fail::no_overload()),
        },
        ("or", true, 2) => |_, v| match (&v[0], &v[1]) {
            (Val::Optional(Some(_)), _) => Ok(v[0].clone()),
            (Val::Optional(None), Val::Optional(_)) => Ok(v[1].clone()),
            _ => Err(Fail::no_overload()),
        },
        ("orValue", true, 2) => |_, v| match &v[0] {
            Val::Optional(Some(inner)) => Ok((**inner).clone()),
            Val::Optional(None) => Ok(v[1].clone()),
            _ => Err(Fail::no_overload()),
        },
        _ => return None,
    })
}

fn is_zero<'a>(_: &Env<'a>, value: &Val<'a>) -> Result<bool, Fail> {
    Ok(match value {
        Val::Null => true,
        Val::Bool(flag) => !flag,
        Val::Int(a) => *a == 0,
        Val::UInt(a) => *a == 0,
        Val::Double(a) => *a == 0.0,
        Val::Str(text) => text.is_empty(),
        Val::Bytes(bytes) => bytes.is_empty(),
        Val::Duration(nanos) => *nanos == 0,
        Val::Optional(inner) => inner.is_none(),
        value if value.list_len().is_some() => value.list_len() == Some(0),
        Val::Map(_) => value.keys().is_some_and(|keys| keys.is_empty()),
        _ => return Err(Fail::undecidable("whether this value is its type's zero")),
    })
}
