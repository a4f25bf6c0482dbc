//! `textDocument/inlayHint`: values that hold without being written.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis, InlaySettings};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip};

/// What the visible part of the document leaves unsaid.
pub(in crate::lsp) async fn handle(backend: &Backend, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
    let range = params.range;
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let encoding = shared.client_capabilities().encoding;
        let span = convert::span(&snapshot.rope, range, encoding);
        let hint = |hint: ide::InlayHint| InlayHint {
            position: convert::position(&snapshot.rope, hint.offset, encoding),
            label: InlayHintLabel::String(hint.label),
            kind: None,
            text_edits: (!hint.edits.is_empty())
                .then(|| hint.edits.iter().map(|edit| convert::text_edit(&snapshot.rope, edit, encoding)).collect()),
            tooltip: Some(InlayHintTooltip::String(hint.tooltip)),
            padding_left: Some(hint.behind),
            padding_right: Some(false),
            data: None,
        };
        let shown = shared.configuration.of(&snapshot.name).inlay;
        let settings = InlaySettings {
            implicit_id: shown.ids,
            provider_type: shown.providers,
            variable: shown.environment,
            port: shown.ports,
            image: shown.images,
        };
        let mut hints = ide::inlay_hints(analysis, span, &settings);
        if shown.status {
            let (namespace, live) = shared.cluster.live();
            hints.extend(ide::live_hints(analysis, span, &namespace, &live));
        }
        if shown.unchecked {
            hints.extend(ide::unchecked_hints(analysis, span));
        }
        hints.into_iter().map(hint).collect()
    };
    backend.ask(&params.text_document.uri, "textDocument/inlayHint", query).await
}
