//! Quantities such as `1500m` and `2Gi`, as `resource.Quantity` of Kubernetes reads and compares them.

use std::cmp::Ordering;
use std::str::FromStr;
use thiserror::Error;

const NANO: i128 = 1_000_000_000;

/// What a quantity can be at most. Kubernetes cuts what is larger.
const LARGEST: i128 = i64::MAX as i128 * NANO;

/// A quantity, exact to a billionth, as Kubernetes keeps it. Two are equal if their values are, however they were
/// written.
///
/// ```
/// use crd_validator::quantity::Quantity;
///
/// let read = |text: &str| text.parse::<Quantity>();
/// assert_eq!(read("1Ei"), read("1024Pi"));
/// assert!(read("1500m")? < read("2")?);
/// assert!(read("2 Gi").is_err());
/// # Ok::<(), crd_validator::quantity::QuantityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    /// Whether it was written as a fraction: then the API server does not see whole numbers as such.
    fractional: bool,
    /// Whether it has more digits than the API server's fast form holds.
    large: bool,
}

/// Why a text is no quantity. The texts of the first two are those of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// It does not begin with a number.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Malformed,
    /// What follows the number is neither a unit nor an exponent.
    #[error("unable to parse quantity's suffix")]
    Suffix,
    /// It has more than 27 digits, or an exponent beyond 60. Kubernetes reads it; this crate does not.
    #[error("the quantity has too many digits")]
    TooManyDigits,
}

impl Quantity {
    /// The value in billionths, the smallest step that Kubernetes keeps.
    pub(crate) fn nanos(self) -> i128 {
        self.nanos
    }

    /// The value as a float: rounded beyond 15 digits, so for ratios and comparisons only.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.nanos as f64 / 1e9
    }

    /// The sum, or with a `sign` of -1 the difference.
    pub(crate) fn plus(self, other: Self, sign: i128) -> Self {
        Self {
            nanos: self.nanos + sign * other.nanos,
            fractional: self.fractional || other.fractional,
            large: self.large || other.large,
        }
    }

    /// The integer that this is, if the API server sees one; `None` where it cannot be told whether it does.
    pub(crate) fn whole(self) -> Option<Option<i64>> {
        if self.large || self.nanos % NANO != 0 {
            return Some(None);
        }
        (!self.fractional).then(|| i64::try_from(self.nanos / NANO).ok())
    }
}

impl From<i64> for Quantity {
    fn from(number: i64) -> Self {
        Self { nanos: i128::from(number) * NANO, fractional: false, large: false }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (negative, digits) = match text.strip_prefix(['+', '-']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let end = digits.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(digits.len());
        let (number, suffix) = digits.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(QuantityError::Malformed);
        }
        let (base, power) = exponent(suffix).ok_or_else(|| no_suffix(suffix))?;
        let mantissa = format!("{whole}{fraction}");
        let mantissa = mantissa.trim_start_matches('0');
        if mantissa.len() > 27 || power.abs() > 60 {
            return Err(QuantityError::TooManyDigits);
        }
        let digits = mantissa.len();
        let mantissa: i128 =
            if mantissa.is_empty() { 0 } else { mantissa.parse().map_err(|_| QuantityError::Malformed)? };
        let shift = 9 - fraction.len() as i64 + if base == 10 { i64::from(power) } else { 0 };
        let scaled = if base == 2 { mantissa.checked_mul(1_i128 << power).unwrap_or(i128::MAX) } else { mantissa };
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
        let large = digits > 18 || nanos > LARGEST;
        let nanos = nanos.min(LARGEST);
        Ok(Self { nanos: if negative { -nanos } else { nanos }, fractional, large })
    }
}

/// What Kubernetes says of a suffix that stands for nothing: it looks first whether it is letters of units, then an
/// exponent.
fn no_suffix(suffix: &str) -> QuantityError {
    let exponent = suffix.trim_start_matches(|char| "eEinumkKMGTP".contains(char));
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.chars().all(|char| char.is_ascii_digit()) { QuantityError::Suffix } else { QuantityError::Malformed }
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
        let nanos = |text: &str| text.parse::<Quantity>().map(|quantity| quantity.nanos);
        for (one, other) in [
            ("1", "1000m"),
            ("1e3", "1k"),
            ("1Ki", "1024"),
            ("1n", "0.001u"),
            ("1000u", "1m"),
            ("1E", "1e18"),
            ("1Ei", "1024Pi"),
            ("+2", "2.0"),
            // Beyond a billionth.
            ("0.1n", "1n"),
            // Beyond the largest.
            ("9Ei", "100E"),
        ] {
            assert_eq!(nanos(one), nanos(other), "{one} {other}");
            assert!(nanos(one).is_ok(), "{one}");
        }
        assert_eq!(nanos("-1.5"), Ok(-1_500_000_000));
        for (text, error) in [
            ("", QuantityError::Malformed),
            ("x", QuantityError::Malformed),
            ("1.2.3", QuantityError::Malformed),
            ("1Xi", QuantityError::Malformed),
            ("1 Gi", QuantityError::Malformed),
            ("10GB", QuantityError::Malformed),
            ("1KK", QuantityError::Suffix),
            ("1Ki5", QuantityError::Suffix),
            ("1e99", QuantityError::TooManyDigits),
        ] {
            assert_eq!(nanos(text), Err(error), "{text}");
        }
    }
}
