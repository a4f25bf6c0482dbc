//! Children of collections with very many of them, found without walking past all others. Made once per document, and
//! only if somebody looks far into such a collection.

use crate::{Document, Node};
use std::collections::HashMap;

/// Up to so many children a walk is as fast.
pub(crate) const NARROW: usize = 64;

/// The children of every wide collection of a document.
#[derive(Debug)]
pub(crate) struct Wide {
    /// By collection and decoded key: the first key node of that text.
    keys: HashMap<u32, HashMap<String, u32>>,
    /// By collection: its item nodes in order.
    items: HashMap<u32, Vec<u32>>,
}

impl Wide {
    /// Looks at every collection once.
    pub(crate) fn new(document: &Document) -> Self {
        let mut wide = Self { keys: HashMap::new(), items: HashMap::new() };
        for node in document.nodes() {
            if node.entries().nth(NARROW).is_some() {
                let keys = wide.keys.entry(node.id).or_default();
                for entry in node.entries() {
                    keys.entry(entry.key.key_text().into_owned()).or_insert(entry.key.id);
                }
            } else if node.items().nth(NARROW).is_some() {
                wide.items.insert(node.id, node.items().map(|item| item.id).collect());
            }
        }
        wide
    }

    /// The key node of an entry of a wide mapping.
    pub(crate) fn key(&self, mapping: Node<'_>, key: &str) -> Option<u32> {
        self.keys.get(&mapping.id)?.get(key).copied()
    }

    /// An item of a wide sequence.
    pub(crate) fn item(&self, sequence: Node<'_>, index: usize) -> Option<u32> {
        self.items.get(&sequence.id)?.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Step, parse_document};

    #[test]
    fn wide_and_narrow_collections_answer_alike() {
        let keys: String = (0..200).map(|number| format!("  key{}: {number}\n", number % 150)).collect();
        let items: String = (0..200).map(|number| format!("  - {number}\n")).collect();
        let document = parse_document(&format!("map:\n{keys}list:\n{items}"));
        let at = |path: &[Step]| document.find(path).map(|node| node.value().into_owned());
        for number in [0, 49, 64, 149] {
            let key = Step::Key(format!("key{number}"));
            assert_eq!(at(&[Step::Key("map".into()), key]), Some(number.to_string()), "the first of two");
            let item = [Step::Key("list".into()), Step::Index(number)];
            assert_eq!(at(&item), Some(number.to_string()));
        }
        assert_eq!(at(&[Step::Key("map".into()), Step::Key("key150".into())]), None);
        assert_eq!(at(&[Step::Key("list".into()), Step::Index(200)]), None);
    }
}
