//! Functions with regular expressions: `matches`, `find` and `findAll`. A literal pattern of `matches` is compiled with
//! the rule.

use super::strings::{integer, text};
use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::program::Function;
use crate::cel::value::Val;
use crate::pattern::compile;
use regex::Regex;

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        ("matches", _, 2) => |_, v| Ok(Val::Bool(regex(&v[1])?.is_match(text(&v[0])?))),
        ("find", true, 2) => |_, v| {
            let found = regex(&v[1])?.find(text(&v[0])?).map(|found| found.as_str().to_owned());
            Ok(Val::text(found.unwrap_or_default()))
        },
        ("findAll", true, 2 | 3) => find_all,
        _ => return None,
    })
}

fn regex(pattern: &Val<'_>) -> Result<Regex, Fail> {
    compile(text(pattern)?).ok_or_else(|| Fail::undecidable("the pattern does not compile here"))
}

fn find_all<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let limit = v.get(2).map_or(Ok(-1), integer)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let regex = regex(&v[1])?;
    Ok(Val::list(regex.find_iter(text(&v[0])?).take(limit).map(|found| Val::text(found.as_str())).collect()))
}
