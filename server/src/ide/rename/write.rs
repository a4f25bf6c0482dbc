//! Writing another name where one stands, as it is written there.

use crate::ide::Analysis;
use crate::ide::names::{Form, LocatedOccurrence, Symbol};
use crate::ide::types::TextEdit;
use llsd_yaml::edit::{self, Position, quote_scalar};
use llsd_yaml::{Kind, Span};

/// Longest name of an object or of a key of a Secret or ConfigMap, in bytes: what the API server takes.
const LONGEST: usize = 253;

/// The edits that write `new` where `found` stands, for the whole text.
pub(crate) fn edits(analysis: &Analysis, found: &LocatedOccurrence, new: &Symbol) -> Vec<TextEdit> {
    let replace = |span: Span, new_text: String| vec![TextEdit { span: span.shift(found.offset), new_text }];
    let name = new.name();
    let span = found.occurrence.span;
    match &found.occurrence.form {
        Form::Part => replace(span, name.to_owned()),
        Form::Scalar { whole } => replace(*whole, like(&found.slice(*whole), name)),
        Form::Builtin { whole } => {
            let short = name.strip_prefix(super::BUILTIN).unwrap_or(name);
            replace(*whole, like(&found.slice(*whole), short))
        }
        Form::Implicit { provider } => {
            let Some(located) = analysis.document(found.document) else { return Vec::new() };
            let quoted = quote_scalar(name);
            let position = Position::Before("provider");
            let edits = edit::insert_entry(located.document.tree(), provider, "id", &quoted, position);
            edits.unwrap_or_default().into_iter().map(|edit| edit.shift(found.offset)).collect()
        }
        Form::Alias => Vec::new(),
    }
}

/// `name` in the quotes that `source` has. A plain text gets quotes only if it would be read as something else.
fn like(source: &str, name: &str) -> String {
    match source.chars().next() {
        Some('\'') => format!("'{}'", name.replace('\'', "''")),
        Some('"') => {
            let escaped: String = name
                .chars()
                .flat_map(|char| matches!(char, '"' | '\\').then_some('\\').into_iter().chain(Some(char)))
                .collect();
            format!("\"{escaped}\"")
        }
        _ => quote_scalar(name).into_owned(),
    }
}

/// What is wrong with a new name; `None` if nothing is.
pub(super) fn fault(old: &Symbol, new: &Symbol) -> Option<&'static str> {
    let name = new.name();
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.chars().any(|char| char.is_control() || char.is_whitespace() || matches!(char, '{' | '}' | '<' | '>' | '$'))
    {
        return Some("blanks and the signs { } < > $ have no place in it");
    }
    let served = |symbol: &Symbol| symbol.name().rsplit_once("::").map(|(served, _)| served.to_owned());
    match new {
        Symbol::ToolGroup(_) if name.ends_with("::") => Some("nothing stands behind the last ::"),
        Symbol::ToolGroup(_) if served(old) != served(new) => {
            Some("what stands in front of :: says what serves the group, and cannot change with its name")
        }
        Symbol::Secret(_) | Symbol::ConfigMap(_) => (!llsd_generator::names::is_subdomain(name)).then_some(
            "it takes lower-case letters, digits, - and ., with a letter or digit at both ends, 253 at most",
        ),
        Symbol::SecretKey(..) | Symbol::ConfigMapKey(..) => {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            (name.len() > LONGEST || !name.bytes().all(fits) || name == "." || name.starts_with(".."))
                .then_some("it takes letters, digits, -, _ and ., 253 at most")
        }
        Symbol::Variable(_) => {
            let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
            (!name.bytes().all(fits) || name.starts_with(|char: char| char.is_ascii_digit()))
                .then_some("llama-stack reads only A-Z, 0-9 and _, with no digit in front")
        }
        _ => None,
    }
}

/// Whether the text that an alias stands for is one of `others`, so that it is changed there.
pub(super) fn is_anchored_at(alias: &LocatedOccurrence, others: &[LocatedOccurrence]) -> bool {
    let Some(located) = alias.analysis().and_then(|analysis| analysis.document(alias.document)) else { return false };
    let tree = located.document.tree();
    let Some(node) = tree.node_at(alias.occurrence.span.start).filter(|node| node.kind() == Kind::Alias) else {
        return false;
    };
    let name = node.value();
    let before = |other: &llsd_yaml::Node<'_>| other.span().start < node.span().start;
    let anchored = tree.nodes().filter(|other| other.anchor() == Some(&*name)).filter(before).last();
    let Some(anchored) = anchored.map(|node| node.span()) else { return false };
    others.iter().any(|other| {
        other.place == alias.place
            && other.document == alias.document
            && other.occurrence.form != Form::Alias
            && anchored.start <= other.occurrence.span.start
            && other.occurrence.span.end <= anchored.end
    })
}
