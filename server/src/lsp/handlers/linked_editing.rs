//! `textDocument/linkedEditingRange`: places of one name that are typed at once.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{LinkedEditingRangeParams, LinkedEditingRanges};

/// What an id is made of. While it is edited to something else, the link ends.
const WORD: &str = r"[A-Za-z0-9_.:\-]*";

/// The places that change together with the one under the cursor.
pub(in crate::lsp) async fn handle(
    backend: &Backend,
    params: LinkedEditingRangeParams,
) -> Result<Option<LinkedEditingRanges>> {
    let place = params.text_document_position_params;
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let encoding = shared.client_capabilities().encoding;
        let spans = ide::linked_places(analysis, convert::offset(&snapshot.rope, place.position, encoding))?;
        let ranges = spans.into_iter().map(|span| convert::range(&snapshot.rope, span, encoding)).collect();
        Some(LinkedEditingRanges { ranges, word_pattern: Some(WORD.to_owned()) })
    };
    Ok(backend.ask(&place.text_document.uri, "textDocument/linkedEditingRange", query).await?.flatten())
}
