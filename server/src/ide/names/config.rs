//! The names in a llama-stack config, wherever it stands.

use super::reader::Reader;
use super::{Form, Occurrence, Role, Symbol};
use llsd_yaml::{Node, Span};

/// The lists of registered resources: name, the key of an entry's id, the API whose provider serves them.
const REGISTERED: [(&str, &str, &str); 8] = [
    ("models", "model_id", "inference"),
    ("shields", "shield_id", "safety"),
    ("tool_groups", "toolgroup_id", "tool_runtime"),
    ("vector_stores", "vector_store_id", "vector_io"),
    ("vector_dbs", "vector_db_id", "vector_io"),
    ("datasets", "dataset_id", "datasetio"),
    ("scoring_fns", "scoring_fn_id", "scoring"),
    ("benchmarks", "benchmark_id", "eval"),
];

/// Whether a document without `kind` is a config.
pub(super) fn is_config(reader: &Reader<'_>, root: Node<'_>) -> bool {
    root.is_mapping()
        && root.get("version").is_some()
        && (reader.get(root, "providers").is_some() || reader.get(root, "apis").is_some())
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
