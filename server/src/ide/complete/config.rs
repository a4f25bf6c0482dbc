//! Inside a config of the server: its keys and values, names that it declares, variables.

use super::offer::{Offer, escape};
use super::{finished, starts_line};
use crate::ide::config::{ConfigText, Embedding};
use crate::ide::document::DocumentAnalysis;
use crate::ide::types::{CompletionItem, CompletionKind, TextEdit};
use crate::ide::{Span, block, knowledge, place};
use llsd_generator::config::language::{self, Key, Language, Meaning, Shape};
use llsd_generator::path::{Path, Segment};
use llsd_yaml::cursor::{Cursor, CursorPlace, cursor_at};
use llsd_yaml::{Document, parse_document};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names that a bare list of tool groups begins with.
const TOOL_GROUPS: [&str; 2] = ["builtin::websearch", "builtin::rag"];

/// The offers at an offset of the document, with its places; `None` outside of any config.
pub(super) fn complete(document: &DocumentAnalysis, offset: usize) -> Option<Vec<CompletionItem>> {
    let outer = document.tree().text();
    let (config, inside, tree) = document.configs().iter().find_map(|config| {
        if let Some(inside) = config.embedding().inner(offset).filter(|_| config.embedding().has_column(offset, outer))
        {
            return Some((config, inside, Arc::clone(config.tree())));
        }
        let text = config.embedding().extended(config.tree().text(), offset, outer)?;
        Some((config, text.len(), Arc::new(parse_document(&text))))
    })?;
    let items = Context::new(document, config, &tree, inside).complete();
    Some(items.into_iter().filter_map(|item| outside(config, item, inside, offset, outer)).collect())
}

/// The item with places of the document.
fn outside(
    config: &ConfigText,
    mut item: CompletionItem,
    inside: usize,
    offset: usize,
    outer: &str,
) -> Option<CompletionItem> {
    match config.embedding() {
        Embedding::Document => {}
        Embedding::Quoted(_) if item.snippet || item.insert.new_text.contains('\n') => return None,
        Embedding::Quoted(_) => item.insert = config.embedding().edit(&item.insert, outer)?,
        // What is replaced lies on the cursor's line, and further lines begin where this one does.
        Embedding::Block(_) | Embedding::Whole(_) => {
            let span = item.insert.span;
            item.insert.span = Span::new((offset + span.start).checked_sub(inside)?, offset + span.end - inside);
        }
    }
    Some(item)
}

