//! Rules, compiled: the syntax comes from the crate `cel`; names, macros and functions are resolved here, once.

use super::eval::{Env, EvalResult};
use super::library;
use super::names::unescape;
use super::value::Val;
use crate::pattern::Pattern;
use cel::common::ast::{CallExpr, EntryExpr, Expr as Syntax, IdedExpr, LiteralValue, operators};

/// Expressions nested deeper than this are not compiled, because compiling and evaluating call themselves.
const MAX_DEPTH: usize = 100;

/// Longer rules are not read, in bytes. Those of real CRDs stay below 3,000.
const MAX_LENGTH: usize = 16 * 1024;

/// Rules with more brackets than this, or longer than [`SHORT`] bytes, are read on a stack of their own: the parser calls
/// itself about ten times for each bracket, and a stack overflow ends the whole program. In a debug build, twelve
/// brackets in each other fit into the two megabytes that threads usually have.
const FEW_BRACKETS: usize = 8;
const SHORT: usize = 800;

/// The size of that stack, in bytes: more than what the parser needs for the 96 levels at which it gives up, or for
/// the longest chain of fields in [`MAX_LENGTH`]. Only what is used takes memory.
const STACK: usize = 64 << 20;

/// A function of the library.
pub(crate) type Function = for<'v, 'a> fn(&Env<'a>, &'v [Val<'a>]) -> EvalResult<'a>;

#[derive(Debug)]
pub(crate) enum Expr {
    Literal(Literal),
    /// A variable of a loop, by its place on the stack.
    Variable(usize),
    Current,
    Old,
    TypeName(&'static str),
    Select {
        of: Box<Expr>,
        raw: String,
        plain: String,
        optional: bool,
    },
    Has {
        of: Box<Expr>,
        raw: String,
        plain: String,
    },
    Index {
        of: Box<Expr>,
        at: Box<Expr>,
        optional: bool,
    },
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Matches(Box<Expr>, Pattern),
    Call(Function, Vec<Expr>),
    /// Items, and whether they are written with `?`.
    List(Vec<(Expr, bool)>),
    Map(Vec<(Expr, Expr, bool)>),
    OptMap {
        of: Box<Expr>,
        body: Box<Expr>,
        flat: bool,
    },
    Loop(Box<Loop>),
}

#[derive(Debug)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Double(f64),
    Str(String),
    Bytes(Vec<u8>),
}

/// A macro that goes through a list or map.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) kind: LoopKind,
    pub(crate) over: Expr,
    pub(crate) two_variables: bool,
    pub(crate) filter: Option<Expr>,
    pub(crate) body: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
    SortBy,
    TransformList,
    TransformMap,
}

/// A rule that is compiled: its expression, with the functions of the library resolved.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) expr: Expr,
    /// Whether it compares with the old object.
    pub(crate) uses_old: bool,
}

impl Program {
    /// Compiles a rule; the error says what is not understood.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        if source.len() > MAX_LENGTH {
            return Err(format!("the rule is longer than {MAX_LENGTH} bytes"));
        }
        let opened = source.bytes().filter(|byte| b"([{".contains(byte)).count();
        if opened <= FEW_BRACKETS && source.len() <= SHORT {
            return Self::read(source);
        }
        if cfg!(target_family = "wasm") {
            // There are no threads, and whoever runs the module finds that it ends at a rule that is nested too deeply.
            return Self::read(source);
        }
        // Where none can be started, such a rule is not checked.
        std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || Self::read(source));
            let read = reader.ok().and_then(|reader| reader.join().ok());
            read.unwrap_or_else(|| Err("the rule needs a larger stack than there is".to_owned()))
        })
    }

    fn read(source: &str) -> Result<Self, String> {
        let parser = cel::Env::default().parser().enable_ident_escape_syntax(true);
        // The parser is not ours: a panic in it must not take the editor down.
        let parsed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| parser.parse(source)));
        let syntax = match parsed {
            Ok(Ok(syntax)) => syntax,
            Ok(Err(errors)) => return Err(format!("the rule does not parse: {errors}")),
            Err(_) => return Err("the rule cannot be parsed".to_owned()),
        };
        let mut compiler = Compiler { scope: Vec::new(), uses_old: false, depth: 0 };
        let expr = compiler.expr(&syntax)?;
        Ok(Self { expr, uses_old: compiler.uses_old })
    }
}

struct Compiler {
    scope: Vec<String>,
    uses_old: bool,
    depth: usize,
}

