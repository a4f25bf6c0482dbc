//! Questions about names: asked in files, base configs and generated configs, answered with places in all of them.

use super::backend::{Backend, Shared};
use super::convert::{self, Encoding};
use super::library::Files;
use super::virtual_document;
use crate::ide::{self, Analysis, Library, Location, Place, Question, Span, Stop};
use ropey::Rope;
use std::collections::HashMap;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{self as lsp, Position, Url};

/// A question, and the way to turn its answers into the protocol's terms.
pub(super) struct Asked<'a> {
    /// What `ide` wants to know.
    pub(super) question: Question<'a>,
    /// The way to positions.
    pub(super) places: Places<'a>,
    rope: Rope,
}

impl Asked<'_> {
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
pub(super) async fn ask<T, F>(backend: &Backend, uri: &Url, what: &'static str, question: F) -> Result<Option<T>>
where
    T: Send + 'static,
    F: FnOnce(&mut Asked<'_>) -> T + Send + 'static,
{
    let Some(place) = virtual_document::place(uri) else { return Ok(None) };
    if let Place::Base(distribution) = &place {
        let Some(text) = ide::base_text(distribution) else { return Ok(None) };
        return backend.run(what, move |shared, _| answer(shared, place, Rope::from_str(text), None, question)).await;
    }
    let (Place::File(file) | Place::Preview { file, .. }) = &place else { return Ok(None) };
    // taken before anything is awaited, so that it is the version that the client asked about
    let snapshot = backend.shared.session.snapshot(file);
    let answer = move |shared: &Shared, stop: Stop<'_>| {
        let (analysis, rope) = match (&snapshot, &place) {
            (Some(snapshot), Place::File(_)) => (shared.analysis(snapshot, stop)?, Some(snapshot.rope.clone())),
            (Some(snapshot), _) => (shared.analysis(snapshot, stop)?, None),
            (None, Place::Preview { file, .. }) => (Files::new(shared).analysis(file)?, None),
            (None, _) => return None,
        };
        let rope = match (rope, &place) {
            (Some(rope), _) => rope,
            (None, Place::Preview { document, resource, .. }) => {
                Rope::from_str(&ide::preview_of(&analysis, *document, *resource)?.text)
            }
            (None, _) => return None,
        };
        Some(answer(shared, place, rope, Some(&analysis), question))
    };
    Ok(backend.run(what, answer).await?.flatten())
}

fn answer<T>(
    shared: &Shared,
    place: Place,
    rope: Rope,
    analysis: Option<&Analysis>,
    question: impl FnOnce(&mut Asked<'_>) -> T,
) -> T {
    let client = shared.client_capabilities();
    let library = Files::new(shared);
    let mut places = Places::new(shared);
    if let (Place::File(_), Some(_)) = (&place, analysis) {
        places.ropes.insert(place.clone(), rope.clone());
    }
    let generated = client.virtual_documents;
    question(&mut Asked { question: Question { place, analysis, library: &library, generated }, places, rope })
}

/// Turns places of many texts into URIs and ranges; each text is counted through once.
pub(super) struct Places<'a> {
    shared: &'a Shared,
    encoding: Encoding,
    ropes: HashMap<Place, Rope>,
}

impl<'a> Places<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self { shared, encoding: shared.client_capabilities().encoding, ropes: HashMap::new() }
    }

    /// The URI of a file, as the client spells it.
    pub(super) fn uri(&self, file: &str) -> Option<Url> {
        self.shared.uri(file)
    }

    /// The range of a span in the text of a place.
    pub(super) fn range(&mut self, place: &Place, text: impl FnOnce() -> Arc<str>, span: Span) -> lsp::Range {
        let rope = self.ropes.entry(place.clone()).or_insert_with(|| Rope::from_str(&text()));
        convert::range(rope, span, self.encoding)
    }

    /// A location of the protocol; `None` where the name of the place is no URI.
    pub(super) fn location(&mut self, found: &Location) -> Option<lsp::Location> {
        let uri = virtual_document::uri(&found.place, &found.title, |file| self.shared.uri(file))?;
        Some(lsp::Location { uri, range: self.range(&found.place, || found.text(), found.span) })
    }

    /// Locations of the protocol.
    pub(super) fn locations(&mut self, found: &[Location]) -> Vec<lsp::Location> {
        found.iter().filter_map(|location| self.location(location)).collect()
    }
}
