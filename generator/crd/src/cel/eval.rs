//! Evaluation of a compiled rule.

use super::program::{Expr, Literal, Loop, LoopKind};
use super::value::{ATOMIC, Val, compare, contains, equal};
use crate::schema::ListType;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

/// Evaluation steps after which a rule on one value is given up. The API server has a budget of its own, counted
/// differently. A step takes some 20 nanoseconds.
pub(crate) const MAX_STEPS: u32 = 2_000_000;

/// How many bytes of text, or items of a list, that a function is given count as one step: it may look at all of them.
const PER_STEP: usize = 16;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fail {
    /// An error of evaluation, in the API server's words.
    Error(String),
    /// The value depends on something that is not known.
    Unknown,
    /// The rule takes more steps than it may.
    Costly,
    /// This cannot be evaluated here as the API server does.
    Undecidable(String),
}

impl Fail {
    pub(crate) fn no_overload() -> Self {
        Self::Error("no such overload".to_owned())
    }

    pub(crate) fn error(text: &str) -> Self {
        Self::Error(text.to_owned())
    }

    pub(crate) fn undecidable(what: &str) -> Self {
        Self::Undecidable(what.to_owned())
    }

    /// Which of two failures decides: what is open outweighs an error.
    fn or(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Undecidable(_) | Self::Costly, _) => self,
            (_, Self::Undecidable(_) | Self::Costly) => other,
            (Self::Unknown, _) => self,
            (_, Self::Unknown) => other,
            _ => self,
        }
    }
}

pub(crate) type EvalResult<'a> = Result<Val<'a>, Fail>;

/// What a rule can see.
pub(crate) struct Env<'a> {
    pub(crate) current: Val<'a>,
    pub(crate) old: Option<Val<'a>>,
    unknown: &'a HashSet<usize>,
    variables: Vec<Val<'a>>,
    /// How many steps the expression may take.
    pub(crate) limit: u32,
    steps: Cell<u32>,
}

impl<'a> Env<'a> {
    /// `unknown` holds the addresses of the JSON values that are not known.
    pub(crate) fn new(unknown: &'a HashSet<usize>) -> Self {
        Self { current: Val::Null, old: None, unknown, variables: Vec::new(), limit: MAX_STEPS, steps: Cell::new(0) }
    }

    pub(crate) fn is_unknown(&self, value: &Value) -> bool {
        !self.unknown.is_empty() && self.unknown.contains(&super::address(value))
    }

    /// Counts one step of work.
    pub(crate) fn step(&self) -> Result<(), Fail> {
        self.steps_for(1)
    }

    fn steps_for(&self, work: usize) -> Result<(), Fail> {
        let work = u32::try_from(work).unwrap_or(u32::MAX);
        self.steps.set(self.steps.get().saturating_add(work));
        if self.steps.get() > self.limit { Err(Fail::Costly) } else { Ok(()) }
    }

    /// The steps that the last expression has taken.
    pub(crate) fn steps(&self) -> u32 {
        self.steps.get()
    }

    /// Counts the work of a function on its arguments.
    fn steps_of_call(&self, arguments: &[Val<'a>]) -> Result<(), Fail> {
        let size = |value: &Val<'a>| match value {
            Val::Str(text) => text.len(),
            Val::Bytes(bytes) => bytes.len(),
            value => value.list_len().unwrap_or_default(),
        };
        self.steps_for(arguments.iter().map(size).sum::<usize>() / PER_STEP)
    }

