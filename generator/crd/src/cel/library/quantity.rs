//! Functions on quantities such as `1500m` and `2Gi`.

use super::strings::{integer, text};
use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::program::Function;
use crate::cel::value::Val;
use crate::quantity::{Quantity, QuantityError};

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        ("quantity", false, 1) => |_, v| match &v[0] {
            Val::Str(text) => parse(text).map(Val::Quantity),
            other => Err(Fail::error(&format!("no such overload: quantity({})", other.type_name()))),
        },
        ("isQuantity", false, 1) => |_, v| match parse(text(&v[0])?) {
            Ok(_) => Ok(Val::Bool(true)),
            Err(Fail::Error(_)) => Ok(Val::Bool(false)),
            Err(fail) => Err(fail),
        },
        ("sign", true, 1) => |_, v| Ok(Val::Int(quantity(&v[0])?.nanos().signum() as i64)),
        ("isGreaterThan", true, 2) => |_, v| match (&v[0], &v[1]) {
            (Val::Quantity(a), Val::Quantity(b)) => Ok(Val::Bool(a > b)),
            (Val::Semver(a), Val::Semver(b)) => Ok(Val::Bool(a.compare(b).is_gt())),
            _ => Err(Fail::no_overload()),
        },
        ("isLessThan", true, 2) => |_, v| match (&v[0], &v[1]) {
            (Val::Quantity(a), Val::Quantity(b)) => Ok(Val::Bool(a < b)),
            (Val::Semver(a), Val::Semver(b)) => Ok(Val::Bool(a.compare(b).is_lt())),
            _ => Err(Fail::no_overload()),
        },
        ("compareTo", true, 2) => |_, v| match (&v[0], &v[1]) {
            (Val::Quantity(a), Val::Quantity(b)) => Ok(Val::Int(a.cmp(b) as i64)),
            (Val::Semver(a), Val::Semver(b)) => Ok(Val::Int(a.compare(b) as i64)),
            _ => Err(Fail::no_overload()),
        },
        ("isInteger", true, 1) => |_, v| Ok(Val::Bool(whole(&v[0])?.is_some())),
        ("asInteger", true, 1) => |_, v| match whole(&v[0])? {
            Some(integer) => Ok(Val::Int(integer)),
            None => Err(Fail::error("cannot convert value to integer")),
        },
        ("asApproximateFloat", true, 1) => |_, v| Ok(Val::Double(quantity(&v[0])?.as_f64())),
        ("add", true, 2) => |env, v| sum(env, v, 1),
        ("sub", true, 2) => |env, v| sum(env, v, -1),
        _ => return None,
    })
}

fn quantity(value: &Val<'_>) -> Result<Quantity, Fail> {
    match value {
        Val::Quantity(quantity) => Ok(*quantity),
        _ => Err(Fail::no_overload()),
    }
}

fn sum<'a>(_: &Env<'a>, v: &[Val<'a>], sign: i128) -> EvalResult<'a> {
    let left = quantity(&v[0])?;
    let right = match &v[1] {
        Val::Quantity(right) => *right,
        other => Quantity::from(integer(other)?),
    };
    Ok(Val::Quantity(left.plus(right, sign)))
}

fn parse(text: &str) -> Result<Quantity, Fail> {
    text.parse().map_err(|error| match error {
        QuantityError::TooManyDigits => Fail::undecidable("a quantity of this size"),
        error => Fail::Error(error.to_string()),
    })
}

/// The integer that a quantity is, if the API server sees one.
fn whole(value: &Val<'_>) -> Result<Option<i64>, Fail> {
    quantity(value)?
        .whole()
        .ok_or_else(|| Fail::undecidable("whether a quantity that was written as a fraction is an integer"))
}
