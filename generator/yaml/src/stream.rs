//! A file as a row of documents.

use crate::{Document, parse_document, split_documents};

/// A document and where it starts in its file.
#[derive(Debug)]
pub struct Located {
    /// Bytes of the file before the document's text.
    pub offset: usize,
    /// The document; its own offsets start at 0.
    pub document: Document,
}

/// All documents of a file, read at once. Who keeps a file while it is edited reads its parts by
/// [`split_documents`] and [`parse_document`], and those alone that changed.
#[derive(Debug, Default)]
pub struct Stream {
    documents: Vec<Located>,
}

impl Stream {
    /// Reads a file. Never fails; an empty text has one document without a root.
    pub fn parse(text: &str) -> Stream {
        let documents = split_documents(text)
            .into_iter()
            .map(|span| Located { offset: span.start, document: parse_document(span.slice(text)) })
            .collect();
        Stream { documents }
    }

    /// The documents in the order of the file; at least one.
    pub fn documents(&self) -> &[Located] {
        &self.documents
    }
}