    /// Evaluates an expression from the start.
    pub(crate) fn run(&mut self, expr: &'a Expr) -> EvalResult<'a> {
        self.variables.clear();
        self.steps.set(0);
        self.eval(expr)
    }

    fn eval(&mut self, expr: &'a Expr) -> EvalResult<'a> {
        self.step()?;
        match expr {
            Expr::Literal(literal) => Ok(literal_value(literal)),
            Expr::Variable(slot) => {
                self.variables.get(*slot).cloned().ok_or_else(|| Fail::undecidable("a variable is missing"))
            }
            Expr::Current => Ok(self.current.clone()),
            Expr::Old => self.old.clone().ok_or_else(|| Fail::error("no such attribute(s): oldSelf")),
            Expr::TypeName(name) => Ok(Val::Type(name)),
            Expr::Select { of, raw, plain, optional } => {
                let of = self.eval(of)?;
                self.select(of, raw, plain, *optional)
            }
            Expr::Has { of, raw, plain } => {
                let Some((of, _)) = unwrapped(self.eval(of)?, false) else { return Ok(Val::Bool(false)) };
                // A null counts as absent.
                of.field(self, raw, plain).map(|found| Val::Bool(!matches!(found, None | Some(Val::Null))))
            }
            Expr::Index { of, at, optional } => {
                let of = self.eval(of)?;
                let at = self.eval(at)?;
                self.index(of, at, *optional)
            }
            Expr::And(left, right) => self.logic(left, right, false),
            Expr::Or(left, right) => self.logic(left, right, true),
            Expr::If(condition, yes, no) => match self.eval(condition)? {
                Val::Bool(true) => self.eval(yes),
                Val::Bool(false) => self.eval(no),
                _ => Err(Fail::no_overload()),
            },
            Expr::Matches(of, pattern) => match self.eval(of)? {
                Val::Str(text) => match pattern.regex() {
                    Some(_) if self.steps_for(text.len() / PER_STEP).is_err() => Err(Fail::Costly),
                    Some(regex) => Ok(Val::Bool(regex.is_match(&text))),
                    None => Err(Fail::undecidable("the pattern does not compile here")),
                },
                _ => Err(Fail::no_overload()),
            },
            Expr::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.eval(argument)?);
                }
                self.steps_of_call(&values)?;
                function(self, &values)
            }
            Expr::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for (item, optional) in items {
                    match (self.eval(item)?, optional) {
                        (value, false) => values.push(value),
                        (Val::Optional(Some(value)), true) => values.push((*value).clone()),
                        (Val::Optional(None), true) => {}
                        _ => return Err(Fail::no_overload()),
                    }
                }
                Ok(Val::list(values))
            }
            Expr::Map(entries) => {
                let mut values: Vec<(Val<'a>, Val<'a>)> = Vec::with_capacity(entries.len());
                for (key, value, optional) in entries {
                    let key = self.eval(key)?;
                    let value = match (self.eval(value)?, optional) {
                        (value, false) => value,
                        (Val::Optional(Some(value)), true) => (*value).clone(),
                        (Val::Optional(None), true) => continue,
                        _ => return Err(Fail::no_overload()),
                    };
                    for (name, _) in &values {
                        if equal(self, name, &key)? {
                            return Err(Fail::undecidable("a map literal repeats a key"));
                        }
                    }
                    values.push((key, value));
                }
                Ok(Val::Map(Rc::new(values)))
            }
            Expr::OptMap { of, body, flat } => match self.eval(of)? {
                Val::Optional(None) => Ok(Val::Optional(None)),
                Val::Optional(Some(value)) => {
                    self.variables.push((*value).clone());
                    let result = self.eval(body);
                    self.variables.pop();
                    result.map(|value| if *flat { value } else { Val::some(value) })
                }
                _ => Err(Fail::no_overload()),
            },
            Expr::Loop(spec) => self.run_loop(spec),
        }
    }

    fn select(&mut self, of: Val<'a>, raw: &str, plain: &str, optional: bool) -> EvalResult<'a> {
        let Some((of, optional)) = unwrapped(of, optional) else { return Ok(Val::Optional(None)) };
        match of.field(self, raw, plain)? {
            Some(Val::Null) if optional => Err(Fail::undecidable("an optional field that is null")),
            found => present(found, optional, || format!("no such key: {raw}")),
        }
    }

    fn index(&mut self, of: Val<'a>, at: Val<'a>, optional: bool) -> EvalResult<'a> {
        let Some((of, optional)) = unwrapped(of, optional) else { return Ok(Val::Optional(None)) };
        if let Some(length) = of.list_len() {
            let position = match at {
                Val::Int(position) => position,
                Val::UInt(position) => i64::try_from(position).unwrap_or(i64::MAX),
                Val::Double(position) if position.fract() == 0.0 => position as i64,
                _ => return Err(Fail::undecidable("a list indexed by something else than a number")),
            };
            let inside = usize::try_from(position).ok().filter(|position| *position < length);
            let found = inside.map(|position| of.item(self, position)).transpose()?;
            return present(found, optional, || format!("index out of bounds: {position}"));
        }
        let found = of.lookup(self, &at)?;
        present(found, optional, || format!("no such key: {}", super::library::convert::shown(&at)))
    }

    /// `&&` (`decisive` false) and `||` (`decisive` true). Both are commutative in CEL, for errors too: one decisive side
    /// outweighs a failure of the other, whichever stands first.
    fn logic(&mut self, left: &'a Expr, right: &'a Expr, decisive: bool) -> EvalResult<'a> {
        let side = |outcome: EvalResult<'a>| match outcome {
            Ok(Val::Bool(flag)) => Ok(flag),
            Ok(_) => Err(Fail::no_overload()),
            Err(fail) => Err(fail),
        };
        let left = side(self.eval(left));
        if left == Ok(decisive) {
            return Ok(Val::Bool(decisive));
        }
        let right = side(self.eval(right));
        match (left, right) {
            (_, Ok(flag)) if flag == decisive => Ok(Val::Bool(decisive)),
            (Err(left), Err(right)) => Err(left.or(right)),
            (Err(fail), _) | (_, Err(fail)) => Err(fail),
            (Ok(_), Ok(_)) => Ok(Val::Bool(!decisive)),
        }
    }

    fn run_loop(&mut self, spec: &'a Loop) -> EvalResult<'a> {
        let over = self.eval(&spec.over)?;
        let keys = match over.list_len() {
            Some(_) => None,
            None => Some(over.keys().ok_or_else(Fail::no_overload)?),
        };
        let count = keys.as_ref().map_or_else(|| over.list_len().unwrap_or_default(), Vec::len);
        let mut state = LoopState::default();
        for position in 0..count {
            let depth = self.variables.len();
            let bound = self.bind(spec, &over, keys.as_deref(), position);
            let done = match bound {
                Ok(()) => self.iterate(spec, &mut state),
                Err(fail) => Err(fail),
            };
            self.variables.truncate(depth);
            if let Some(result) = done? {
                return Ok(result);
            }
        }
        state.finish(self, spec)
    }

    /// Puts the variables of one turn on the stack.
    fn bind(&mut self, spec: &Loop, over: &Val<'a>, keys: Option<&[Val<'a>]>, position: usize) -> Result<(), Fail> {
        let key = match keys {
            Some(keys) => keys.get(position).cloned().unwrap_or(Val::Null),
            None => Val::Int(position as i64),
        };
        if spec.two_variables {
            let value = match keys {
                Some(_) => over.lookup(self, &key)?.unwrap_or(Val::Null),
                None => over.item(self, position)?,
            };
            self.variables.push(key);
            self.variables.push(value);
        } else {
            let value = if keys.is_some() { key } else { over.item(self, position)? };
            self.variables.push(value);
        }
        Ok(())
    }

    /// One turn; a value ends the loop.
    fn iterate(&mut self, spec: &'a Loop, state: &mut LoopState<'a>) -> Result<Option<Val<'a>>, Fail> {
        let flag = |outcome: EvalResult<'a>| match outcome {
            Ok(Val::Bool(flag)) => Ok(flag),
            Ok(_) => Err(Fail::no_overload()),
            Err(fail) => Err(fail),
        };
        match spec.kind {
            LoopKind::All | LoopKind::Exists => {
                let decisive = spec.kind == LoopKind::Exists;
                // They stand for a chain of `&&` or `||`, so a failure waits for an item that decides in spite of it.
                match flag(self.eval(&spec.body)) {
                    Ok(found) if found == decisive => return Ok(Some(Val::Bool(decisive))),
                    Ok(_) => {}
                    Err(fail) => {
                        state.fail = Some(match state.fail.take() {
                            Some(earlier) => earlier.or(fail),
                            None => fail,
                        });
                    }
                }
            }
            LoopKind::ExistsOne => {
                if flag(self.eval(&spec.body))? {
                    state.count += 1;
                }
            }
            LoopKind::Filter => {
                if flag(self.eval(&spec.body))? {
                    let item = self.variables.last().cloned().unwrap_or(Val::Null);
                    state.items.push(item);
                }
            }
            LoopKind::Map | LoopKind::TransformList | LoopKind::SortBy => {
                if let Some(filter) = &spec.filter
                    && !flag(self.eval(filter))?
                {
                    return Ok(None);
                }
                let result = self.eval(&spec.body)?;
                if spec.kind == LoopKind::SortBy {
                    state.values.push(self.variables.last().cloned().unwrap_or(Val::Null));
                }
                state.items.push(result);
            }
            LoopKind::TransformMap => {
                if let Some(filter) = &spec.filter
                    && !flag(self.eval(filter))?
                {
                    return Ok(None);
                }
                let key = self.variables.iter().rev().nth(1).cloned().unwrap_or(Val::Null);
                let result = self.eval(&spec.body)?;
                state.entries.push((key, result));
            }
        }
        Ok(None)
    }
}

