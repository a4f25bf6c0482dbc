//! Semantic versions: `semver()`, `isSemver()`, their parts and their order.

use super::strings::text;
use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::program::Function;
use crate::cel::value::Val;
use crate::text::quote;
use std::cmp::Ordering;
use std::rc::Rc;

/// A version without its build metadata, which does not count in comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Semver {
    numbers: [u64; 3],
    pre: Vec<String>,
}

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        ("semver", false, 1 | 2) => |env, v| match read(env, v)? {
            Ok(version) => Ok(Val::Semver(Rc::new(version))),
            Err(error) => Err(Fail::Error(error)),
        },
        ("isSemver", false, 1 | 2) => |env, v| Ok(Val::Bool(read(env, v)?.is_ok())),
        ("major", true, 1) => |_, v| part(v, 0),
        ("minor", true, 1) => |_, v| part(v, 1),
        ("patch", true, 1) => |_, v| part(v, 2),
        _ => return None,
    })
}

fn part<'a>(v: &[Val<'a>], position: usize) -> EvalResult<'a> {
    match &v[0] {
        Val::Semver(version) => Ok(Val::Int(i64::try_from(version.numbers[position]).unwrap_or(i64::MAX))),
        _ => Err(Fail::no_overload()),
    }
}

fn read(_: &Env<'_>, v: &[Val<'_>]) -> Result<Result<Semver, String>, Fail> {
    let text = text(&v[0])?;
    match v.get(1) {
        None | Some(Val::Bool(false)) => Ok(Semver::parse(text)),
        Some(Val::Bool(true)) => Ok(Semver::parse(&normalized(text))),
        Some(_) => Err(Fail::no_overload()),
    }
}

/// Makes `1.2.0` of `v1.02`, as `semver(text, true)` does in Kubernetes: no `v`, no leading zeros, three numbers.
fn normalized(text: &str) -> String {
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let mut parts: Vec<&str> = numbers
        .splitn(3, '.')
        .map(|part| {
            let stripped = part.trim_start_matches('0');
            if stripped.is_empty() && !part.is_empty() { "0" } else { stripped }
        })
        .collect();
    while parts.len() < 3 && rest.is_empty() {
        parts.push("0");
    }
    format!("{}{rest}", parts.join("."))
}

impl Semver {
    /// Reads a version; the error is the API server's.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, rest] = parts.as_slice() else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let (major, minor) = (element(major, "major")?, element(minor, "minor")?);
        let (rest, build) = match rest.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (*rest, None),
        };
        let (patch, pre) = match rest.split_once('-') {
            Some((patch, pre)) => (patch, Some(pre)),
            None => (rest, None),
        };
        let patch = element(patch, "patch")?;
        let pre: Vec<String> = pre.map_or_else(Vec::new, |pre| pre.split('.').map(str::to_owned).collect());
        for part in &pre {
            if part.is_empty() {
                return Err("Prerelease is empty".to_owned());
            }
            if is_number(part) && !plain(part) {
                return Err(format!("Numeric PreRelease version must not contain leading zeroes {}", quote(part)));
            }
            if !word(part) {
                return Err(format!("Invalid character(s) found in prerelease {}", quote(part)));
            }
        }
        for part in build.iter().flat_map(|build| build.split('.')) {
            if part.is_empty() {
                return Err("Build meta data is empty".to_owned());
            }
            if !word(part) {
                return Err(format!("Invalid character(s) found in build meta data {}", quote(part)));
            }
        }
        Ok(Self { numbers: [major, minor, patch], pre })
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let pairs = self.pre.iter().zip(&other.pre).map(|(a, b)| match (number(a), number(b)) {
                    (Some(a), Some(b)) => a.cmp(&b),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (None, None) => a.cmp(b),
                });
                pairs.fold(Ordering::Equal, Ordering::then).then(self.pre.len().cmp(&other.pre.len()))
            }
        })
    }
}

fn element(text: &str, name: &str) -> Result<u64, String> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {name} number {}", quote(text)));
    }
    if text.len() > 1 && !plain(text) {
        let (first, rest) = name.split_at(1);
        let name = first.to_uppercase() + rest;
        return Err(format!("{name} number must not contain leading zeroes {}", quote(text)));
    }
    text.parse().map_err(|_| format!("strconv.ParseUint: parsing {}: invalid syntax", quote(text)))
}

fn word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a number has no leading zeros, as semantic versions ask for.
fn plain(text: &str) -> bool {
    text == "0" || !text.starts_with('0')
}

fn number(text: &str) -> Option<u64> {
    (is_number(text) && plain(text)).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_orders_versions() {
        let order = |a: &str, b: &str| Semver::parse(a).unwrap().compare(&Semver::parse(b).unwrap());
        assert_eq!(order("1.2.3", "1.2.10"), Ordering::Less);
        assert_eq!(order("1.0.0", "1.0.0-rc.1"), Ordering::Greater);
        assert_eq!(order("1.0.0-rc.2", "1.0.0-rc.10"), Ordering::Less);
        assert_eq!(order("1.0.0+a", "1.0.0+b"), Ordering::Equal);
        for text in ["v1.2.3", "1.2", "01.2.3", "1.2.3-", "x"] {
            assert!(Semver::parse(text).is_err(), "{text}");
        }
        assert_eq!(normalized("v1.02"), "1.2.0");
    }
}