/// A cursor inside a config.
struct Context<'a> {
    document: &'a DocumentAnalysis,
    config: &'a ConfigText,
    tree: &'a Document,
    offset: usize,
    cursor: Cursor,
    /// The newest version that the config may be for.
    newest: Option<(&'static str, Language)>,
    /// The oldest one, where that is another.
    oldest: Option<(&'static str, Language)>,
}

impl<'a> Context<'a> {
    fn new(document: &'a DocumentAnalysis, config: &'a ConfigText, tree: &'a Document, offset: usize) -> Self {
        let languages = config.languages(document.facts());
        let newest = languages.last().copied();
        let oldest = languages.first().copied().filter(|_| languages.len() > 1);
        Self { document, config, tree, offset, cursor: cursor_at(tree, offset), newest, oldest }
    }

    fn complete(&self) -> Vec<CompletionItem> {
        if let Some(items) = self.variables() {
            return items;
        }
        let Some((_, language)) = self.newest else { return Vec::new() };
        let container = place::path(&self.cursor.container);
        let offers = match &self.cursor.place {
            CursorPlace::Key { existing } => self.keys(language, &container, existing),
            CursorPlace::Value { path } => self.values(language, &place::path(path)),
            CursorPlace::Item { path } => {
                let path = place::path(path);
                let item = if matches!(path.last(), Some(Segment::Index(_))) { path } else { path.index(0) };
                self.item(language, &item)
            }
            CursorPlace::Comment | CursorPlace::None => Vec::new(),
        };
        finished(self.tree.text(), &self.cursor, offers)
    }

    /// Keys of a mapping; of a list that is still empty, its first item.
    fn keys(&self, language: Language, container: &Path, existing: &[String]) -> Vec<Offer> {
        let value = self.config.value();
        if language.key(value, container).is_some_and(|key| key.shape == Shape::List) {
            if !existing.is_empty() || !starts_line(self.tree.text(), &self.cursor) {
                return Vec::new();
            }
            return self.item(language, &container.index(0)).into_iter().map(Offer::behind_dash).collect();
        }
        if container.to_string() == "storage.backends" {
            return backend_names(existing);
        }
        let keys = language.keys(value, container).into_iter().filter(|key| !existing.contains(&key.name));
        let mut offers: Vec<(bool, Offer)> = keys.map(|key| self.key(container, &key)).collect();
        offers.sort_by_key(|(is_new, _)| *is_new);
        offers.into_iter().map(|(_, offer)| offer).collect()
    }

    /// A key, and whether the oldest version does not have it.
    fn key(&self, container: &Path, key: &Key) -> (bool, Offer) {
        let missing = self
            .oldest
            .filter(|(_, oldest)| oldest.key(self.config.value(), &container.key(key.name.as_str())).is_none());
        let mut detail = key.kind.to_owned();
        if key.required {
            detail.push_str(", required");
        }
        if key.deprecated {
            detail.push_str(", deprecated");
        }
        if let Some(default) = &key.default {
            detail.push_str(&format!(", default {}", block::inline(default)));
        }
        if let Some((version, _)) = missing {
            detail.push_str(&format!(", not in {}", llsd_generator::config::named(version)));
        }
        let offer = Offer::key(&key.name, body(container, key)).detail(detail);
        (missing.is_some(), offer.documentation(key.description.clone()))
    }

    /// A list item that nothing is written of yet: a value, or the first key of a mapping.
    fn item(&self, language: Language, path: &Path) -> Vec<Offer> {
        let keys = language.keys(self.config.value(), path);
        if keys.is_empty() {
            return self.values(language, path);
        }
        let required: Vec<&Key> = keys.iter().filter(|key| key.required || key.name == "provider_id").collect();
        let mut offers: Vec<Offer> = keys.iter().map(|key| self.key(path, key).1).collect();
        if required.len() > 1 {
            let lines = required
                .iter()
                .enumerate()
                .map(|(number, key)| format!("{}: ${}", escape(&llsd_yaml::edit::quote_scalar(&key.name)), number + 1));
            let mut whole = Offer::value("…", CompletionKind::Snippet).detail("a whole entry");
            whole.body = lines.collect();
            offers.insert(0, whole);
        }
        offers
    }

    fn values(&self, language: Language, path: &Path) -> Vec<Offer> {
        let value = self.config.value();
        match language::meaning(path) {
            Some(Meaning::Api) => {
                let listed: Vec<&str> = Path::parse("apis")
                    .find(value)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                let here = path.find(value).and_then(Value::as_str);
                let free = |name: &&str| !listed.contains(name) || here == Some(*name);
                let mut names: Vec<&str> = language.catalog().apis().filter(free).collect();
                let provided = |api: &str| value.get("providers").and_then(|all| all.get(api)).is_some();
                names.sort_by_key(|api| !provided(api));
                names.into_iter().map(|api| Offer::value(api, CompletionKind::Enum)).collect()
            }
            Some(Meaning::ProviderType(api)) => {
                let mut types: Vec<_> = language.catalog().providers(&api).collect();
                types.sort_by_key(|one| one.deprecated.is_some());
                let offer = |one: &llsd_generator::catalog::ProviderType| {
                    let mut offer = Offer::value(&one.provider_type, CompletionKind::Provider);
                    offer.detail =
                        one.deprecated.clone().map(|instead| format!("deprecated: {instead}")).unwrap_or_default();
                    offer.documentation(one.summary.clone())
                };
                types.into_iter().map(offer).collect()
            }
            Some(Meaning::ProviderId(_)) => {
                let beside = path.parent().map(|entry| entry.key("provider_type"));
                let kind = beside.and_then(|place| place.find(value)?.as_str());
                let short = kind.and_then(|kind| kind.rsplit("::").next()).filter(|name| !name.is_empty());
                short
                    .map(|name| Offer::value(name, CompletionKind::Value).detail("the name of the type"))
                    .into_iter()
                    .collect()
            }
            Some(Meaning::ProviderOf(api)) => {
                let ids = language::provider_ids(value, &api).into_iter();
                ids.map(|(id, kind)| Offer::value(id, CompletionKind::Reference).detail(kind)).collect()
            }
            Some(Meaning::Model) => references(language::registered_ids(value, "models"), "model"),
            Some(Meaning::Shield) => references(language::registered_ids(value, "shields"), "shield"),
            Some(Meaning::Registered("tool_groups")) => references(TOOL_GROUPS.to_vec(), "tool group"),
            Some(Meaning::Backend(family)) => {
                let around = path.parent().and_then(|around| around.find(value).cloned());
                let family = family.or_else(|| around.as_ref().and_then(language::family));
                let backends = language::backends(value, family).into_iter();
                backends.map(|(name, kind)| Offer::value(name, CompletionKind::Reference).detail(kind)).collect()
            }
            _ => self.plain_values(language, path),
        }
    }

    /// The values of a type that has few, or the default.
    fn plain_values(&self, language: Language, path: &Path) -> Vec<Offer> {
        let key = language.key(self.config.value(), path);
        let default = key.as_ref().and_then(|key| key.default.clone());
        let words = key.as_ref().map(|key| key.description.clone()).unwrap_or_default();
        let mut values = language.values(self.config.value(), path);
        if let Some(default) = default.clone().filter(|default| !default.is_object() && !default.is_array()) {
            values.retain(|value| *value != default);
            values.insert(0, default);
        }
        let offer = |value: &Value| {
            let label = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let mut offer = Offer::value(label, CompletionKind::Enum).documentation(words.clone());
            offer.body = vec![escape(&block::inline(value))];
            if default.as_ref() == Some(value) { offer.detail("default") } else { offer }
        };
        let mut offers: Vec<Offer> = values.iter().map(offer).collect();
        if key.as_ref().is_some_and(|key| key.secret) {
            offers.insert(0, self.secret(path));
        }
        offers
    }

    /// A variable for a secret, with a name that tells whose it is.
    fn secret(&self, path: &Path) -> Offer {
        let beside = path.segments().iter().take(3).cloned().collect::<Path>().key("provider_type");
        let kind = beside.find(self.config.value()).and_then(Value::as_str).unwrap_or("server");
        let owner = kind.rsplit("::").next().unwrap_or_default();
        let field = match path.last() {
            Some(Segment::Key(name)) => name.as_str(),
            _ => "secret",
        };
        let name: String = format!("{owner}_{field}")
            .chars()
            .map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
            .collect();
        let mut offer = Offer::value(format!("${{env.{name}}}"), CompletionKind::Snippet).detail("from a variable");
        offer.body = vec![escape(&format!("${{env.{name}:=}}"))];
        offer
    }

    /// Names of variables, where the cursor stands in the name of a `${env.…}` that has no end yet, or in one that has.
    fn variables(&self) -> Option<Vec<CompletionItem>> {
        let text = self.tree.text();
        let line = text[..self.offset].rsplit('\n').next()?;
        let typed = line.rsplit_once("${env.").map(|(_, typed)| typed)?;
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        if !typed.chars().all(is_name) {
            return None;
        }
        let rest = &text[self.offset..];
        let end = self.offset + rest.find(|char: char| !is_name(char)).unwrap_or(rest.len());
        let closed = text[end..].starts_with(['}', ':']);
        let span = Span::new(self.offset - typed.len(), end);
        let own = span.slice(text);
        let names = self.known_variables(typed).into_iter().filter(|(name, _)| name != own);
        let item = |(order, (name, detail)): (usize, (String, String))| CompletionItem {
            label: name.clone(),
            kind: CompletionKind::Reference,
            detail,
            documentation: String::new(),
            insert: TextEdit { span, new_text: if closed { name.clone() } else { format!("{name}}}") } },
            snippet: false,
            sort: u32::try_from(order).unwrap_or(u32::MAX),
            filter: name,
        };
        Some(names.enumerate().map(item).collect())
    }

    /// Those that begin as was typed first: the variables that the resources around set, that the config reads elsewhere, and that starter configs read.
    fn known_variables(&self, typed: &str) -> Vec<(String, String)> {
        let mut found: BTreeMap<String, (u8, String)> = BTreeMap::new();
        for (name, words) in self.config.set_variables(self.document.facts()) {
            found.insert(name, (0, words));
        }
        for name in knowledge::variables(self.tree.text()).into_keys() {
            found.entry(name).or_insert((1, "read elsewhere in this config".to_owned()));
        }
        for name in knowledge::usual_base().into_iter().flat_map(|base| base.variables.keys()) {
            found.entry(name.clone()).or_insert((2, "read by the starter distribution".to_owned()));
        }
        let mut all: Vec<_> = found.into_iter().collect();
        all.sort_by_key(|(name, (rank, _))| (!name.starts_with(typed), *rank));
        all.into_iter().map(|(name, (_, words))| (name, words)).collect()
    }
}

fn references(names: Vec<&str>, detail: &str) -> Vec<Offer> {
    names.into_iter().map(|name| Offer::value(name, CompletionKind::Reference).detail(detail)).collect()
}

/// The backends that most configs have.
fn backend_names(existing: &[String]) -> Vec<Offer> {
    let usual = [("kv_default", "kv_sqlite", "kvstore.db"), ("sql_default", "sql_sqlite", "sql_store.db")];
    let free = usual.into_iter().filter(|(name, ..)| !existing.iter().any(|there| there == name));
    let offer = |(name, kind, file): (&str, &str, &str)| {
        let lines = [format!("{name}:"), format!("  type: ${{1:{kind}}}"), format!("  db_path: ${{2:/data/{file}}}")];
        Offer::key(name, lines.to_vec()).detail(kind)
    };
    free.map(offer).collect()
}

/// The lines of a key with a skeleton of its value.
fn body(container: &Path, key: &Key) -> Vec<String> {
    let name = escape(&llsd_yaml::edit::quote_scalar(&key.name));
    if container.to_string() == "providers" {
        let lines = ["  - provider_id: $1", "    provider_type: $2", "    config:", "      $3"];
        return std::iter::once(format!("{name}:")).chain(lines.map(str::to_owned)).collect();
    }
    match (key.shape, &key.default) {
        (Shape::Mapping, _) => vec![format!("{name}:"), "  $1".to_owned()],
        (Shape::List, _) => vec![format!("{name}:"), "  - $1".to_owned()],
        (Shape::Scalar, Some(Value::Bool(default))) => vec![format!("{name}: ${{1:{}}}", !default)],
        (Shape::Scalar, Some(default)) if !default.is_object() && !default.is_array() => {
            vec![format!("{name}: ${{1:{}}}", escape(&block::inline(default)))]
        }
        (Shape::Scalar, _) if key.name == "version" => vec![format!("{name}: 2")],
        (Shape::Scalar, _) => vec![format!("{name}: $1")],
    }
}
