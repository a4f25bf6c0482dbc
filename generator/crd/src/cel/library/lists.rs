//! Functions on lists and sets.

use super::strings::{integer, text};
use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::program::Function;
use crate::cel::value::{Val, compare, contains, equal};
use crate::schema::Kind;
use std::cmp::Ordering;

/// Longest list that `lists.range` makes: one call must not cost more memory than a large object. A longer one is
/// reported as not checked.
const MAX_RANGE: i64 = 100_000;

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        ("isSorted", true, 1) => is_sorted,
        ("sum", true, 1) => sum,
        ("min", true, 1) => |env, v| extreme(env, v, "min", Ordering::Less),
        ("max", true, 1) => |env, v| extreme(env, v, "max", Ordering::Greater),
        ("indexOf", true, 2 | 3) => |env, v| index_of(env, v, false),
        ("lastIndexOf", true, 2 | 3) => |env, v| index_of(env, v, true),
        ("distinct", true, 1) => distinct,
        ("sort", true, 1) => |env, v| {
            let items = v[0].items(env)?;
            sort_by_keys(env, items.clone(), items)
        },
        ("reverse", true, 1) => |env, v| {
            let mut items = v[0].items(env)?;
            items.reverse();
            Ok(Val::list(items))
        },
        ("flatten", true, 1 | 2) => |env, v| {
            let depth = v.get(1).map_or(Ok(1), integer)?;
            if depth < 0 {
                return Err(Fail::error("level must be non-negative"));
            }
            let mut items = Vec::new();
            flatten(env, &v[0], depth.min(50), &mut items)?;
            Ok(Val::list(items))
        },
        ("slice", true, 3) => slice,
        ("lists.range", false, 1) => |_, v| {
            let end = integer(&v[0])?;
            if end > MAX_RANGE {
                return Err(Fail::undecidable("a very long list"));
            }
            Ok(Val::list((0..end).map(Val::Int).collect()))
        },
        ("sets.contains", false, 2) => |env, v| Ok(Val::Bool(all_in(env, &v[1], &v[0])?)),
        ("sets.equivalent", false, 2) => {
            |env, v| Ok(Val::Bool(all_in(env, &v[1], &v[0])? && all_in(env, &v[0], &v[1])?))
        }
        ("sets.intersects", false, 2) => |env, v| {
            let theirs = v[1].items(env)?;
            for item in v[0].items(env)? {
                if contains(env, &theirs, &item)? {
                    return Ok(Val::Bool(true));
                }
            }
            Ok(Val::Bool(false))
        },
        _ => return None,
    })
}

fn all_in<'a>(env: &Env<'a>, inner: &Val<'a>, outer: &Val<'a>) -> Result<bool, Fail> {
    let outer = outer.items(env)?;
    for item in inner.items(env)? {
        if !contains(env, &outer, &item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_sorted<'a>(env: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    for pair in v[0].items(env)?.windows(2) {
        if compare(&pair[0], &pair[1])? == Some(Ordering::Greater) {
            return Ok(Val::Bool(false));
        }
    }
    Ok(Val::Bool(true))
}

fn sum<'a>(env: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let items = v[0].items(env)?;
    let mut items = items.into_iter();
    let Some(mut total) = items.next() else {
        return match &v[0] {
            Val::Json(_, schema) => match schema.items.as_ref().map(|items| (items.kind, &items.format)) {
                Some((Some(Kind::Number), _)) => Ok(Val::Double(0.0)),
                Some((Some(Kind::Integer), _)) => Ok(Val::Int(0)),
                Some((_, Some(format))) if format == "duration" => Ok(Val::Duration(0)),
                _ => Err(Fail::undecidable("the sum of an empty list")),
            },
            _ => Ok(Val::Int(0)),
        };
    };
    if !matches!(total, Val::Int(_) | Val::UInt(_) | Val::Double(_) | Val::Duration(_)) {
        return Err(Fail::no_overload());
    }
    let add = super::function(cel::common::ast::operators::ADD, false, 2).ok_or_else(Fail::no_overload)?;
    for item in items {
        total = add(env, &[total, item])?;
    }
    Ok(total)
}