/// What `.` and `[]` work on: of an optional value the one inside, and then the result is optional, too. `None` for an
/// optional value that is empty, because whatever is taken from it is empty as well.
fn unwrapped(of: Val<'_>, optional: bool) -> Option<(Val<'_>, bool)> {
    match of {
        Val::Optional(None) => None,
        Val::Optional(Some(of)) => Some(((*of).clone(), true)),
        of => Some((of, optional)),
    }
}

/// What was found, as an optional value where one is wanted. `missing` is the error where nothing may be missing.
fn present<'a>(found: Option<Val<'a>>, optional: bool, missing: impl FnOnce() -> String) -> EvalResult<'a> {
    match (found, optional) {
        (Some(value), true) => Ok(Val::some(value)),
        (None, true) => Ok(Val::Optional(None)),
        (Some(value), false) => Ok(value),
        (None, false) => Err(Fail::Error(missing())),
    }
}

#[derive(Default)]
struct LoopState<'a> {
    fail: Option<Fail>,
    count: usize,
    items: Vec<Val<'a>>,
    values: Vec<Val<'a>>,
    entries: Vec<(Val<'a>, Val<'a>)>,
}

impl<'a> LoopState<'a> {
    fn finish(self, env: &Env<'a>, spec: &Loop) -> EvalResult<'a> {
        match spec.kind {
            LoopKind::All | LoopKind::Exists => match self.fail {
                Some(fail) => Err(fail),
                None => Ok(Val::Bool(spec.kind == LoopKind::All)),
            },
            LoopKind::ExistsOne => Ok(Val::Bool(self.count == 1)),
            LoopKind::Filter | LoopKind::Map | LoopKind::TransformList => Ok(Val::list(self.items)),
            LoopKind::TransformMap => Ok(Val::Map(Rc::new(self.entries))),
            LoopKind::SortBy => super::library::lists::sort_by_keys(env, self.items, self.values),
        }
    }
}

fn literal_value(literal: &Literal) -> Val<'_> {
    match literal {
        Literal::Null => Val::Null,
        Literal::Bool(flag) => Val::Bool(*flag),
        Literal::Int(integer) => Val::Int(*integer),
        Literal::UInt(integer) => Val::UInt(*integer),
        Literal::Double(float) => Val::Double(*float),
        Literal::Str(text) => Val::Str(Cow::Borrowed(text)),
        Literal::Bytes(bytes) => Val::Bytes(Rc::new(bytes.clone())),
    }
}

