//! `llsd/document` and `workspace/textDocumentContent`: the texts of base configs and generated configs.

use crate::ide::{self, TextId, WorkspaceFiles};
use crate::lsp::backend::Backend;
use crate::lsp::virtual_document;
use crate::lsp::workspace_files::QueryFiles;
use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::Url;

/// Which text: a URI of the schemes `llsd-base` or `llsd-preview`.
#[derive(Debug, Deserialize)]
pub(in crate::lsp) struct Params {
    uri: Url,
}

/// A text that is in no file. It is for reading only.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct Answer {
    text: String,
    language_id: &'static str,
}

/// The text; null for a URI that names none.
pub(in crate::lsp) async fn handle(backend: &Backend, params: Params) -> Result<Option<Answer>> {
    let Some(place) = virtual_document::place(&params.uri) else { return Ok(None) };
    let text = backend.run("llsd/document", move |shared, _| match &place {
        TextId::File(_) => None,
        TextId::Base(distribution) => ide::base_text(distribution).map(str::to_owned),
        TextId::Preview { file, document, resource } => {
            let analysis = QueryFiles::new(shared).analysis(file)?;
            Some(ide::preview_of(&analysis, *document, *resource)?.text)
        }
    });
    Ok(text.await?.flatten().map(|text| Answer { text, language_id: "yaml" }))
}
