//! `textDocument/formatting`, `textDocument/rangeFormatting` and `textDocument/onTypeFormatting`: edits of layout
//! alone.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis, FormatOptions};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use crate::workspace::Host;
use std::path::Path;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    DocumentFormattingParams, DocumentOnTypeFormattingParams, DocumentRangeFormattingParams, FormattingOptions,
    TextEdit,
};

/// Formats the whole file.
pub(in crate::lsp) async fn whole(
    backend: &Backend,
    params: DocumentFormattingParams,
) -> Result<Option<Vec<TextEdit>>> {
    let options = options(&params.options);
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        edits(shared, snapshot, &ide::format(analysis, None, &options))
    };
    backend.ask(&params.text_document.uri, "textDocument/formatting", query).await
}

/// Formats the lines of a range.
pub(in crate::lsp) async fn range(
    backend: &Backend,
    params: DocumentRangeFormattingParams,
) -> Result<Option<Vec<TextEdit>>> {
    let options = options(&params.options);
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let span = convert::span(&snapshot.rope, params.range, shared.client_capabilities().encoding);
        edits(shared, snapshot, &ide::format(analysis, Some(span), &options))
    };
    backend.ask(&params.text_document.uri, "textDocument/rangeFormatting", query).await
}

/// Indents the line that a line break began.
pub(in crate::lsp) async fn on_type(
    backend: &Backend,
    params: DocumentOnTypeFormattingParams,
) -> Result<Option<Vec<TextEdit>>> {
    let options = options(&params.options);
    let place = params.text_document_position;
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let offset = convert::offset(&snapshot.rope, place.position, shared.client_capabilities().encoding);
        edits(shared, snapshot, &ide::indent_new_line(analysis, offset, &options))
    };
    backend.ask(&place.text_document.uri, "textDocument/onTypeFormatting", query).await
}

/// What the client does not say is done.
fn options(options: &FormattingOptions) -> FormatOptions {
    FormatOptions {
        indent: options.tab_size as usize,
        trim_trailing: options.trim_trailing_whitespace.unwrap_or(true),
        final_newline: options.insert_final_newline.unwrap_or(true),
        trim_final_newlines: options.trim_final_newlines.unwrap_or(true),
    }
}

/// The edits for the client; none where the file is no manifest itself, whose other lines have a layout of their own.
fn edits(shared: &Shared, snapshot: &Snapshot, edits: &[ide::TextEdit]) -> Vec<TextEdit> {
    if Host::of(Path::new(&*snapshot.name)).is_some() {
        return Vec::new();
    }
    let encoding = shared.client_capabilities().encoding;
    edits.iter().map(|edit| convert::text_edit(&snapshot.rope, edit, encoding)).collect()
}
