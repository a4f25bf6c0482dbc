//! Adding the key that a resource asks for to the Secret or ConfigMap that does not have it.

use super::objects::{self, Changes};
use crate::ide::diagnostics::touches;
use crate::ide::names::{Query, Symbol};
use crate::ide::types::Diagnostic;
use crate::ide::{Span, place};
use llsd_generator::check::finding::{FixEdit, Target};
use llsd_generator::path::Path;
use llsd_generator::references::{ReferenceKind, key_at};
use serde_json::Value;

/// Title and changes. The value is empty: only the user knows it.
pub(super) fn add(query: &Query<'_>, diagnostic: &Diagnostic) -> Option<(String, Changes)> {
    let located = query.analysis?.document(diagnostic.document)?;
    let document = located.document;
    let path = Path::parse(&diagnostic.path);
    let resource = document.resources().iter().find(|resource| {
        let span = place::span(document.tree(), &place::steps(&resource.base, &path), Target::Value);
        let whole = Span::new(span.start + located.offset, span.end + located.offset);
        touches(whole, diagnostic.span) && path.find(&resource.value).is_some()
    })?;
    let key = path.find(&resource.value)?.as_str().filter(|key| is_key(key))?;
    let (kind, named) = key_at(&path)?;
    let name = named.find(&resource.value)?.as_str()?;
    let object = (resource.namespace().to_owned(), name.to_owned());
    let (symbol, section) = match kind {
        ReferenceKind::Secret => (Symbol::Secret(object), "stringData"),
        ReferenceKind::ConfigMap => (Symbol::ConfigMap(object), "data"),
    };
    let found = objects::declared(query, &symbol)?;
    let value = Value::from("");
    let insert = FixEdit::Insert { path: Path::root().key(section).key(key), value };
    let mut changes = Changes::default();
    changes.add(query, &found, objects::edits(&found, &[insert])?)?;
    let title = format!("Add key \"{key}\" to {} \"{name}\"{}", symbol.noun(), objects::in_file(query, &found));
    Some((title, changes))
}

/// Whether Kubernetes takes a text as a key.
fn is_key(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text.bytes().all(fits) && !text.starts_with("..") && text != "."
}
