//! The documents of a file, in a list that shares with its next version whatever an edit leaves alone.
//!
//! The list is cut into chunks. An edit makes the chunk that it touches anew and copies pointers to the others, so its
//! cost hardly depends on how many documents there are.

use super::changed::{Changed, share};
use super::diagnostic_chunks::DiagnosticChunk;
use super::document::DocumentAnalysis;
use super::memo::Memo;
use super::names::{Kind, Mentions, Named};
use super::objects::{ObjectKey, Objects};
use llsd_generator::api;
use llsd_yaml::Span;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Documents per chunk: small enough to look through after each key, large enough that there are few chunks.
const CHUNK: usize = 16;

/// A document and its place in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located<'f> {
    /// Number of the document, from 0.
    pub(crate) number: usize,
    /// Bytes of the file before the document.
    pub(crate) offset: usize,
    /// The document; its own offsets start at 0.
    pub(crate) document: &'f Arc<DocumentAnalysis>,
}

/// All documents of a file. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    chunks: Vec<Arc<Chunk>>,
}

#[derive(Debug)]
struct Chunk {
    documents: Vec<Arc<DocumentAnalysis>>,
    bytes: usize,
    relevant: bool,
    names: OnceLock<Names>,
    objects: OnceLock<Arc<Objects>>,
    faulty: OnceLock<Vec<usize>>,
    mentions: OnceLock<Mentions>,
    named: OnceLock<Named>,
    memo: Memo,
}

/// Who defines what in a chunk, and who speaks of it.
#[derive(Debug, Default)]
struct Names {
    /// Object names, each with the documents that have such an object.
    defined: HashMap<String, Vec<usize>>,
    /// How often each resource is there.
    resources: HashMap<(api::Kind, ObjectKey), usize>,
    /// Names whose objects or resources some document's verdict depends on.
    mentioned: HashSet<String>,
}

impl Chunk {
    fn new(documents: Vec<Arc<DocumentAnalysis>>) -> Self {
        let bytes = documents.iter().map(|document| document.tree().text().len()).sum();
        let relevant = documents.iter().any(|document| document.is_relevant());
        let (names, objects, faulty, mentions, named, memo) = Default::default();
        Self { documents, bytes, relevant, names, objects, faulty, mentions, named, memo }
    }

    /// What all its documents mention.
    fn mentions(&self) -> &Mentions {
        self.mentions.get_or_init(|| self.documents.iter().map(|document| &*document.names().mentions).collect())
    }

    /// What each of its documents mentions; documents that mention nothing are left out.
    fn named(&self) -> &Named {
        self.named.get_or_init(|| {
            let all = self.documents.iter().map(|document| &document.names().mentions);
            all.filter(|mentions| !mentions.is_empty()).cloned().collect()
        })
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            for (number, document) in self.documents.iter().enumerate() {
                for name in document.objects().names() {
                    names.defined.entry(name.clone()).or_default().push(number);
                }
                for resource in document.resources().iter().filter(|resource| !resource.name().is_empty()) {
                    let key = (resource.namespace().into(), resource.name().into());
                    *names.resources.entry((resource.version.kind(), key)).or_default() += 1;
                }
                names.mentioned.extend(document.mentions().map(str::to_owned));
            }
            names
        })
    }

    fn objects(&self) -> &Arc<Objects> {
        self.objects.get_or_init(|| {
            let mut all = Objects::default();
            self.documents.iter().for_each(|document| all.extend(document.objects()));
            Arc::new(all)
        })
    }

    /// Numbers, inside the chunk, of the documents that have diagnostics.
    fn faulty(&self) -> &[usize] {
        self.faulty.get_or_init(|| {
            let documents = self.documents.iter().enumerate();
            documents.filter(|(_, document)| !document.diagnostics().is_empty()).map(|(number, _)| number).collect()
        })
    }
}

impl File {
    /// A list of all these.
    pub(crate) fn new(documents: Vec<Arc<DocumentAnalysis>>) -> Self {
        Self { chunks: documents.chunks(CHUNK).map(|piece| Arc::new(Chunk::new(piece.to_vec()))).collect() }
    }

