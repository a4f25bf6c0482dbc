//! Which files mention which names. A changed document costs what it holds, however many others there are.

use super::{Occurrence, Role, Symbol};
use crate::ide::delta::differing;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What kind of thing a name is, as far as files ask each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A `LlamaStackDistribution`, by `metadata.name`.
    Resource,
    /// A provider of a resource or config.
    Provider,
    /// A model that a resource or config registers.
    Model,
    /// A shield that is registered, by its id.
    Shield,
    /// A tool group that is registered, by its id.
    ToolGroup,
    /// A Secret, or one of its keys.
    Secret,
    /// A ConfigMap, or one of its keys.
    ConfigMap,
    /// A distribution that the operator knows.
    Distribution,
}

impl Kind {
    /// The kind under which a symbol is found, and the name it is found by.
    pub(super) fn of(symbol: &Symbol) -> Option<(Self, &str)> {
        Some(match symbol {
            Symbol::Resource((_, name)) => (Self::Resource, name),
            Symbol::Secret((_, name)) | Symbol::SecretKey((_, name), _) => (Self::Secret, name),
            Symbol::ConfigMap((_, name)) | Symbol::ConfigMapKey((_, name), _) => (Self::ConfigMap, name),
            Symbol::Provider { id, .. } => (Self::Provider, id),
            Symbol::Model(name) => (Self::Model, name),
            Symbol::Shield(name) => (Self::Shield, name),
            Symbol::ToolGroup(name) => (Self::ToolGroup, name),
            Symbol::Distribution(name) => (Self::Distribution, name),
            Symbol::Api(_) | Symbol::Variable(_) | Symbol::Backend(_) => return None,
        })
    }
}

/// The names that a document, or several, mention; true for those that they declare.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mentions(BTreeMap<(Kind, Arc<str>), bool>);

impl Mentions {
    pub(super) fn of(occurrences: &[Occurrence]) -> Self {
        let mut names: BTreeMap<(Kind, Arc<str>), bool> = BTreeMap::new();
        for one in occurrences {
            if let Some((kind, name)) = Kind::of(&one.symbol) {
                let declares = one.role == Role::Declaration && one.symbol.name() == name;
                *names.entry((kind, Arc::from(name))).or_default() |= declares;
            }
        }
        Self(names)
    }

    /// Whether the name is among them.
    pub(crate) fn has(&self, kind: Kind, name: &str) -> bool {
        self.0.contains_key(&(kind, Arc::from(name)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'m> FromIterator<&'m Mentions> for Mentions {
    fn from_iter<I: IntoIterator<Item = &'m Mentions>>(all: I) -> Self {
        let mut names: BTreeMap<(Kind, Arc<str>), bool> = BTreeMap::new();
        for (key, declares) in all.into_iter().flat_map(|one| &one.0) {
            *names.entry(key.clone()).or_default() |= declares;
        }
        Self(names)
    }
}

/// What neighbouring documents of a file mention, each on its own.
pub(crate) type Named = Arc<[Arc<Mentions>]>;

/// How often a file mentions and declares a name: in how many of its documents.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    mentions: u32,
    declarations: u32,
}

/// The names of all files of the workspace, open or not.
#[derive(Clone, Debug, Default)]
pub struct NameIndex {
    files: HashMap<Arc<str>, Vec<Named>>,
    names: BTreeMap<(Kind, Arc<str>), BTreeMap<Arc<str>, Count>>,
}

/// A name that files declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The kind of thing that is declared.
    pub kind: Kind,
    /// Its name, as it is written without quotes.
    pub name: Arc<str>,
    /// The files that declare it, in the order of their names.
    pub files: Vec<Arc<str>>,
}

impl NameIndex {
    /// Takes in what an analysis found in `file`.
    pub fn learn(&mut self, file: &str, analysis: &crate::ide::Analysis) {
        self.set(file, analysis.named());
    }

    /// Sets what `file` mentions. Documents that were there before are not looked at.
    fn set(&mut self, file: &str, pieces: Vec<Named>) {
        let (file, old) = match self.files.remove_entry(file) {
            Some(known) => known,
            None => (Arc::from(file), Vec::new()),
        };
        let (removed, added) = differing(&old, &pieces);
        let (removed, added): (Vec<_>, Vec<_>) =
            (removed.iter().flat_map(|piece| &**piece).collect(), added.iter().flat_map(|piece| &**piece).collect());
        let (removed, added) = differing(&removed, &added);
        for mentions in removed {
            self.forget(&file, mentions);
        }
        for mentions in added {
            self.add(&file, mentions);
        }
        if !pieces.is_empty() {
            self.files.insert(file, pieces);
        }
    }

    /// Forgets all that a file declares and mentions.
    pub fn remove(&mut self, file: &str) {
        self.set(file, Vec::new());
    }

    fn add(&mut self, file: &Arc<str>, mentions: &Mentions) {
        for (key, declares) in &mentions.0 {
            let count = self.names.entry(key.clone()).or_default().entry(Arc::clone(file)).or_default();
            count.mentions += 1;
            count.declarations += u32::from(*declares);
        }
    }

    fn forget(&mut self, file: &Arc<str>, mentions: &Mentions) {
        for (key, declares) in &mentions.0 {
            let Some(users) = self.names.get_mut(key) else { continue };
            if let Some(count) = users.get_mut(file) {
                count.mentions = count.mentions.saturating_sub(1);
                count.declarations = count.declarations.saturating_sub(u32::from(*declares));
                if count.mentions == 0 {
                    users.remove(file);
                }
            }
            if users.is_empty() {
                self.names.remove(key);
            }
        }
    }

