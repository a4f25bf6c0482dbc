//! Configs of the server in a document: the document itself, or texts in a ConfigMap.

use super::types::{CodeFix, Diagnostic, TextEdit};
use super::{NotMigrated, Span, diagnostics, fix, place};
use llsd_generator::config::{self, ConfigMigration, Request, Verdict};
use llsd_generator::document::Plain;
use llsd_generator::path::Path;
use llsd_yaml::{BlockScalar, Document, Node, SkippedKind, edit, parse_document};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Configs that are looked at in one ConfigMap. Nobody keeps more.
const MOST_TEXTS: usize = 16;

/// A config and its place.
#[derive(Debug)]
pub(crate) struct ConfigText {
    place: Place,
    tree: Arc<Document>,
    plain: Plain,
    verdict: OnceLock<Verdict>,
}

/// Where a config stands in its document.
#[derive(Debug)]
enum Place {
    /// It is the document.
    Document,
    /// In a literal or folded text, whose lines are those of the config with indentation.
    Block(BlockScalar),
    /// In a quoted text, whose places are told as the whole text.
    Quoted(Span),
}

/// The configs of a document with this value.
pub(crate) fn of_document(tree: &Arc<Document>, plain: &Plain) -> Vec<ConfigText> {
    if config::is_config(&plain.value) {
        return vec![ConfigText::new(Place::Document, tree.clone(), plain.clone())];
    }
    super::document::roots(&plain.value).iter().flat_map(|root| in_config_map(tree, plain, root)).collect()
}

fn in_config_map(tree: &Arc<Document>, plain: &Plain, root: &Path) -> Vec<ConfigText> {
    let Some(object) = root.find(&plain.value) else { return Vec::new() };
    let is = |field: &str, text: &str| object.get(field).and_then(Value::as_str) == Some(text);
    if !is("kind", "ConfigMap") || !is("apiVersion", "v1") {
        return Vec::new();
    }
    let data = object.get("data").and_then(Value::as_object).into_iter().flatten();
    // Every provider has a type, so that most texts need not be parsed to know that they are no config.
    let texts = data.filter(|(_, text)| text.as_str().is_some_and(|text| text.contains("provider_type")));
    texts
        .take(MOST_TEXTS)
        .filter_map(|(key, _)| {
            let node = tree.find(&place::steps(root, &Path::root().key("data").key(key.as_str())))?;
            inside(node)
        })
        .collect()
}

fn inside(node: Node<'_>) -> Option<ConfigText> {
    let tree = Arc::new(parse_document(&node.value()));
    let plain = Plain::read(&tree);
    if !config::is_config(&plain.value) {
        return None;
    }
    let place = node.block().map_or(Place::Quoted(node.span()), Place::Block);
    Some(ConfigText::new(place, tree, plain))
}

impl ConfigText {
    fn new(place: Place, tree: Arc<Document>, plain: Plain) -> Self {
        Self { place, tree, plain, verdict: OnceLock::new() }
    }

