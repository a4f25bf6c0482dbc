//! Semantic versions.

use super::strings::text;
use crate::check::cel::eval::{Env, Fail, Outcome};
use crate::check::cel::program::Function;
use crate::check::cel::value::Val;
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
            Some(version) => Ok(Val::Semver(Rc::new(version))),
            None => Err(Fail::error("invalid semantic version")),
        },
        ("isSemver", false, 1 | 2) => |env, v| Ok(Val::Bool(read(env, v)?.is_some())),
        ("major", true, 1) => |_, v| part(v, 0),
        ("minor", true, 1) => |_, v| part(v, 1),
        ("patch", true, 1) => |_, v| part(v, 2),
        _ => return None,
    })
}

fn part<'a>(v: &[Val<'a>], position: usize) -> Outcome<'a> {
    match &v[0] {
        Val::Semver(version) => Ok(Val::Int(i64::try_from(version.numbers[position]).unwrap_or(i64::MAX))),
        _ => Err(Fail::no_overload()),
    }
}

fn read(_: &Env<'_>, v: &[Val<'_>]) -> Result<Option<Semver>, Fail> {
    let text = text(&v[0])?;
    match v.get(1) {
        None | Some(Val::Bool(false)) => Ok(Semver::parse(text)),
        Some(Val::Bool(true)) => Ok(Semver::parse(&normalized(text))),
        Some(_) => Err(Fail::no_overload()),
    }
}

/// `v1.02` as `1.2.0`.
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
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, build) = match text.split_once('+') {
            Some((text, build)) => (text, Some(build)),
            None => (text, None),
        };
        let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !build.is_none_or(|build| build.split('.').all(word)) {
            return None;
        }
        let (numbers, pre) = match text.split_once('-') {
            Some((numbers, pre)) => (numbers, Some(pre)),
            None => (text, None),
        };
        let parts: Vec<&str> = numbers.split('.').collect();
        let [major, minor, patch] = parts.as_slice() else { return None };
        let pre: Vec<String> = pre.map_or_else(Vec::new, |pre| pre.split('.').map(str::to_owned).collect());
        if !pre.iter().all(|part| word(part) && (!is_number(part) || plain(part))) {
            return None;
        }
        Some(Self { numbers: [number(major)?, number(minor)?, number(patch)?], pre })
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

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Without leading zeros.
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
            assert!(Semver::parse(text).is_none(), "{text}");
        }
        assert_eq!(normalized("v1.02"), "1.2.0");
    }
}