    /// The files that mention a name, in the order of their names.
    #[must_use]
    pub fn mentioning(&self, kind: Kind, name: &str) -> Vec<Arc<str>> {
        let users = self.names.get(&(kind, Arc::from(name)));
        users.into_iter().flat_map(BTreeMap::keys).cloned().collect()
    }

    /// The declared names that have the letters of `query` in this order, best first, `limit` at most.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<Declared> {
        let wanted: Vec<char> = query.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
        let mut found: Vec<(u32, &(Kind, Arc<str>))> = Vec::new();
        for (key, users) in &self.names {
            if key.0 == Kind::Distribution || !users.values().any(|count| count.declarations > 0) {
                continue;
            }
            found.extend(distance(&key.1, &wanted).map(|distance| (distance, key)));
        }
        found.sort_by(|one, other| (one.0, &one.1.1, one.1.0).cmp(&(other.0, &other.1.1, other.1.0)));
        let declared = |(_, key): (u32, &(Kind, Arc<str>))| {
            let users = self.names.get(key).into_iter().flatten();
            let files = users.filter(|(_, count)| count.declarations > 0).map(|(file, _)| Arc::clone(file));
            Declared { kind: key.0, name: Arc::clone(&key.1), files: files.collect() }
        };
        found.into_iter().take(limit).map(declared).collect()
    }

    /// How many files are known.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files.len()
    }
}

/// How far a name is from what was typed: 0 is equal, letters between those typed count, and so does what comes in
/// front. `None` if a letter is missing.
fn distance(name: &str, wanted: &[char]) -> Option<u32> {
    let mut left = wanted.iter().peekable();
    let (mut distance, mut started, mut before) = (0_u32, false, ' ');
    for letter in name.chars() {
        match left.peek() {
            Some(next) if letter.to_lowercase().eq(std::iter::once(**next)) => {
                // a match inside a word is worth less than one at its start
                distance += u32::from(!started && before.is_alphanumeric()) * 4;
                left.next();
                started = true;
            }
            Some(_) => distance += if started { 2 } else { 1 },
            None => {}
        }
        before = letter;
    }
    let rest = name.chars().count().saturating_sub(wanted.len()) as u32;
    left.peek().is_none().then_some(distance * 8 + rest.min(7))
}

#[cfg(test)]
mod tests {
    use super::*;
    use llsd_yaml::Span;

    fn document(names: &[(&str, Role)]) -> Arc<Mentions> {
        let occurrence = |(name, role): &(&str, Role)| Occurrence {
            symbol: Symbol::Secret((String::new(), (*name).to_owned())),
            scope: None,
            span: Span::new(0, 0),
            role: *role,
            form: super::super::Form::Part,
        };
        Arc::new(Mentions::of(&names.iter().map(occurrence).collect::<Vec<_>>()))
    }

    fn files(index: &NameIndex, name: &str) -> Vec<String> {
        index.mentioning(Kind::Secret, name).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn follows_changes_of_single_pieces() {
        let mut index = NameIndex::default();
        let (a, b, c) = (
            document(&[("one", Role::Declaration)]),
            document(&[("one", Role::Reference), ("two", Role::Reference)]),
            document(&[("three", Role::Reference)]),
        );
        index.set("x", vec![[a.clone(), b.clone()].into(), [c.clone()].into()]);
        index.set("y", vec![[b.clone()].into()]);
        assert_eq!(files(&index, "one"), ["x", "y"]);
        index.set("x", vec![[a.clone(), c.clone()].into()]);
        assert_eq!(files(&index, "one"), ["x", "y"]);
        assert_eq!(files(&index, "two"), ["y"]);
        index.set("x", vec![[c.clone()].into(), [a.clone()].into()]);
        assert_eq!(files(&index, "three"), ["x"]);
        index.remove("x");
        index.remove("y");
        assert!(index.names.is_empty() && index.files.is_empty());
    }

    #[test]
    fn an_edit_leaves_the_pieces_of_other_documents_alone() {
        use crate::ide::{self, Workspace};
        let one = |number: usize| {
            format!("---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s{number}}}\nstringData: {{k: x}}\n")
        };
        let text: String = (0..1_000).map(one).collect();
        let before = ide::analyse(text.as_str().into(), None, &Workspace::new());
        let mut index = NameIndex::default();
        index.learn("x", &before);
        assert_eq!(files(&index, "s500"), ["x"]);
        let edited = text.replace("{name: s500}", "{name: other}");
        let after = ide::analyse(edited.into(), Some(&before), &Workspace::new());
        let (old, new) = (before.named(), after.named());
        let kept = new.iter().filter(|piece| old.iter().any(|other| Arc::ptr_eq(piece, other))).count();
        assert!(new.len() >= 10 && kept >= new.len() - 2, "{kept} of {}", new.len());
        index.learn("x", &after);
        assert_eq!(files(&index, "s500"), Vec::<String>::new());
        assert_eq!(files(&index, "other"), ["x"]);
        assert_eq!(files(&index, "s999"), ["x"]);
    }

    #[test]
    fn searches_declared_names_by_their_letters() {
        let mut index = NameIndex::default();
        index.set("x", vec![[document(&[("vllm-token", Role::Declaration), ("openai", Role::Declaration)])].into()]);
        index.set("y", vec![[document(&[("token", Role::Declaration), ("tokens", Role::Reference)])].into()]);
        let names = |query: &str| index.search(query, 9).iter().map(|one| one.name.to_string()).collect::<Vec<_>>();
        assert_eq!(names("token"), ["token", "vllm-token"]);
        assert_eq!(names("VTok"), ["vllm-token"]);
        assert_eq!(names("tv"), Vec::<String>::new());
        assert_eq!(names("").len(), 3);
    }
}