fn extreme<'a>(env: &Env<'a>, v: &[Val<'a>], name: &str, wanted: Ordering) -> EvalResult<'a> {
    let mut best: Option<Val<'a>> = None;
    for item in v[0].items(env)? {
        let better = match &best {
            None => true,
            Some(best) => compare(&item, best)? == Some(wanted),
        };
        if better {
            best = Some(item);
        }
    }
    best.ok_or_else(|| Fail::Error(format!("{name} called on empty list")))
}

fn index_of<'a>(env: &Env<'a>, v: &[Val<'a>], last: bool) -> EvalResult<'a> {
    if let Val::Str(whole) = &v[0] {
        return string_index_of(whole, text(&v[1])?, v.get(2).map(integer).transpose()?, last);
    }
    if v.len() == 3 {
        return Err(Fail::no_overload());
    }
    let items = v[0].items(env)?;
    let mut found = -1;
    for (position, item) in items.iter().enumerate() {
        if equal(env, item, &v[1])? {
            found = position as i64;
            if !last {
                break;
            }
        }
    }
    Ok(Val::Int(found))
}

fn string_index_of<'a>(whole: &str, part: &str, offset: Option<i64>, last: bool) -> EvalResult<'a> {
    let chars: Vec<char> = whole.chars().collect();
    let wanted: Vec<char> = part.chars().collect();
    let length = chars.len() as i64;
    if wanted.is_empty() {
        return Ok(Val::Int(offset.unwrap_or(if last { length } else { 0 })));
    }
    if let Some(offset) = offset
        && offset < 0
    {
        return Err(Fail::Error(format!("index out of range: {offset}")));
    }
    if offset.is_some_and(|offset| offset >= length) {
        return Ok(Val::Int(-1));
    }
    let mut places = chars.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted.as_slice());
    let found = if last {
        let limit = offset.unwrap_or(length);
        places.map(|(at, _)| at as i64).take_while(|at| *at <= limit).last()
    } else {
        let from = offset.unwrap_or(0);
        places.find(|(at, _)| *at as i64 >= from).map(|(at, _)| at as i64)
    };
    Ok(Val::Int(found.unwrap_or(-1)))
}

fn distinct<'a>(env: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let mut kept: Vec<Val<'a>> = Vec::new();
    for item in v[0].items(env)? {
        if !contains(env, &kept, &item)? {
            kept.push(item);
        }
    }
    Ok(Val::list(kept))
}

/// `values` in the order of their `keys`, which must be of one ordered type.
pub(crate) fn sort_by_keys<'a>(env: &Env<'a>, keys: Vec<Val<'a>>, values: Vec<Val<'a>>) -> EvalResult<'a> {
    env.step()?;
    if let Some(first) = keys.first() {
        for key in &keys {
            if key.type_name() != first.type_name() || compare(first, key)?.is_none() {
                return Err(Fail::undecidable("sorting values of several types"));
            }
        }
    }
    let mut pairs: Vec<(Val<'a>, Val<'a>)> = keys.into_iter().zip(values).collect();
    pairs.sort_by(|(a, _), (b, _)| compare(a, b).ok().flatten().unwrap_or(Ordering::Equal));
    Ok(Val::list(pairs.into_iter().map(|(_, value)| value).collect()))
}

fn flatten<'a>(env: &Env<'a>, list: &Val<'a>, depth: i64, out: &mut Vec<Val<'a>>) -> Result<(), Fail> {
    for item in list.items(env)? {
        env.step()?;
        if depth > 0 && item.list_len().is_some() {
            flatten(env, &item, depth - 1, out)?;
        } else {
            out.push(item);
        }
    }
    Ok(())
}

fn slice<'a>(env: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let items = v[0].items(env)?;
    let (start, end) = (integer(&v[1])?, integer(&v[2])?);
    if start < 0 || end < 0 {
        return Err(Fail::Error(format!("cannot slice({start}, {end}), negative indexes not supported")));
    }
    if start > end {
        return Err(Fail::Error(format!(
            "cannot slice({start}, {end}), start index must be less than or equal to end index"
        )));
    }
    if end as usize > items.len() {
        return Err(Fail::Error(format!("cannot slice({start}, {end}), list is length {}", items.len())));
    }
    Ok(Val::list(items[start as usize..end as usize].to_vec()))
}
