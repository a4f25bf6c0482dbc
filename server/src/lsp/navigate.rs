//! Questions about names: asked in files, base configs and generated configs, answered with places in all of them.

use super::backend::{Backend, Shared};
use super::convert::{self, Encoding};
use super::virtual_document;
use super::workspace_files::QueryFiles;
use crate::ide::{self, Analysis, Location, Query, Span, Stop, TextId, WorkspaceFiles};
use ropey::Rope;
use std::collections::HashMap;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{self as lsp, Position, Url};

/// A question, and the way to turn its answers into the protocol's terms.
pub(super) struct NavigationRequest<'a> {
    /// What `ide` wants to know.
    pub(super) query: Query<'a>,
    /// Turns the answer's places into URIs and ranges.
    pub(super) places: LocationConverter<'a>,
    rope: Rope,
}

impl NavigationRequest<'_> {
    /// The offset of a position in the text that was asked about.
    pub(super) fn offset(&self, position: Position) -> usize {
        convert::offset(&self.rope, position, self.places.encoding)
    }

    /// The range of a span of that text.
    pub(super) fn range(&self, span: Span) -> lsp::Range {
        convert::range(&self.rope, span, self.places.encoding)
    }
}

/// Asks about names in the text that `uri` names, off the request loop. `None` for a document that is not known.
pub(super) async fn ask<T, F>(backend: &Backend, uri: &Url, what: &'static str, query: F) -> Result<Option<T>>
where
    T: Send + 'static,
    F: FnOnce(&mut NavigationRequest<'_>) -> T + Send + 'static,
{
    let Some(place) = virtual_document::place(uri) else { return Ok(None) };
    if let TextId::Base(distribution) = &place {
        let Some(text) = ide::base_text(distribution) else { return Ok(None) };
        return backend.run(what, move |shared, _| answer(shared, place, Rope::from_str(text), None, query)).await;
    }
    let (TextId::File(file) | TextId::Preview { file, .. }) = &place else { return Ok(None) };
    // taken before anything is awaited, so that it is the version that the client asked about
    let snapshot = backend.shared.session.snapshot(file);
    let answer = move |shared: &Shared, stop: Stop<'_>| {
        let (analysis, rope) = match (&snapshot, &place) {
            (Some(snapshot), TextId::File(_)) => (shared.analysis(snapshot, stop)?, Some(snapshot.rope.clone())),
            (Some(snapshot), _) => (shared.analysis(snapshot, stop)?, None),
            (None, TextId::Preview { file, .. }) => (QueryFiles::new(shared).analysis(file)?, None),
            (None, _) => return None,
        };
        let rope = match (rope, &place) {
            (Some(rope), _) => rope,
            (None, TextId::Preview { document, resource, .. }) => {
                Rope::from_str(&ide::preview_of(&analysis, *document, *resource)?.text)
            }
            (None, _) => return None,
        };
        Some(answer(shared, place, rope, Some(&analysis), query))
    };
    Ok(backend.run(what, answer).await?.flatten())
}

fn answer<T>(
    shared: &Shared,
    place: TextId,
    rope: Rope,
    analysis: Option<&Analysis>,
    query: impl FnOnce(&mut NavigationRequest<'_>) -> T,
) -> T {
    let client = shared.client_capabilities();
    let library = QueryFiles::new(shared);
    let mut places = LocationConverter::new(shared);
    if let (TextId::File(_), Some(_)) = (&place, analysis) {
        places.ropes.insert(place.clone(), rope.clone());
    }
    let generated = client.virtual_documents;
    query(&mut NavigationRequest { query: Query { place, analysis, library: &library, generated }, places, rope })
}

/// Turns places of many texts into URIs and ranges; each text is counted through once.
pub(super) struct LocationConverter<'a> {
    shared: &'a Shared,
    encoding: Encoding,
    ropes: HashMap<TextId, Rope>,
}

impl<'a> LocationConverter<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self { shared, encoding: shared.client_capabilities().encoding, ropes: HashMap::new() }
    }

    /// The URI of a file, as the client spells it.
    pub(super) fn uri(&self, file: &str) -> Option<Url> {
        self.shared.uri(file)
    }

    /// The range of a span in the text of a place.
    pub(super) fn range(&mut self, place: &TextId, text: impl FnOnce() -> Arc<str>, span: Span) -> lsp::Range {
        let rope = self.ropes.entry(place.clone()).or_insert_with(|| Rope::from_str(&text()));
        convert::range(rope, span, self.encoding)
    }

    /// A location of the protocol; `None` where the name of the place is no URI.
    pub(super) fn location(&mut self, found: &Location) -> Option<lsp::Location> {
        let uri = virtual_document::uri(&found.place, &found.title, |file| self.shared.uri(file))?;
        Some(lsp::Location { uri, range: self.range(&found.place, || found.text(), found.span) })
    }

    /// Locations of the protocol; those whose name is no URI are left out.
    pub(super) fn locations(&mut self, found: &[Location]) -> Vec<lsp::Location> {
        found.iter().filter_map(|location| self.location(location)).collect()
    }
}