/// `+` of two lists. Sets stay sets; in keyed lists a later item replaces the earlier one of its key.
pub(crate) fn add_lists<'a>(env: &Env<'a>, left: &Val<'a>, right: &Val<'a>) -> EvalResult<'a> {
    let list_type = left.list_type();
    let mut items = left.items(env)?;
    let more = right.items(env)?;
    match list_type {
        ListType::Atomic => {
            items.extend(more);
            Ok(Val::List(Rc::new(items), &ATOMIC))
        }
        ListType::Set => {
            for item in more {
                if !contains(env, &items, &item)? {
                    items.push(item);
                }
            }
            Ok(Val::List(Rc::new(items), list_type))
        }
        ListType::Map(names) => {
            for item in more {
                let mut place = None;
                for (position, present) in items.iter().enumerate() {
                    if same_key(env, names, present, &item)? {
                        place = Some(position);
                        break;
                    }
                }
                match place {
                    Some(position) => items[position] = item,
                    None => items.push(item),
                }
            }
            Ok(Val::List(Rc::new(items), list_type))
        }
    }
}

fn same_key<'a>(env: &Env<'a>, names: &[String], left: &Val<'a>, right: &Val<'a>) -> Result<bool, Fail> {
    for name in names {
        let same = match (left.field(env, name, name)?, right.field(env, name, name)?) {
            (Some(a), Some(b)) => equal(env, &a, &b)?,
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `<`, `<=`, `>` and `>=`.
pub(crate) fn ordered<'a>(left: &Val<'a>, right: &Val<'a>, accept: fn(std::cmp::Ordering) -> bool) -> EvalResult<'a> {
    let order = compare(left, right)?.ok_or_else(|| Fail::error("NaN values cannot be ordered"))?;
    Ok(Val::Bool(accept(order)))
}
