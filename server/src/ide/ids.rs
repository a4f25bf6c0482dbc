//! Where a resource declares ids of providers, and where it refers to them.

use super::document::DocumentAnalysis;
use super::resource::Resource;
use super::{Span, place};
use llsd_generator::api::v1alpha2::{PROVIDER_FIELDS, implied_id};
use llsd_generator::path::Path;
use llsd_yaml::{Node, Style};

/// One place where an id of a provider stands.
#[derive(Clone, Debug)]
pub(crate) struct Use<'d> {
    /// The scalar: the id, or the provider type that the id follows from.
    pub(crate) node: Node<'d>,
    /// The id without quotes.
    pub(crate) id: String,
    /// What the place does with it.
    pub(crate) role: Role,
}

/// What a place does with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Declares it in so many words.
    Declared,
    /// Declares it by the provider type.
    Implied,
    /// The place refers to the provider of this id.
    Reference,
}

/// Every place of a v1alpha2 resource where an id stands, declarations first.
pub(crate) fn uses<'d>(document: &'d DocumentAnalysis, resource: &Resource) -> Vec<Use<'d>> {
    let tree = document.tree();
    let at = |path: &str| tree.find(&place::steps(&resource.base, &Path::parse(path)));
    let mut found = Vec::new();
    let written = |node: &Node<'d>| node.is_scalar() && !node.is_absent() && !node.value().is_empty();
    for (_, field) in PROVIDER_FIELDS {
        for item in at(&format!("spec.providers.{field}")).into_iter().flat_map(|list| list.items()) {
            if let Some(node) = item.get("id").filter(written) {
                found.push(Use { node, id: node.value().into_owned(), role: Role::Declared });
            } else if let Some(node) = item.get("provider").filter(written).filter(|_| item.get("id").is_none()) {
                let id = implied_id(&node.value()).to_owned();
                found.push(Use { node, id, role: Role::Implied });
            }
        }
    }
    for model in at("spec.resources.models").into_iter().flat_map(|list| list.items()) {
        if let Some(node) = model.get("provider").filter(written) {
            found.push(Use { node, id: node.value().into_owned(), role: Role::Reference });
        }
    }
    found
}

/// The text of a scalar on one line without its quotes, if that is its value letter for letter.
pub(crate) fn bare(node: Node<'_>) -> Option<Span> {
    let span = node.span();
    let span = match node.style() {
        Style::Plain => span,
        Style::SingleQuoted | Style::DoubleQuoted if span.len() >= 2 && !node.is_unclosed() => {
            Span::new(span.start + 1, span.end - 1)
        }
        _ => return None,
    };
    (span.slice(node.document().text()) == node.value()).then_some(span)
}