    /// How many documents there are.
    pub(crate) fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.documents.len()).sum()
    }

    /// Length of the text in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.bytes).sum()
    }

    /// Iterates over the documents, each with number and offset.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Located<'_>> {
        let mut offset = 0;
        self.chunks.iter().flat_map(|chunk| &chunk.documents).enumerate().map(move |(number, document)| {
            let located = Located { number, offset, document };
            offset += document.tree().text().len();
            located
        })
    }

    /// The document with this number, counted from 0.
    pub(crate) fn get(&self, number: usize) -> Option<Located<'_>> {
        let (mut before, mut offset) = (0, 0);
        for chunk in &self.chunks {
            if let Some(document) = chunk.documents.get(number - before) {
                offset += chunk.documents[..number - before].iter().map(|one| one.tree().text().len()).sum::<usize>();
                return Some(Located { number, offset, document });
            }
            before += chunk.documents.len();
            offset += chunk.bytes;
        }
        None
    }

    /// The document at `offset`; at a border the later one, past the end the last.
    pub(crate) fn at(&self, offset: usize) -> Option<Located<'_>> {
        let (mut number, mut start) = (0, 0);
        let mut last = None;
        for chunk in &self.chunks {
            if !chunk.documents.is_empty() && start > offset {
                break;
            }
            last = Some((chunk, number, start));
            number += chunk.documents.len();
            start += chunk.bytes;
        }
        let (chunk, mut number, mut start) = last?;
        let mut found = None;
        for document in &chunk.documents {
            if start > offset {
                break;
            }
            found = Some(Located { number, offset: start, document });
            number += 1;
            start += document.tree().text().len();
        }
        found
    }

    /// The documents that share a byte with `span` or touch it, in order.
    pub(crate) fn touching(&self, span: Span) -> Vec<Located<'_>> {
        let (mut number, mut offset, mut found) = (0, 0, Vec::new());
        for chunk in self.chunks.iter() {
            if offset > span.end {
                break;
            }
            let mut start = offset;
            let documents = chunk.documents.iter().enumerate().take_while(|_| offset + chunk.bytes >= span.start);
            for (inside, document) in documents {
                let end = start + document.tree().text().len();
                if start <= span.end && span.start <= end {
                    found.push(Located { number: number + inside, offset: start, document });
                }
                start = end;
            }
            number += chunk.documents.len();
            offset += chunk.bytes;
        }
        found
    }

    /// The documents of `range` replaced by others.
    pub(crate) fn splice(&self, range: Range<usize>, new: Vec<Arc<DocumentAnalysis>>) -> Self {
        let (mut before, mut middle, mut behind) = (Vec::with_capacity(self.chunks.len() + 1), new, Vec::new());
        let (mut head, mut number) = (Vec::new(), 0);
        for chunk in &self.chunks {
            let numbers = number..number + chunk.documents.len();
            number = numbers.end;
            if numbers.end <= range.start {
                before.push(Arc::clone(chunk));
            } else if numbers.start >= range.end {
                behind.push(Arc::clone(chunk));
            } else {
                let kept = |from: usize, to: usize| {
                    let (from, to) = (from.max(numbers.start), to.min(numbers.end));
                    if from < to { &chunk.documents[from - numbers.start..to - numbers.start] } else { &[] }
                };
                head.extend_from_slice(kept(0, range.start));
                middle.extend_from_slice(kept(range.end, usize::MAX));
            }
        }
        head.append(&mut middle);
        let size = if head.len() <= 2 * CHUNK { 2 * CHUNK } else { CHUNK };
        before.extend(head.chunks(size).map(|piece| Arc::new(Chunk::new(piece.to_vec()))));
        before.append(&mut behind);
        Self { chunks: before }
    }

    /// Documents made anew: `change` is asked for those in `range`, and for those whose verdict depends on one of
    /// `names`.
    pub(crate) fn renew(
        &mut self,
        range: &Range<usize>,
        names: &Changed,
        change: impl Fn(&DocumentAnalysis) -> Option<DocumentAnalysis>,
    ) {
        let mut number = 0;
        for chunk in &mut self.chunks {
            let numbers = number..number + chunk.documents.len();
            number = numbers.end;
            let touched = numbers.start < range.end && range.start < numbers.end;
            let mentioned = !names.is_none() && names.touches(&chunk.names().mentioned);
            if !touched && !mentioned {
                continue;
            }
            let renewed: Vec<(usize, DocumentAnalysis)> = numbers
                .zip(&chunk.documents)
                .enumerate()
                .filter(|(_, (number, document))| {
                    range.contains(number) || (mentioned && names.concern(document.mentions()))
                })
                .filter_map(|(inside, (_, document))| Some((inside, change(document)?)))
                .collect();
            if renewed.is_empty() {
                continue;
            }
            let mut documents = chunk.documents.clone();
            for (inside, document) in renewed {
                documents[inside] = Arc::new(document);
            }
            *chunk = Arc::new(Chunk::new(documents));
        }
    }

    /// Whether there is a resource, or a config of the server.
    pub(crate) fn is_relevant(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.relevant)
    }

    /// Whether the verdict on some document depends on an object or resource of one of these names.
    pub(crate) fn mentions_any(&self, names: &HashSet<String>) -> bool {
        self.chunks.iter().any(|chunk| share(names, &chunk.names().mentioned))
    }

    /// All names that some document's verdict depends on.
    pub(crate) fn mentions(&self) -> HashSet<String> {
        self.chunks.iter().flat_map(|chunk| &chunk.names().mentioned).cloned().collect()
    }

    /// The documents that have an object called `name`, in order.
    pub(crate) fn defining<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f Arc<DocumentAnalysis>> {
        self.chunks.iter().flat_map(move |chunk| {
            let numbers = chunk.names().defined.get(name).into_iter().flatten();
            numbers.map(|number| &chunk.documents[*number])
        })
    }

    /// How many resources of this kind, namespace and name there are.
    pub(crate) fn resources_called(&self, key: &(api::Kind, ObjectKey)) -> usize {
        self.chunks.iter().filter_map(|chunk| chunk.names().resources.get(key)).sum()
    }

    /// The documents that have a resource of this namespace and name, in order.
    pub(crate) fn called(&self, key: &ObjectKey) -> impl Iterator<Item = Located<'_>> {
        let (mut number, mut offset) = (0, 0);
        let of_each_kind = api::Kind::ALL.map(|kind| (kind, key.clone()));
        self.chunks.iter().flat_map(move |chunk| {
            let has = of_each_kind.iter().any(|key| chunk.names().resources.contains_key(key));
            let (first, mut start) = (number, offset);
            number += chunk.documents.len();
            offset += chunk.bytes;
            let documents = if has { chunk.documents.as_slice() } else { &[] };
            let located = documents.iter().enumerate().map(move |(inside, document)| {
                let located = Located { number: first + inside, offset: start, document };
                start += document.tree().text().len();
                located
            });
            located.filter(|located| located.document.resources().iter().any(|one| one.is_called(key)))
        })
    }

    /// What the file mentions, in pieces that stay the same while their documents do.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Named> {
        self.chunks.iter().map(|chunk| chunk.named()).filter(|named| !named.is_empty())
    }

    /// The documents of the chunks that mention a name, in order.
    pub(crate) fn mentioning(&self, kind: Kind, name: &str) -> impl Iterator<Item = Located<'_>> {
        let (mut number, mut offset) = (0, 0);
        let mut found = Vec::new();
        for chunk in &self.chunks {
            if chunk.mentions().has(kind, name) {
                let mut start = offset;
                for (inside, document) in chunk.documents.iter().enumerate() {
                    found.push(Located { number: number + inside, offset: start, document });
                    start += document.tree().text().len();
                }
            }
            number += chunk.documents.len();
            offset += chunk.bytes;
        }
        found.into_iter()
    }

    /// The objects of the file, in pieces that stay the same while their documents do.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Arc<Objects>> {
        self.chunks.iter().map(|chunk| chunk.objects()).filter(|objects| !objects.is_empty())
    }

    /// The documents of chunks about which nobody has asked what is wrong.
    pub(crate) fn unjudged(&self) -> impl Iterator<Item = &DocumentAnalysis> {
        let new = self.chunks.iter().filter(|chunk| chunk.faulty.get().is_none());
        new.flat_map(|chunk| &chunk.documents).map(AsRef::as_ref)
    }

    /// The parts of the file that have diagnostics, in order.
    pub(crate) fn faulty_parts(&self) -> impl Iterator<Item = DiagnosticChunk<'_>> {
        let mut offset = 0;
        let parts = self.chunks.iter().map(move |chunk| {
            let part =
                DiagnosticChunk { offset, memo: &chunk.memo, documents: &chunk.documents, faulty: chunk.faulty() };
            offset += chunk.bytes;
            part
        });
        parts.filter(|part| !part.faulty.is_empty())
    }

    /// The documents that have diagnostics. `stop` is asked between chunks; true ends the search early.
    pub(crate) fn faulty(&self, stop: &dyn Fn() -> bool) -> Vec<Located<'_>> {
        let (mut all, mut number, mut offset) = (Vec::new(), 0, 0);
        for chunk in &self.chunks {
            if stop() {
                break;
            }
            let (mut inside, mut start) = (0, offset);
            for faulty in chunk.faulty() {
                start += chunk.documents[inside..*faulty].iter().map(|one| one.tree().text().len()).sum::<usize>();
                inside = *faulty;
                all.push(Located { number: number + faulty, offset: start, document: &chunk.documents[*faulty] });
            }
            number += chunk.documents.len();
            offset += chunk.bytes;
        }
        all
    }
}
