//! `textDocument/completion` and `completionItem/resolve`.
//!
//! Clients that can ask for it later get the documentation of an offer only when they show it: most of a list's size
//! is documentation, and of most offers nobody reads any. It is kept here meanwhile, so that a document which goes on
//! changing does not matter.

use crate::ide::{self, CompletionKind};
use crate::lsp::backend::Backend;
use crate::lsp::convert;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit, Documentation,
    InsertTextFormat, InsertTextMode, MarkupContent, MarkupKind,
};

/// Lists whose documentation is kept: editors ask about the one on the screen, of which there may be a few.
const LISTS: usize = 8;

/// The documentation of the lists sent last.
#[derive(Debug, Default)]
pub(in crate::lsp) struct CompletionDocs(Mutex<Lists>);

/// Lists by number, the newest first.
#[derive(Debug, Default)]
struct Lists {
    newest: u64,
    kept: VecDeque<(u64, Vec<String>)>,
}

impl CompletionDocs {
    /// Keeps the documentation of a list, and returns the list's number.
    fn keep(&self, list: Vec<String>) -> u64 {
        let lists = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.newest += 1;
        lists.kept.truncate(LISTS - 1);
        lists.kept.push_front((lists.newest, list));
        lists.newest
    }

    fn of(&self, list: u64, item: usize) -> Option<String> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.kept.iter().find(|(number, _)| *number == list)?.1.get(item).cloned()
    }
}

/// The offer with its documentation. As it came, if its list is long gone.
pub(in crate::lsp) fn resolve(backend: &Backend, mut item: CompletionItem) -> CompletionItem {
    let place = item.data.as_ref().and_then(|data| serde_json::from_value::<(u64, usize)>(data.clone()).ok());
    if let Some(text) = place.and_then(|(list, number)| backend.shared.offered.of(list, number)) {
        item.documentation = markdown(text);
    }
    item
}

fn markdown(value: String) -> Option<Documentation> {
    let empty = value.is_empty();
    let content = Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(content).filter(|_| !empty)
}

/// The offers at the cursor.
pub(in crate::lsp) async fn handle(backend: &Backend, params: CompletionParams) -> Result<Option<CompletionResponse>> {
    let place = params.text_document_position;
    let query = move |shared: &_, snapshot: &_, analysis: &_| items(shared, snapshot, analysis, place.position);
    let items = backend.ask(&place.text_document.uri, "textDocument/completion", query).await?;
    Ok(items.map(CompletionResponse::Array))
}

fn items(
    shared: &crate::lsp::backend::Shared,
    snapshot: &crate::documents::Snapshot,
    analysis: &ide::Analysis,
    position: tower_lsp::lsp_types::Position,
) -> Vec<CompletionItem> {
    let client = shared.client_capabilities();
    let offset = convert::offset(&snapshot.rope, position, client.encoding);
    let convert = |item: ide::CompletionItem| {
        let mut edit = convert::text_edit(&snapshot.rope, &item.insert, client.encoding);
        let is_snippet = item.snippet && client.snippets;
        if item.snippet && !is_snippet {
            edit.new_text = without_placeholders(&edit.new_text);
        }
        let several = edit.new_text.contains('\n');
        if several && !client.adjusts_indentation {
            let ahead = snapshot.rope.line(snapshot.rope.byte_to_line(item.insert.span.start));
            let indentation: String = ahead.chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect();
            edit.new_text = indented(&edit.new_text, &indentation);
        }
        CompletionItem {
            insert_text_mode: (several && client.adjusts_indentation).then_some(InsertTextMode::ADJUST_INDENTATION),
            label: item.label,
            kind: Some(kind(item.kind)),
            detail: Some(item.detail).filter(|text| !text.is_empty()),
            documentation: markdown(item.documentation),
            sort_text: Some(format!("{:08}", item.sort)),
            filter_text: Some(item.filter),
            insert_text_format: is_snippet.then_some(InsertTextFormat::SNIPPET),
            text_edit: Some(CompletionTextEdit::Edit(edit)),
            ..CompletionItem::default()
        }
    };
    let mut found = ide::complete(analysis, offset);
    let later = client.resolves_documentation && !found.is_empty();
    let kept: Vec<String> =
        found.iter_mut().filter(|_| later).map(|item| std::mem::take(&mut item.documentation)).collect();
    let mut items: Vec<_> = found.into_iter().map(convert).collect();
    if later {
        let list = shared.offered.keep(kept);
        for (number, item) in items.iter_mut().enumerate() {
            item.data = Some(serde_json::json!([list, number]));
        }
    }
    items
}

fn kind(kind: CompletionKind) -> CompletionItemKind {
    match kind {
        CompletionKind::Field => CompletionItemKind::FIELD,
        CompletionKind::Enum => CompletionItemKind::ENUM_MEMBER,
        CompletionKind::Value => CompletionItemKind::VALUE,
        CompletionKind::Provider => CompletionItemKind::MODULE,
        CompletionKind::Reference => CompletionItemKind::REFERENCE,
        CompletionKind::Snippet => CompletionItemKind::SNIPPET,
    }
}

/// A text of several lines with all but the first one further in, for clients that take them as they are.
fn indented(text: &str, indentation: &str) -> String {
    let mut lines = text.split('\n');
    let mut whole = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        whole.push('\n');
        if !line.is_empty() {
            whole.push_str(indentation);
            whole.push_str(line);
        }
    }
    whole
}

/// A snippet as the text that it leaves when nobody fills it in: `${1:text}` is `text`, `$1` is nothing.
fn without_placeholders(snippet: &str) -> String {
    let mut text = String::with_capacity(snippet.len());
    let (mut rest, mut open) = (snippet.chars().peekable(), 0);
    while let Some(next) = rest.next() {
        match next {
            '\\' => text.extend(rest.next()),
            '}' if open > 0 => open -= 1,
            '$' => {
                let braced = rest.next_if_eq(&'{').is_some();
                while rest.next_if(char::is_ascii_digit).is_some() {}
                if braced && rest.next_if_eq(&'}').is_none() {
                    rest.next_if_eq(&':');
                    open += 1;
                }
            }
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{indented, without_placeholders};

    #[test]
    fn later_lines_move_in() {
        assert_eq!(indented("a:\n  b: 1\n\n  c: 2", "  "), "a:\n    b: 1\n\n    c: 2");
        assert_eq!(indented("a: 1", "  "), "a: 1");
    }

    #[test]
    fn placeholders_leave_their_text() {
        assert_eq!(without_placeholders("id: $1\nprovider: ${2:vllm}$0"), "id: \nprovider: vllm");
        assert_eq!(without_placeholders("a: \\${env.X\\} ${1}"), "a: ${env.X} ");
        assert_eq!(without_placeholders("${1:a${2:b}c}"), "abc");
        assert_eq!(without_placeholders("${1"), "");
    }
}
