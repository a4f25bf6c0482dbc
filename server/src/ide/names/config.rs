//! The names in a llama-stack config, wherever it stands.

use super::reader::Reader;
use super::{DocumentNames, Form, Occurrence, Role, Scope, Symbol};
use crate::ide::config::{ConfigText, Embedding};
use llsd_generator::config::language::REGISTERED;
use llsd_yaml::{Node, Span};

/// Notes the names of a config, with places of the document around it.
pub(super) fn read_embedded(config: &ConfigText, names: &mut DocumentNames) {
    let Some(root) = config.tree().root().filter(|_| config.embedding().is_exact()) else { return };
    let scope = names.scopes.len();
    names.scopes.push(Scope { owner: config.owner().map(|owner| owner.object.clone()), ..Scope::default() });
    let mut found = Vec::new();
    read(&Reader::new(config.tree()), root, scope, &mut found);
    let quoted = matches!(config.embedding(), Embedding::Quoted(_));
    names.occurrences.extend(found.into_iter().filter_map(|mut one| {
        one.span = config.embedding().exact(one.span)?;
        match &mut one.form {
            // quotes inside of quotes are not written anew
            Form::Scalar { .. } if quoted => one.form = Form::Part,
            Form::Scalar { whole } => *whole = config.embedding().exact(*whole)?,
            _ => {}
        }
        Some(one)
    }));
}

/// Notes the names of the config at `root`.
pub(super) fn read<'d>(reader: &Reader<'d>, root: Node<'d>, scope: usize, out: &mut Vec<Occurrence>) {
    let scope_number = Some(scope);
    for api in reader.get(root, "apis").map(|apis| reader.items(apis)).unwrap_or_default() {
        reader.note(api, scope_number, Role::Declaration, Symbol::Api, out);
    }
    for entry in reader.get(root, "providers").map(|providers| reader.entries(providers)).unwrap_or_default() {
        reader.note(entry.key, scope_number, Role::Reference, Symbol::Api, out);
        let api = entry.key.key_text();
        for provider in reader.items(entry.value) {
            if let Some(id) = reader.get(provider, "provider_id") {
                identity(reader, id, scope, Role::Declaration, |id| provider_of(&api, id), out);
            }
        }
    }
    // the lists stand at the root in version 1, and below `registered_resources` since
    for holder in [Some(root), reader.get(root, "registered_resources")].into_iter().flatten() {
        for (list, id, api) in REGISTERED {
            for item in reader.get(holder, list).map(|list| reader.items(list)).unwrap_or_default() {
                let symbol: fn(String) -> Symbol = match list {
                    "models" => Symbol::Model,
                    "shields" => Symbol::Shield,
                    "tool_groups" => Symbol::ToolGroup,
                    _ => {
                        reference(reader, item, &["provider_id"], scope, |id| provider_of(api, id), out);
                        continue;
                    }
                };
                if let Some(node) = reader.get(item, id) {
                    identity(reader, node, scope, Role::Declaration, symbol, out);
                }
                reference(reader, item, &["provider_id"], scope, |id| provider_of(api, id), out);
            }
        }
    }
    let fields = ["vector_stores", "default_embedding_model"];
    let embedding = |field| [fields[0], fields[1], field];
    reference(reader, root, &["vector_stores", "default_provider_id"], scope, |id| provider_of("vector_io", id), out);
    reference(reader, root, &embedding("provider_id"), scope, |id| provider_of("inference", id), out);
    reference(reader, root, &embedding("model_id"), scope, Symbol::Model, out);
    reference(reader, root, &["safety", "default_shield_id"], scope, Symbol::Shield, out);
    for entry in reader.at(root, &["storage", "backends"]).map(|map| reader.entries(map)).unwrap_or_default() {
        reader.note(entry.key, scope_number, Role::Declaration, Symbol::Backend, out);
    }
    let users = [reader.at(root, &["storage", "stores"]), reader.get(root, "providers"), reader.get(root, "server")];
    let mut open: Vec<Node<'_>> = users.into_iter().flatten().collect();
    while let Some(node) = open.pop() {
        if let Some(backend) = node.get("backend") {
            reader.note(backend, scope_number, Role::Reference, Symbol::Backend, out);
        }
        open.extend(node.children());
    }
    reader.note_variables(root, scope, out);
}

fn provider_of(api: &str, id: String) -> Symbol {
    Symbol::Provider { api: api.to_owned(), id }
}

fn reference<'d>(
    reader: &Reader<'d>,
    root: Node<'d>,
    fields: &[&str],
    scope: usize,
    symbol: impl FnOnce(String) -> Symbol,
    out: &mut Vec<Occurrence>,
) {
    if let Some(node) = reader.at(root, fields) {
        identity(reader, node, scope, Role::Reference, symbol, out);
    }
}

/// A name, also where it exists under a condition only: `vllm` of `${env.VLLM_URL:+vllm}`.
fn identity<'d>(
    reader: &Reader<'d>,
    node: Node<'d>,
    scope: usize,
    role: Role,
    symbol: impl FnOnce(String) -> Symbol,
    out: &mut Vec<Occurrence>,
) {
    let source = node.source();
    let inside = source.trim_matches(['"', '\'']).strip_prefix("${env.").and_then(|rest| rest.strip_suffix('}'));
    let Some((_, name)) = inside.and_then(|inside| inside.split_once(":+")).filter(|_| node.is_scalar()) else {
        return reader.note(node, Some(scope), role, symbol, out);
    };
    let Some(at) = source.find(":+").filter(|_| !name.is_empty()) else { return };
    let start = node.span().start + at + 2;
    let span = Span::new(start, start + name.len());
    out.push(Occurrence { symbol: symbol(name.to_owned()), scope: Some(scope), span, role, form: Form::Part });
}