impl Compiler {
    fn expr(&mut self, syntax: &IdedExpr) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the rule is nested too deeply".to_owned());
        }
        let result = self.node(&syntax.expr);
        self.depth -= 1;
        result
    }

    fn boxed(&mut self, syntax: &IdedExpr) -> Result<Box<Expr>, String> {
        self.expr(syntax).map(Box::new)
    }

    fn node(&mut self, syntax: &Syntax) -> Result<Expr, String> {
        Ok(match syntax {
            Syntax::Literal(value) => Expr::Literal(literal(value)),
            Syntax::Ident(name) => self.name(name)?,
            Syntax::Select(select) => {
                if let Some(name) = type_path(syntax) {
                    return Ok(Expr::TypeName(name));
                }
                let of = self.boxed(&select.operand)?;
                let (raw, plain) = (select.field.clone(), unescape(&select.field));
                if select.test {
                    Expr::Has { of, raw, plain }
                } else {
                    Expr::Select { of, raw, plain, optional: false }
                }
            }
            Syntax::List(list) => {
                let mut items = Vec::with_capacity(list.elements.len());
                for (position, element) in list.elements.iter().enumerate() {
                    items.push((self.expr(element)?, list.optional_indices.contains(&position)));
                }
                Expr::List(items)
            }
            Syntax::Map(map) => {
                let mut entries = Vec::with_capacity(map.entries.len());
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else {
                        return Err("an entry of a map is not understood".to_owned());
                    };
                    entries.push((self.expr(&entry.key)?, self.expr(&entry.value)?, entry.optional));
                }
                Expr::Map(entries)
            }
            Syntax::Call(call) => self.call(call)?,
            Syntax::Struct(_) | Syntax::Comprehension(_) | Syntax::Unspecified => {
                return Err("the rule uses syntax that rules of CRDs do not have".to_owned());
            }
        })
    }

    fn name(&mut self, name: &str) -> Result<Expr, String> {
        if let Some(slot) = self.scope.iter().rposition(|variable| variable == name) {
            return Ok(Expr::Variable(slot));
        }
        Ok(match name {
            "self" => Expr::Current,
            "oldSelf" => {
                self.uses_old = true;
                Expr::Old
            }
            _ => Expr::TypeName(type_name(name).ok_or_else(|| format!("{name} is not known here"))?),
        })
    }

    fn call(&mut self, call: &CallExpr) -> Result<Expr, String> {
        let name = call.func_name.as_str();
        let arguments = &call.args;
        if let Some(expr) = self.operator(name, arguments)? {
            return Ok(expr);
        }
        if let Some(target) = &call.target {
            if let Some(expr) = self.target_macro(name, target, arguments)? {
                return Ok(expr);
            }
            // `strings.quote(x)` is a function with a dot in its name, unless a variable has the name.
            if let Syntax::Ident(space) = &target.expr
                && !self.scope.contains(space)
                && let Some(function) = library::function(&format!("{space}.{name}"), false, arguments.len())
            {
                return Ok(Expr::Call(function, self.all(arguments)?));
            }
            let mut values = vec![self.expr(target)?];
            values.extend(self.all(arguments)?);
            return Self::function_call(name, true, values);
        }
        if name == "has" && arguments.len() == 1 {
            return match self.expr(&arguments[0])? {
                Expr::Select { of, raw, plain, .. } => Ok(Expr::Has { of, raw, plain }),
                _ => Err("has() needs a field".to_owned()),
            };
        }
        let values = self.all(arguments)?;
        Self::function_call(name, false, values)
    }

    fn function_call(name: &str, member: bool, mut values: Vec<Expr>) -> Result<Expr, String> {
        if name == "matches"
            && values.len() == 2
            && let Some(Expr::Literal(Literal::Str(pattern))) = values.last()
        {
            let pattern = Pattern::new(pattern);
            values.pop();
            let of = values.pop().ok_or_else(|| "matches() needs a string".to_owned())?;
            return Ok(Expr::Matches(Box::new(of), pattern));
        }
        match library::function(name, member, values.len()) {
            Some(function) => Ok(Expr::Call(function, values)),
            None => Err(format!("the function {name} is not known here")),
        }
    }

    fn all(&mut self, syntax: &[IdedExpr]) -> Result<Vec<Expr>, String> {
        syntax.iter().map(|syntax| self.expr(syntax)).collect()
    }

    fn operator(&mut self, name: &str, arguments: &[IdedExpr]) -> Result<Option<Expr>, String> {
        Ok(Some(match (name, arguments) {
            (operators::LOGICAL_AND, [left, rest @ ..]) if !rest.is_empty() => self.chain(left, rest, Expr::And)?,
            (operators::LOGICAL_OR, [left, rest @ ..]) if !rest.is_empty() => self.chain(left, rest, Expr::Or)?,
            (operators::CONDITIONAL, [condition, yes, no]) => {
                Expr::If(self.boxed(condition)?, self.boxed(yes)?, self.boxed(no)?)
            }
            (operators::INDEX, [of, at]) => Expr::Index { of: self.boxed(of)?, at: self.boxed(at)?, optional: false },
            (operators::OPT_INDEX, [of, at]) => {
                Expr::Index { of: self.boxed(of)?, at: self.boxed(at)?, optional: true }
            }
            (operators::OPT_SELECT, [of, field]) => {
                let Syntax::Literal(LiteralValue::String(raw)) = &field.expr else {
                    return Err("an optional field without name".to_owned());
                };
                let raw = raw.inner().to_owned();
                Expr::Select { of: self.boxed(of)?, plain: unescape(&raw), raw, optional: true }
            }
            _ => return Ok(None),
        }))
    }

    fn chain(
        &mut self,
        first: &IdedExpr,
        rest: &[IdedExpr],
        join: fn(Box<Expr>, Box<Expr>) -> Expr,
    ) -> Result<Expr, String> {
        let mut result = self.expr(first)?;
        for next in rest {
            result = join(Box::new(result), self.boxed(next)?);
        }
        Ok(result)
    }

    /// Macros that are called on a value: their variables are names, not values.
    fn target_macro(&mut self, name: &str, target: &IdedExpr, arguments: &[IdedExpr]) -> Result<Option<Expr>, String> {
        let ident = |syntax: &IdedExpr| match &syntax.expr {
            Syntax::Ident(name) => Some(name.clone()),
            _ => None,
        };
        if let ("optMap" | "optFlatMap", [variable, body]) = (name, arguments) {
            let Some(variable) = ident(variable) else { return Ok(None) };
            let of = self.boxed(target)?;
            self.scope.push(variable);
            let body = self.boxed(body);
            self.scope.pop();
            return Ok(Some(Expr::OptMap { of, body: body?, flat: name == "optFlatMap" }));
        }
        let kind = match (name, arguments.len()) {
            ("all", 2 | 3) => LoopKind::All,
            ("exists", 2 | 3) => LoopKind::Exists,
            ("exists_one" | "existsOne", 2 | 3) => LoopKind::ExistsOne,
            ("filter", 2) => LoopKind::Filter,
            ("map", 2 | 3) => LoopKind::Map,
            ("sortBy", 2) => LoopKind::SortBy,
            ("transformList", 3 | 4) => LoopKind::TransformList,
            ("transformMap", 3 | 4) => LoopKind::TransformMap,
            _ => return Ok(None),
        };
        let two_variables = match kind {
            LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => arguments.len() == 3,
            LoopKind::TransformList | LoopKind::TransformMap => true,
            _ => false,
        };
        let (variables, rest) = arguments.split_at(if two_variables { 2 } else { 1 });
        let Some(variables) = variables.iter().map(ident).collect::<Option<Vec<_>>>() else { return Ok(None) };
        let over = self.expr(target)?;
        let outer = self.scope.len();
        self.scope.extend(variables);
        let filter = match rest {
            [filter, _] => Some(self.expr(filter)),
            _ => None,
        };
        let body = match rest.last() {
            Some(body) => self.expr(body),
            None => Err(format!("{name} needs an expression")),
        };
        self.scope.truncate(outer);
        Ok(Some(Expr::Loop(Box::new(Loop { kind, over, two_variables, filter: filter.transpose()?, body: body? }))))
    }
}

