//! What the words of a resource are, for colouring: keys that exist and keys that do not, provider types, ids, values of
//! enumerations, and what will be filled in later.

use super::config::ConfigText;
use super::document::DocumentAnalysis;
use super::meaning::{Meaning, meaning, provider_at};
use super::resource::Resource;
use super::schema::{self, Schema};
use super::types::{Diagnostic, Tag};
use super::{Analysis, Span, place};
use llsd_generator::check::Rule;
use llsd_generator::check::rules::drafts::PROVIDER_HOST;
use llsd_generator::check::rules::misplaced::MISPLACED_FIELD;
use llsd_generator::check::rules::schema::UNKNOWN_FIELD;
use llsd_generator::check::rules::server_config;
use llsd_generator::check::rules::settings::UNKNOWN_KEY;
use llsd_generator::config::language;
use llsd_generator::path::{Path, Segment};
use llsd_yaml::{Node, SkippedKind, Style};
use std::collections::BTreeMap;

/// Findings that say of a key that nobody reads it where it stands.
static UNKNOWN: [&Rule; 4] = [&UNKNOWN_FIELD, &MISPLACED_FIELD, &UNKNOWN_KEY, &PROVIDER_HOST];

/// Findings that say so of a key of a config.
static UNREAD: [&Rule; 2] = [&server_config::UNKNOWN_KEY, &server_config::RENAMED_KEY];

/// The meanings that words are coloured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A key that the resource has at this place.
    Key,
    /// A key that nobody reads.
    UnknownKey,
    /// A provider type that the catalog knows.
    ProviderType,
    /// The id of a provider.
    Id,
    /// One of a fixed set of values: an enumeration, an API, a distribution.
    Choice,
    /// A piece that something else replaces: `${env.X}`, `${VAR}`, `{{ … }}`.
    Placeholder,
}

/// A coloured word. It lies on one line, and no two overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The bytes of the word, on one line.
    pub span: Span,
    /// The meaning of the word.
    pub kind: TokenKind,
    /// Whether an id is declared here rather than referred to.
    pub declaration: bool,
    /// Whether it is on its way out.
    pub deprecated: bool,
}

/// The tokens of all resources that `range` touches, or of the file, in the order of the text.
pub(crate) fn tokens(analysis: &Analysis, range: Option<Span>) -> Vec<Token> {
    let mut found = Vec::new();
    for located in analysis.documents() {
        let here = Span::new(located.offset, located.offset + located.document.tree().text().len());
        if range.is_some_and(|range| range.end < here.start || here.end < range.start) {
            continue;
        }
        let of_document = located.document.tokens().iter();
        found.extend(of_document.map(|token| Token { span: token.span.shift(located.offset), ..*token }));
    }
    if let Some(range) = range {
        found.retain(|token| token.span.start < range.end && range.start < token.span.end);
    }
    found
}

/// Levels below which nothing has a meaning: no schema reaches so deep. Each node's path is as long as it is deep, so
/// that a text of brackets alone would cost the square of its length.
const DEPTH: usize = 100;

/// The tokens of a document, with spans relative to it.
pub(crate) fn of_document(document: &DocumentAnalysis) -> Vec<Token> {
    if document.resources().is_empty() && document.configs().is_empty() {
        return Vec::new();
    }
    let tree = document.tree();
    let mut writer = Writer {
        text: tree.text(),
        by_place: document.diagnostics().iter().map(|found| (found.span.start, found)).collect(),
        found: Vec::new(),
    };
    for resource in document.resources() {
        let Some(root) = tree.find(&place::steps(&resource.base, &Path::root())) else { continue };
        let mut open = vec![(root, Path::root(), Some(schema::of(resource.version)))];
        while let Some((node, path, schema)) = open.pop() {
            if path.segments().len() > DEPTH {
                continue;
            }
            for (ordinal, item) in node.items().enumerate() {
                open.push((item, path.index(ordinal), schema.and_then(Schema::items)));
            }
            for entry in node.entries() {
                let name = entry.key.key_text().into_owned();
                let inside = schema.and_then(|schema| schema.step(&Segment::Key(name.clone())));
                let path = path.key(name);
                writer.key(entry.key, inside.is_some() || is_setting(resource, &path));
                open.push((entry.value, path, inside));
            }
            if node.is_scalar() {
                writer.value(node, &path, schema, resource);
            }
        }
    }
    document.configs().iter().for_each(|config| writer.config(config));
    for skipped in tree.skipped().iter().filter(|skipped| skipped.kind == SkippedKind::Template) {
        writer.add(skipped.span, TokenKind::Placeholder);
    }
    let mut found = writer.found;
    found.sort_by_key(|token| (token.span.start, token.span.end));
    found.dedup_by(|second, first| second.span.start < first.span.end);
    found
}

/// Settings are in no schema: the findings say which of them a provider does not read.
fn is_setting(resource: &Resource, path: &Path) -> bool {
    matches!(meaning(resource.version, path), Some(Meaning::Setting { .. } | Meaning::SecretSetting { .. }))
}

struct Writer<'d> {
    text: &'d str,
    /// Diagnostics by the place where they begin.
    by_place: BTreeMap<usize, &'d Diagnostic>,
    found: Vec<Token>,
}

