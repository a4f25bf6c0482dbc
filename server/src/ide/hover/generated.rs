//! What is known about a line of a generated config or a base config.

use super::environment;
use crate::ide::names::{Query, TextId, base_text};
use crate::ide::types::Hover;
use crate::ide::{OriginKind, definition, preview};
use llsd_yaml::parse_document;

/// Where the line at `offset` comes from, and what a `${env.…}` in it means. `None` for files, which [`super::hover`]
/// speaks of, and where there is nothing to say.
#[must_use]
pub fn hover_generated(query: &Query<'_>, offset: usize) -> Option<Hover> {
    let (text, origins) = match &query.place {
        TextId::File(_) => return None,
        TextId::Base(distribution) => (base_text(distribution)?.to_owned(), Vec::new()),
        TextId::Preview { document, resource, .. } => {
            let found = preview::preview(query.analysis?, *document, *resource)?;
            (found.text, found.lines)
        }
    };
    let number = text.get(..offset)?.matches('\n').count();
    let mut span = definition::line_span(&text, number);
    let mut parts = Vec::new();
    let tree = parse_document(&text);
    if let Some((expression, words)) = tree.node_at(offset).and_then(|node| environment::at(node, offset)) {
        span = expression;
        parts.push(words);
    }
    if let Some(origin) = origins.get(number) {
        parts.push(match origin.kind {
            OriginKind::Resource => format!("From the resource: `{}`", origin.path),
            OriginKind::Base => format!("From the base config, line {}", origin.path),
            OriginKind::Default => format!("Nobody wrote this: {}", origin.path),
            OriginKind::Rule => format!("Follows from a rule: {}", origin.path),
        });
    }
    (!parts.is_empty()).then(|| Hover { span, markdown: parts.join("\n\n") })
}
