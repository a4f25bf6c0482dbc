//! Parts of a document that have the shape of a config, as those of the values of a Helm chart: they are one where a
//! template puts them into a ConfigMap.

use super::{ConfigText, Embedding, Owner, inside, may_be};
use crate::ide::place;
use llsd_generator::chart::{Put, Source};
use llsd_generator::config;
use llsd_generator::document::Plain;
use llsd_generator::path::Path;
use llsd_yaml::{BlockScalar, Document, Kind, Node, Span, parse_document};
use serde_json::Value;
use std::sync::Arc;

/// How many keys may lead to a config.
const DEPTH: usize = 8;

/// Parts of one document that are looked at. Nobody keeps more configs.
const MOST: usize = 16;

/// A part of a document that may be a config.
#[derive(Debug)]
pub(crate) struct PossibleConfig {
    /// The keys that lead to it.
    keys: Vec<String>,
    /// Whether it is a text there, and no mapping.
    is_text: bool,
    config: ConfigText,
}

/// What may be a config in a document that is neither one itself nor a manifest.
pub(crate) fn possible(tree: &Document, plain: &Plain) -> Vec<PossibleConfig> {
    let mut found = Vec::new();
    let is_manifest = ["kind", "apiVersion"].iter().any(|field| plain.value.get(field).is_some());
    if !is_manifest && may_be(tree.text()) {
        search(tree, &plain.value, &mut Vec::new(), &mut found);
    }
    found
}

fn search(tree: &Document, value: &Value, keys: &mut Vec<String>, found: &mut Vec<PossibleConfig>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        if found.len() >= MOST {
            return;
        }
        keys.push(key.clone());
        let node =
            || tree.find(&place::steps(&keys.iter().fold(Path::root(), |path, key| path.key(key)), &Path::root()));
        match value {
            Value::String(text) if may_be(text) => {
                let config = node().and_then(|node| inside(node, None));
                found.extend(config.map(|config| PossibleConfig { keys: keys.clone(), is_text: true, config }));
            }
            Value::Object(_) if config::is_config(value) => {
                let config = node().and_then(of_mapping);
                found.extend(config.map(|config| PossibleConfig { keys: keys.clone(), is_text: false, config }));
            }
            Value::Object(_) if keys.len() < DEPTH => search(tree, value, keys, found),
            _ => {}
        }
        keys.pop();
    }
}

/// A mapping as a config: its lines without indentation are a text, as those of a literal one are.
fn of_mapping(node: Node<'_>) -> Option<ConfigText> {
    let document = node.document();
    let (block, text) = lines(node)?;
    // what is anchored may stand anywhere around
    let is_alias = |one: Node<'_>| one.kind() == Kind::Alias && block.content.contains(one.span().start);
    if text.contains('*') && document.nodes().any(is_alias) {
        return None;
    }
    let tree = Arc::new(parse_document(&text));
    let plain = Plain::read(&tree);
    config::is_config(&plain.value).then(|| ConfigText::new(Embedding::Block(block), None, tree, Arc::new(plain)))
}

/// The lines of a mapping in block style that begins on a line of its own.
fn lines(node: Node<'_>) -> Option<(BlockScalar, String)> {
    let outer = node.document().text();
    let first = node.entries().next()?.key.span().start;
    let start = outer[..first].rfind('\n').map_or(0, |at| at + 1);
    let indent = node.indent();
    if node.is_flow() || first - start != indent || !outer[start..first].bytes().all(|byte| byte == b' ') {
        return None;
    }
    let last = start + outer.get(start..node.full_span().end)?.trim_end().len();
    let end = outer[last..].find(['\n', '\r']).map_or(outer.len(), |at| last + at);
    let (mut pieces, mut text, mut at) = (Vec::new(), String::new(), start);
    for line in outer[start..end].split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let stripped = content.bytes().take(indent).take_while(|byte| *byte == b' ').count();
        pieces.push((text.len(), at + stripped));
        text.push_str(&content[stripped..]);
        text.push('\n');
        at += line.len();
    }
    let header = node.key().map_or(Span::empty(start), |key| key.span());
    Some((BlockScalar { header, content: Span::new(start, end), indent, pieces }, text))
}

/// The parts that templates put into ConfigMaps, each as the config there.
pub(crate) fn put(possible: &[PossibleConfig], puts: &[Put]) -> Vec<ConfigText> {
    let of = |one: &PossibleConfig| {
        let is_it = |put: &&Put| match &put.source {
            Source::Value(keys) => !one.is_text && *keys == one.keys,
            Source::Text(keys) => one.is_text && *keys == one.keys,
            Source::File(_) | Source::Files(_) => false,
        };
        let put = puts.iter().find(is_it)?;
        Some(one.config.in_config_map(Owner { object: put.config_map.clone(), key: put.key.clone() }))
    };
    possible.iter().filter_map(of).collect()
}

impl PossibleConfig {
    /// Takes over what is known of the same part of the text before.
    pub(crate) fn remember(&mut self, before: &[Self]) {
        let same = before.iter().find(|known| known.keys == self.keys);
        same.into_iter().for_each(|known| self.config.remember(&known.config));
    }
}