    /// What the server would say of it. `version`: the one to assume, by a setting.
    fn verdict(&self, version: Option<&str>) -> Cow<'_, Verdict> {
        let check =
            |version| config::check(&Request { config: &self.plain.value, unknown: &self.plain.unknown, version });
        match version {
            Some(_) => Cow::Owned(check(version)),
            None => Cow::Borrowed(self.verdict.get_or_init(|| check(None))),
        }
    }

    /// Everything wrong with it, with spans of the document around it. `version`: the one to assume, by a setting.
    pub(crate) fn diagnostics(&self, outer: &str, version: Option<&str>) -> Vec<Diagnostic> {
        let syntax = diagnostics::syntax(&self.tree);
        let verdict = self.verdict(version);
        let findings = verdict.findings.iter().filter(|_| syntax.is_empty());
        let found = findings.map(|finding| diagnostics::at(&self.tree, &Path::root(), finding));
        // The syntax of a whole document is told with it.
        let syntax = syntax.iter().filter(|_| !matches!(self.place, Place::Document)).cloned();
        found.chain(syntax).map(|one| self.outside(one, outer)).collect()
    }

    /// What it becomes for version `to`, which has a catalog, and the edits of the document around it. `from`: the version
    /// that reads it now, where that is known.
    ///
    /// # Errors
    /// It is not well-formed, has lines of a template, or cannot be changed where it stands.
    pub(crate) fn migrated(
        &self,
        outer: &str,
        from: Option<&str>,
        to: &str,
    ) -> Result<(ConfigMigration, Vec<TextEdit>), NotMigrated> {
        let text = self.tree.text();
        if let Some(skipped) = self.tree.skipped().iter().find(|skipped| skipped.kind == SkippedKind::Template) {
            let line = text[..skipped.span.start].matches('\n').count() + 1;
            return Err(NotMigrated::Template { line });
        }
        if let Some(error) = self.tree.strict_error() {
            return Err(NotMigrated::NotWellFormed { message: error.message.clone() });
        }
        let migration = config::migrate(&self.plain.value, &self.plain.unknown, from, to);
        let migration = migration.ok_or(NotMigrated::NoResource)?;
        if migration.edits.is_empty() {
            return Ok((migration, Vec::new()));
        }
        let edits = fix::text_edits(&self.tree, &Path::root(), &migration.edits).ok_or(NotMigrated::Unreachable)?;
        let edits = self.edits_outside(edits, outer).ok_or(NotMigrated::Unreachable)?;
        Ok((migration, edits))
    }

    /// Edits of the config as edits of the document around it. `None`: they cannot be made there.
    fn edits_outside(&self, mut edits: Vec<TextEdit>, outer: &str) -> Option<Vec<TextEdit>> {
        match &self.place {
            Place::Document => Some(edits),
            Place::Block(block) => {
                edits.iter_mut().all(|edit| edit_outside(block, edit, outer).is_some()).then_some(edits)
            }
            // A text in JSON's quotes is one in YAML's double quotes.
            Place::Quoted(whole) => {
                let edits: Vec<_> = edits.into_iter().map(|one| edit::TextEdit::new(one.span, one.new_text)).collect();
                let text = edit::apply(self.tree.text(), &edits);
                Some(vec![TextEdit { span: *whole, new_text: Value::from(text).to_string() }])
            }
        }
    }

    fn outside(&self, mut diagnostic: Diagnostic, outer: &str) -> Diagnostic {
        match &self.place {
            Place::Document => {}
            Place::Block(block) => {
                diagnostic.span = span_outside(block, diagnostic.span);
                for (span, _) in &mut diagnostic.related {
                    *span = span_outside(block, *span);
                }
                diagnostic.fixes.retain_mut(|fix| fix_outside(block, fix, outer));
            }
            Place::Quoted(whole) => {
                if !diagnostic.path.is_empty() {
                    diagnostic.message = format!("{}: {}", diagnostic.path, diagnostic.message);
                }
                diagnostic.span = *whole;
                diagnostic.related.clear();
                diagnostic.fixes.clear();
            }
        }
        diagnostic
    }
}

fn span_outside(block: &BlockScalar, span: Span) -> Span {
    let start = block.outer(span.start).unwrap_or(block.header.start);
    // The end of a line belongs to it, and not to the indentation of the next.
    let end = span.end.checked_sub(1).filter(|last| *last >= span.start).and_then(|last| block.outer(last));
    Span::new(start, end.map_or(start, |last| last + 1).max(start))
}

/// Writes the edits of a fix for the text with indentation. `false`: they cannot be.
fn fix_outside(block: &BlockScalar, fix: &mut CodeFix, outer: &str) -> bool {
    fix.edits.iter_mut().all(|edit| edit_outside(block, edit, outer).is_some())
}

fn edit_outside(block: &BlockScalar, edit: &mut TextEdit, outer: &str) -> Option<()> {
    let start = block.outer(edit.span.start)?;
    let end = block.outer(edit.span.end)?;
    let indent = " ".repeat(block.indent);
    let at_margin = start == 0 || outer.as_bytes().get(start - 1) == Some(&b'\n');
    let mut text = edit.new_text.replace('\n', &format!("\n{indent}"));
    if at_margin && !text.is_empty() {
        text = format!("{indent}{}", text.strip_suffix(&indent).unwrap_or(&text));
    }
    edit.span = Span::new(start, end.max(start));
    edit.new_text = text;
    Some(())
}
