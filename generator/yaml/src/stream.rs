//! A file as a row of documents.

use std::sync::Arc;

use crate::{Document, parse_document, split_documents};

/// A document and where it starts in its file.
#[derive(Clone, Debug)]
pub struct Located {
    /// Bytes of the file before the document's text.
    pub offset: usize,
    /// The document; its own offsets start at 0.
    pub document: Arc<Document>,
}

/// All documents of a file.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    documents: Vec<Located>,
}

impl Stream {
    /// Reads a file. Never fails; an empty text has one document without a root.
    pub fn parse(text: &str) -> Stream {
        let documents = split_documents(text)
            .into_iter()
            .map(|span| Located { offset: span.start, document: Arc::new(parse_document(span.slice(text))) })
            .collect();
        Stream { documents }
    }

    /// Reads a file again after it changed; documents whose text is the same are taken from `self`.
    pub fn update(&self, text: &str) -> Stream {
        let spans = split_documents(text);
        let same = |old: &Located, new: &str| old.document.text() == new;
        let mut head = 0;
        while head < spans.len().min(self.documents.len()) && same(&self.documents[head], spans[head].slice(text)) {
            head += 1;
        }
        let mut tail = 0;
        while tail < spans.len().min(self.documents.len()) - head {
            let (old, new) = (self.documents.len() - 1 - tail, spans.len() - 1 - tail);
            if !same(&self.documents[old], spans[new].slice(text)) {
                break;
            }
            tail += 1;
        }
        let count = spans.len();
        let documents = spans.into_iter().enumerate().map(|(i, span)| {
            let document = if i < head {
                self.documents[i].document.clone()
            } else if count - i <= tail {
                self.documents[self.documents.len() - (count - i)].document.clone()
            } else {
                Arc::new(parse_document(span.slice(text)))
            };
            Located { offset: span.start, document }
        });
        Stream { documents: documents.collect() }
    }

    /// The documents in the order of the file; at least one.
    pub fn documents(&self) -> &[Located] {
        &self.documents
    }

    /// The document the offset lies in (at a border: the later one), with its number.
    pub fn at(&self, offset: usize) -> Option<(usize, &Located)> {
        let after = self.documents.partition_point(|d| d.offset <= offset);
        let index = after.checked_sub(1)?;
        Some((index, self.documents.get(index)?))
    }
}
