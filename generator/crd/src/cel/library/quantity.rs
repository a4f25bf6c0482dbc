//! Quantities such as `1500m` and `2Gi`.

use super::strings::{integer, text};
use crate::cel::eval::{Env, Fail, Outcome};
use crate::cel::program::Function;
use crate::cel::value::Val;

const NANO: i128 = 1_000_000_000;

/// A quantity, exact to a billionth, as Kubernetes keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantity {
    pub(crate) nanos: i128,
    /// Whether it was written as a fraction: then the API server does not see whole numbers as such.
    fractional: bool,
    /// Whether it has more digits than the API server's fast form holds.
    large: bool,
}

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        ("quantity", false, 1) => |_, v| Quantity::parse(text(&v[0])?).map(Val::Quantity),
        ("isQuantity", false, 1) => |_, v| match Quantity::parse(text(&v[0])?) {
            Ok(_) => Ok(Val::Bool(true)),
            Err(Fail::Error(_)) => Ok(Val::Bool(false)),
            Err(fail) => Err(fail),
        },
        ("sign", true, 1) => |_, v| Ok(Val::Int(quantity(&v[0])?.nanos.signum() as i64)),
        ("isGreaterThan", true, 2) => |_, v| match (&v[0], &v[1]) {
            (Val::Quantity(a), Val::Quantity(b)) => Ok(Val::Bool(a.nanos > b.nanos)),
            (Val::Semver(a), Val::Semver(b)) => Ok(Val::Bool(a.compare(b).is_gt())),
            _ => Err(Fail::no_overload()),
        },
        ("isLessThan", true, 2) => |_, v| match (&v[0], &v[1]) {
            (Val::Quantity(a), Val::Quantity(b)) => Ok(Val::Bool(a.nanos < b.nanos)),
            (Val::Semver(a), Val::Semver(b)) => Ok(Val::Bool(a.compare(b).is_lt())),
            _ => Err(Fail::no_overload()),
        },
        ("compareTo", true, 2) => |_, v| match (&v[0], &v[1]) {
            (Val::Quantity(a), Val::Quantity(b)) => Ok(Val::Int(a.nanos.cmp(&b.nanos) as i64)),
            (Val::Semver(a), Val::Semver(b)) => Ok(Val::Int(a.compare(b) as i64)),
            _ => Err(Fail::no_overload()),
        },
        ("isInteger", true, 1) => |_, v| Ok(Val::Bool(quantity(&v[0])?.whole()?.is_some())),
        ("asInteger", true, 1) => |_, v| match quantity(&v[0])?.whole()? {
            Some(integer) => Ok(Val::Int(integer)),
            None => Err(Fail::error("cannot convert value to integer")),
        },
        ("asApproximateFloat", true, 1) => |_, v| Ok(Val::Double(quantity(&v[0])?.nanos as f64 / 1e9)),
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

fn sum<'a>(_: &Env<'a>, v: &[Val<'a>], sign: i128) -> Outcome<'a> {
    let left = quantity(&v[0])?;
    let right = match &v[1] {
        Val::Quantity(right) => *right,
        other => Quantity { nanos: i128::from(integer(other)?) * NANO, fractional: false, large: false },
    };
    let nanos = left.nanos + sign * right.nanos;
    Ok(Val::Quantity(Quantity {
        nanos,
        fractional: left.fractional || right.fractional,
        large: left.large || right.large,
    }))
}

impl Quantity {
    pub(crate) fn parse(text: &str) -> Result<Self, Fail> {
        let malformed = || {
            Fail::error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
        };
        let (negative, digits) = match text.strip_prefix(['+', '-']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let end = digits.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(digits.len());
        let (number, suffix) = digits.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(malformed());
        }
        let (base, power) = exponent(suffix).ok_or_else(|| Fail::error("unable to parse quantity's suffix"))?;
        let mantissa = format!("{whole}{fraction}");
        let mantissa = mantissa.trim_start_matches('0');
        if mantissa.len() > 27 || power.abs() > 60 {
            return Err(Fail::open("a quantity of this size"));
        }
        let digits_len = mantissa.len();
        let mantissa: i128 = if mantissa.is_empty() { 0 } else { mantissa.parse().map_err(|_| malformed())? };
        let shift = 9 - fraction.len() as i64 + if base == 10 { i64::from(power) } else { 0 };
        let scaled = if base == 2 { mantissa.checked_mul(1_i128 << power).unwrap_or(i128::MAX) } else { mantissa };
        let limit = i128::from(i64::MAX) * NANO;
        let nanos = if shift >= 0 {
            let factor = 10_i128.checked_pow(shift as u32);
            factor.and_then(|factor| scaled.checked_mul(factor)).unwrap_or(i128::MAX)
        } else {
            // Beyond a billionth, quantities are rounded away from zero.
            let factor = 10_i128.checked_pow((-shift) as u32).unwrap_or(i128::MAX);
            scaled / factor + i128::from(scaled % factor != 0)
        };
        let fractional = !fraction.is_empty() || power < 0;
        // What does not fit into the API server's fast form is no integer to it, and larger numbers are cut.
        let large = digits_len > 18 || nanos > limit;
        let nanos = nanos.min(limit);
        Ok(Self { nanos: if negative { -nanos } else { nanos }, fractional, large })
    }

    /// The integer that this is, if the API server sees one.
    fn whole(self) -> Result<Option<i64>, Fail> {
        if self.large || self.nanos % NANO != 0 {
            return Ok(None);
        }
        if self.fractional {
            return Err(Fail::open("whether a quantity that was written as a fraction is an integer"));
        }
        Ok(i64::try_from(self.nanos / NANO).ok())
    }
}

/// Base and power that a suffix stands for.
fn exponent(suffix: &str) -> Option<(u8, i32)> {
    Some(match suffix {
        "" => (10, 0),
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (2, 10),
        "Mi" => (2, 20),
        "Gi" => (2, 30),
        "Ti" => (2, 40),
        "Pi" => (2, 50),
        "Ei" => (2, 60),
        _ => {
            let power = suffix.strip_prefix(['e', 'E'])?;
            (10, power.parse().ok()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_quantities() {
        let nanos = |text: &str| Quantity::parse(text).map(|quantity| quantity.nanos);
        assert_eq!(nanos("1"), nanos("1000m"));
        assert_eq!(nanos("1e3"), nanos("1k"));
        assert_eq!(nanos("1Ki"), nanos("1024"));
        assert_eq!(nanos("-1.5"), Ok(-1_500_000_000));
        assert!(nanos("x").is_err());
        assert!(nanos("1Xi").is_err());
        assert!(nanos("").is_err());
    }
}
