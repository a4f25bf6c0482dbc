//! Editing an id of a provider at all its places at once.

use super::document::DocumentAnalysis;
use super::ids::{self, Role};
use super::names::{self, Form, Symbol};
use super::{Analysis, Span, place};

/// The places of the id under the cursor, in the order of the text: its declaration and every reference of the same
/// resource, all with the same letters. `None` where there is no id that is declared exactly once in so many words.
pub(crate) fn places(analysis: &Analysis, offset: usize) -> Option<Vec<Span>> {
    let (located, inside) = analysis.at(offset)?;
    let document = &located.document;
    if document.config_at(inside).is_some() {
        return in_config(document, inside)
            .map(|spans| spans.into_iter().map(|span| span.shift(located.offset)).collect());
    }
    let node = document.tree().node_at(inside).filter(|node| node.is_scalar() && !node.is_key())?;
    let resource = document.resource_at(&place::path(&node.path()))?;
    let uses = ids::uses(document, resource);
    let here = uses.iter().find(|one| one.node == node)?;
    let same: Vec<_> = uses.iter().filter(|one| one.id == here.id).collect();
    let declared = same.iter().filter(|one| one.role != Role::Reference).count();
    if declared != 1 || same.iter().any(|one| one.role == Role::Implied) {
        return None;
    }
    let mut spans: Vec<Span> = same
        .iter()
        .map(|one| ids::bare(one.node))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .map(|span| span.shift(located.offset))
        .collect();
    spans.sort_by_key(|span| span.start);
    (spans.len() > 1).then_some(spans)
}

/// The places of a name in a config, where it is declared exactly once.
fn in_config(document: &DocumentAnalysis, offset: usize) -> Option<Vec<Span>> {
    let names = document.names();
    let here = names.at(offset)?;
    if !matches!(here.symbol, Symbol::Provider { .. } | Symbol::Backend(_) | Symbol::Shield(_)) {
        return None;
    }
    let same = || names.occurrences.iter().filter(|one| one.scope == here.scope && one.symbol == here.symbol);
    let text = document.tree().text();
    let alike = same().all(|one| one.form != Form::Alias && one.span.slice(text) == here.symbol.name());
    let declared = same().filter(|one| one.role == names::Role::Declaration).count();
    (alike && declared == 1 && same().count() > 1).then(|| same().map(|one| one.span).collect())
}