fn literal(value: &LiteralValue) -> Literal {
    match value {
        LiteralValue::Null => Literal::Null,
        LiteralValue::Boolean(flag) => Literal::Bool(*flag.inner()),
        LiteralValue::Int(integer) => Literal::Int(*integer.inner()),
        LiteralValue::UInt(integer) => Literal::UInt(*integer.inner()),
        LiteralValue::Double(float) => Literal::Double(*float.inner()),
        LiteralValue::String(text) => Literal::Str(text.inner().to_owned()),
        LiteralValue::Bytes(bytes) => Literal::Bytes(bytes.inner().to_vec()),
    }
}

fn type_name(name: &str) -> Option<&'static str> {
    ["int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type", "optional_type"]
        .into_iter()
        .find(|known| *known == name)
}

/// The two message types that can be named in an expression, `google.protobuf.Timestamp` and
/// `google.protobuf.Duration`.
fn type_path(syntax: &Syntax) -> Option<&'static str> {
    let Syntax::Select(last) = syntax else { return None };
    let Syntax::Select(middle) = &last.operand.expr else { return None };
    let Syntax::Ident(first) = &middle.operand.expr else { return None };
    match (first.as_str(), middle.field.as_str(), last.field.as_str()) {
        ("google", "protobuf", "Timestamp") => Some("google.protobuf.Timestamp"),
        ("google", "protobuf", "Duration") => Some("google.protobuf.Duration"),
        _ => None,
    }
}