impl Writer<'_> {
    fn key(&mut self, key: Node<'_>, exists: bool) {
        if !key.is_scalar() || key.is_absent() {
            return;
        }
        let unknown =
            self.by_place.get(&key.span().start).is_some_and(|found| UNKNOWN.iter().any(|rule| rule.id == found.code));
        if key.source().contains("{{") {
            self.placeholders(key.span());
        } else if unknown {
            self.add(key.span(), TokenKind::UnknownKey);
        } else if exists {
            self.add(key.span(), TokenKind::Key);
        }
    }

    /// The words of a config of the server.
    fn config(&mut self, config: &ConfigText) {
        let outside = |span: Span| config.embedding().exact(span);
        let mut open: Vec<(Node<'_>, Path)> =
            config.tree().root().map(|root| (root, Path::root())).into_iter().collect();
        while let Some((node, path)) = open.pop() {
            if path.segments().len() > DEPTH {
                continue;
            }
            open.extend(node.items().enumerate().map(|(ordinal, item)| (item, path.index(ordinal))));
            for entry in node.entries() {
                if let Some(span) =
                    outside(entry.key.span()).filter(|_| entry.key.is_scalar() && !entry.key.is_absent())
                {
                    let found = self.by_place.get(&span.start);
                    let unread = found.is_some_and(|found| UNREAD.iter().any(|rule| rule.id == found.code));
                    if !self.placeholders(span) {
                        self.add(span, if unread { TokenKind::UnknownKey } else { TokenKind::Key });
                    }
                }
                open.push((entry.value, path.key(entry.key.key_text().into_owned())));
            }
            if !node.is_scalar() || node.is_absent() || node.block().is_some() {
                continue;
            }
            let Some(span) = outside(node.span()).filter(|span| !self.placeholders(*span)) else { continue };
            let (kind, declaration) = match language::meaning(&path) {
                Some(language::Meaning::ProviderType(_)) => (TokenKind::ProviderType, false),
                Some(language::Meaning::ProviderId(_) | language::Meaning::Registered(_)) => (TokenKind::Id, true),
                Some(language::Meaning::Api) => (TokenKind::Choice, false),
                Some(language::Meaning::Setting { .. }) | None => continue,
                Some(_) => (TokenKind::Id, false),
            };
            self.add(span, kind);
            if let Some(token) = self.found.last_mut() {
                token.declaration = declaration;
            }
        }
    }

    fn value(&mut self, node: Node<'_>, path: &Path, schema: Option<Schema<'_>>, resource: &Resource) {
        if node.is_absent() || self.placeholders(node.span()) || matches!(node.style(), Style::Literal | Style::Folded)
        {
            return;
        }
        match meaning(resource.version, path) {
            Some(Meaning::ProviderType(_)) => self.add(node.span(), TokenKind::ProviderType),
            Some(Meaning::ModelProvider) => self.add(node.span(), TokenKind::Id),
            Some(Meaning::Distribution | Meaning::Api) => self.add(node.span(), TokenKind::Choice),
            _ if is_id(path) => {
                self.add(node.span(), TokenKind::Id);
                if let Some(token) = self.found.last_mut() {
                    token.declaration = true;
                }
            }
            _ => {
                let choices = schema.map(Schema::choices).unwrap_or_default();
                if choices.iter().any(|choice| choice.as_str() == Some(&node.value())) {
                    self.add(node.span(), TokenKind::Choice);
                }
            }
        }
    }

    /// Adds the pieces of a text that will be filled in. True if there are any.
    fn placeholders(&mut self, span: Span) -> bool {
        let before = self.found.len();
        let text = span.slice(self.text);
        let mut from = 0;
        while let Some(start) = text[from..].find(['$', '{']).map(|at| from + at) {
            let rest = &text[start..];
            let length = if rest.starts_with("{{") {
                rest.find("}}").map(|at| at + 2)
            } else if rest.starts_with("${") {
                rest.find('}').map(|at| at + 1)
            } else {
                None
            };
            let Some(length) = length else {
                from = start + 1;
                continue;
            };
            self.add(Span::new(span.start + start, span.start + start + length), TokenKind::Placeholder);
            from = start + length;
        }
        self.found.len() > before
    }

    /// A token for each line of the span.
    fn add(&mut self, span: Span, kind: TokenKind) {
        let found = self.by_place.get(&span.start);
        let deprecated = found.is_some_and(|found| found.span == span && found.tags.contains(&Tag::Deprecated));
        let mut start = span.start;
        for line in span.slice(self.text).split_inclusive('\n') {
            let end = start + line.trim_end_matches(['\n', '\r']).len();
            if start < end {
                self.found.push(Token { span: Span::new(start, end), kind, declaration: false, deprecated });
            }
            start += line.len();
        }
    }
}

/// Whether the place is that of a provider's own id.
fn is_id(path: &Path) -> bool {
    let Some((_, provider)) = provider_at(path) else { return false };
    path.segments().len() == provider.segments().len() + 1
        && matches!(path.last(), Some(Segment::Key(name)) if name == "id")
}
