//! `textDocument/completion`.

use crate::ide::{self, CompletionKind};
use crate::lsp::backend::Backend;
use crate::lsp::convert;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit, Documentation,
    InsertTextFormat, MarkupContent, MarkupKind,
};

/// The offers at the cursor.
pub(in crate::lsp) async fn handle(backend: &Backend, params: CompletionParams) -> Result<Option<CompletionResponse>> {
    let place = params.text_document_position;
    let question = move |shared: &_, snapshot: &_, analysis: &_| items(shared, snapshot, analysis, place.position);
    let items = backend.ask(&place.text_document.uri, "textDocument/completion", question).await?;
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
        CompletionItem {
            label: item.label,
            kind: Some(kind(item.kind)),
            detail: Some(item.detail).filter(|text| !text.is_empty()),
            documentation: Some(item.documentation)
                .filter(|text| !text.is_empty())
                .map(|value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })),
            sort_text: Some(format!("{:08}", item.sort)),
            filter_text: Some(item.filter),
            insert_text_format: is_snippet.then_some(InsertTextFormat::SNIPPET),
            text_edit: Some(CompletionTextEdit::Edit(edit)),
            ..CompletionItem::default()
        }
    };
    ide::complete(analysis, offset).into_iter().map(convert).collect()
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
    use super::without_placeholders;

    #[test]
    fn placeholders_leave_their_text() {
        assert_eq!(without_placeholders("id: $1\nprovider: ${2:vllm}$0"), "id: \nprovider: vllm");
        assert_eq!(without_placeholders("a: \\${env.X\\} ${1}"), "a: ${env.X} ");
        assert_eq!(without_placeholders("${1:a${2:b}c}"), "abc");
        assert_eq!(without_placeholders("${1"), "");
    }
}
