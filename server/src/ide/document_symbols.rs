//! The outline of a file.

use super::config::ConfigText;
use super::document::DocumentAnalysis;
use super::resource::Resource;
use super::types::{Symbol, SymbolKind};
use super::{Analysis, Span, place};
use llsd_yaml::{Entry, Node};

/// The fields that an item of a list is called by, in a resource and in a config.
const NAMES: [&str; 9] =
    ["id", "providerId", "name", "model_id", "shield_id", "toolgroup_id", "vector_store_id", "provider_id", "provider"];

/// Entries past this depth are left out: an outline of a pod template helps nobody.
const DEPTH: usize = 6;

pub(crate) fn symbols(analysis: &Analysis) -> Vec<Symbol> {
    let mut found = Vec::new();
    for located in analysis.documents() {
        for mut symbol in located.document.configs().iter().filter_map(|config| of_config(located.document, config)) {
            shift(&mut symbol, located.offset);
            found.push(symbol);
        }
        for resource in located.document.resources() {
            if let Some(mut symbol) = outline(located.document, resource) {
                shift(&mut symbol, located.offset);
                found.push(symbol);
            }
        }
    }
    found
}

fn outline(document: &DocumentAnalysis, resource: &Resource) -> Option<Symbol> {
    let root = document.tree().find(&place::steps(&resource.base, &Default::default()))?;
    let name = resource.name();
    Some(Symbol {
        name: if name.is_empty() { resource.version.kind().name().to_owned() } else { name.to_owned() },
        detail: format!("{} {}", resource.version.kind().name(), resource.version.name()),
        kind: SymbolKind::Resource,
        span: root.span(),
        selection: within(place::name_span(root), root.span()),
        children: root
            .entries()
            .filter(|entry| entry.key.key_text() == "spec")
            .flat_map(|entry| below(entry.value, 0))
            .collect(),
    })
}

/// A config of the server, with places of the document around it.
fn of_config(document: &DocumentAnalysis, config: &ConfigText) -> Option<Symbol> {
    let root = config.tree().root()?;
    let text = |field: &str| root.get(field).map(scalar_text).filter(|text| !text.is_empty());
    let key = config.owner().map(|owner| owner.key.clone());
    let name = key.or_else(|| text("distro_name")).or_else(|| text("image_name"));
    let mut symbol = Symbol {
        name: named(&name.unwrap_or_else(|| "config".to_owned())),
        detail: format!("config of {}", config.judged_by(document.facts()).0),
        kind: SymbolKind::Resource,
        span: root.span(),
        selection: within(place::name_span(root), root.span()),
        children: below(root, 0),
    };
    outside(&mut symbol, config, true);
    Some(symbol)
}

/// Moves the symbol and all below it to the places of the document around the config. Where places are not told, the
/// config is one entry.
fn outside(symbol: &mut Symbol, config: &ConfigText, is_root: bool) {
    symbol.span = config.embedding().span(symbol.span);
    symbol.selection = within(config.embedding().span(symbol.selection), symbol.span);
    if is_root && !config.embedding().is_exact() {
        symbol.children.clear();
    }
    symbol.children.iter_mut().for_each(|child| outside(child, config, false));
}

fn below(node: Node<'_>, depth: usize) -> Vec<Symbol> {
    if depth >= DEPTH {
        return Vec::new();
    }
    if node.is_sequence() {
        return node.items().map(|item| of_item(item, depth)).collect();
    }
    node.entries().map(|entry| of_entry(entry, depth)).collect()
}

fn of_entry(entry: Entry<'_>, depth: usize) -> Symbol {
    let key = entry.key.key_text();
    Symbol {
        name: named(&key),
        detail: scalar_text(entry.value),
        kind: if entry.value.is_scalar() { SymbolKind::Field } else { SymbolKind::Section },
        span: entry.span,
        selection: within(entry.key.span(), entry.span),
        children: below(entry.value, depth + 1),
    }
}

fn of_item(item: Node<'_>, depth: usize) -> Symbol {
    let field = |name: &str| item.get(name).map(scalar_text).filter(|text| !text.is_empty());
    let has = |name: &str| item.get(name).is_some();
    let kind =
        if (has("provider") && !has("name")) || has("provider_type") { SymbolKind::Provider } else { SymbolKind::Item };
    let name = NAMES.into_iter().find_map(field).unwrap_or_else(|| scalar_text(item));
    let detail = match kind {
        SymbolKind::Provider => field("provider").or_else(|| field("provider_type")).unwrap_or_default(),
        _ => String::new(),
    };
    Symbol {
        name: named(&name),
        detail,
        kind,
        span: item.span(),
        selection: within(place::name_span(item), item.span()),
        children: below(item, depth + 1),
    }
}

fn named(name: &str) -> String {
    if name.trim().is_empty() { "…".to_owned() } else { name.to_owned() }
}

fn scalar_text(node: Node<'_>) -> String {
    if !node.is_scalar() {
        return String::new();
    }
    node.value().lines().next().unwrap_or_default().chars().take(80).collect()
}

fn within(inner: Span, outer: Span) -> Span {
    let start = inner.start.clamp(outer.start, outer.end);
    Span::new(start, inner.end.clamp(start, outer.end))
}

/// Moves the symbol and all below it; the depth is bounded by how they were made.
fn shift(symbol: &mut Symbol, by: usize) {
    symbol.span = symbol.span.shift(by);
    symbol.selection = symbol.selection.shift(by);
    for child in &mut symbol.children {
        shift(child, by);
    }
}
