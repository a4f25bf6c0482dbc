//! What a scalar means: null, truth value, number or text.

use crate::{Kind, Node, Style};

/// The meaning of a scalar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Resolved {
    /// `null`, `~` or nothing at all.
    Null,
    /// A truth value, in a spelling that the rules know.
    Bool(bool),
    /// A number without fraction. One that does not fit is a [`Resolved::Float`].
    Int(i128),
    /// Any other number, also infinite or not a number.
    Float(f64),
    /// Text: see [`Node::value`] for what it says.
    Str,
}

/// Whose reading of plain scalars applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// `sigs.k8s.io/yaml` as in kubectl and the API server's clients: YAML 1.1 words (`yes`, `off`, …) are truth
    /// values, `0777`, `0o17`, `0x1F`, `0b1` and `1_000` are numbers; base 60 is not read.
    Kubernetes,
    /// PyYAML's `safe_load`: YAML 1.1 words but not `y` and `n`, octal `017`, base 60, floats need a dot.
    PyYaml,
    /// The core schema of YAML 1.2.
    Core,
}

impl Node<'_> {
    /// What the node means under the rules. Quoted and block scalars are text unless tagged otherwise; collections
    /// and aliases are [`Resolved::Str`].
    pub fn resolve(&self, rules: Rules) -> Resolved {
        if self.kind() != Kind::Scalar {
            return Resolved::Str;
        }
        let value = self.value();
        match self.tag() {
            Some("!" | "!!str" | "!!binary" | "tag:yaml.org,2002:str" | "!<tag:yaml.org,2002:str>") => Resolved::Str,
            Some("!!null") => Resolved::Null,
            Some("!!float") => match resolve_plain(&value, rules) {
                Resolved::Int(i) => Resolved::Float(i as f64),
                other => other,
            },
            Some("!!int" | "!!bool") => resolve_plain(&value, rules),
            Some(_) => Resolved::Str,
            None => match self.style() {
                Style::Absent => Resolved::Null,
                Style::Plain if self.data().flags & crate::tree::RAW == 0 => resolve_plain(&value, rules),
                _ => Resolved::Str,
            },
        }
    }
}

/// What a plain scalar with this text means.
pub fn resolve_plain(text: &str, rules: Rules) -> Resolved {
    if matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        return Resolved::Null;
    }
    if let Some(truth) = truth(text, rules) {
        return Resolved::Bool(truth);
    }
    // Every number starts with one of these; most texts leave here.
    if !matches!(text.as_bytes()[0], b'0'..=b'9' | b'+' | b'-' | b'.') {
        return Resolved::Str;
    }
    let number = match rules {
        Rules::Kubernetes => kubernetes_number(text),
        Rules::PyYaml => pyyaml_number(text),
        Rules::Core => core_number(text),
    };
    number.or_else(|| special_float(text)).unwrap_or(Resolved::Str)
}

fn truth(text: &str, rules: Rules) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ if rules == Rules::Core => None,
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        "y" | "Y" if rules == Rules::Kubernetes => Some(true),
        "n" | "N" if rules == Rules::Kubernetes => Some(false),
        _ => None,
    }
}

fn special_float(text: &str) -> Option<Resolved> {
    Some(Resolved::Float(match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => f64::INFINITY,
        "-.inf" | "-.Inf" | "-.INF" => f64::NEG_INFINITY,
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        _ => return None,
    }))
}

fn split_sign(text: &str) -> (i128, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    }
}

fn radix(digits: &str, radix: u32) -> Option<i128> {
    let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    all.then(|| i128::from_str_radix(digits, radix).ok()).flatten()
}

/// go-yaml drops `_`, then tries Go's integer syntax with automatic base, then its own float pattern.
fn kubernetes_number(text: &str) -> Option<Resolved> {
    let clean: String = text.chars().filter(|c| *c != '_').collect();
    let (sign, digits) = split_sign(&clean);
    let (base, body) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if let Some(n) = radix(body, base) {
        let n = sign * n;
        // Go has no integer beyond 64 bits; such a text is read as a float.
        let fits = n >= i128::from(i64::MIN) && n <= i128::from(u64::MAX);
        return Some(if fits { Resolved::Int(n) } else { Resolved::Float(n as f64) });
    }
    float(&clean).map(Resolved::Float)
}

fn core_number(text: &str) -> Option<Resolved> {
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8).map(Resolved::Int);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16).map(Resolved::Int);
    }
    let (sign, digits) = split_sign(text);
    radix(digits, 10).map(|n| Resolved::Int(sign * n)).or_else(|| float(text).map(Resolved::Float))
}

fn pyyaml_number(text: &str) -> Option<Resolved> {
    let (sign, digits) = split_sign(text);
    let clean: String = digits.chars().filter(|c| *c != '_').collect();
    let starts_with_digit = digits.starts_with(|c: char| c.is_ascii_digit());
    if starts_with_digit {
        let int = match clean.as_bytes() {
            [b'0', b'x', ..] => radix(&clean[2..], 16),
            [b'0', b'b', ..] => radix(&clean[2..], 2),
            [b'0', _, ..] => radix(&clean[1..], 8),
            _ => radix(&clean, 10).or_else(|| base60(&clean)),
        };
        if let Some(n) = int {
            return Some(Resolved::Int(sign * n));
        }
    }
    // A float needs its dot, and an exponent needs its sign.
    let dotted = clean.contains('.');
    let signed_exponent = match clean.find(['e', 'E']) {
        Some(i) => clean[i + 1..].starts_with(['+', '-']),
        None => true,
    };
    if dotted && signed_exponent {
        return float(&clean).map(|f| Resolved::Float(sign as f64 * f));
    }
    None
}

fn base60(text: &str) -> Option<i128> {
    if text.starts_with('0') || !text.contains(':') {
        return None;
    }
    text.split(':').enumerate().try_fold(0i128, |sum, (i, part)| {
        let digit: i128 = radix(part, 10)?;
        if i > 0 && (digit > 59 || part.len() > 2) {
            return None;
        }
        sum.checked_mul(60)?.checked_add(digit)
    })
}

/// A decimal float: `[-+]? ( \. digits | digits ( \. digits? )? ) ( e sign? digits )?`.
fn float(text: &str) -> Option<f64> {
    let (_, body) = split_sign(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(i) => (&body[..i], Some(split_sign(&body[i + 1..]).1)),
        None => (body, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, part)) => digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    if !mantissa_fits || exponent.is_some_and(|e| e.is_empty() || !digits(e)) {
        return None;
    }
    text.parse().ok()
}
