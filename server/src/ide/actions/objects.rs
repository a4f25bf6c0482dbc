//! Secrets and ConfigMaps of the workspace, as actions change them: in the file that was asked, or in another one.

use crate::ide::facts::Reference;
use crate::ide::file_names::file_name;
use crate::ide::fix;
use crate::ide::names::{LocatedOccurrence, Query, Symbol, TextId};
use crate::ide::place;
use crate::ide::rename::FileEdits;
use crate::ide::types::TextEdit;
use llsd_generator::check::finding::FixEdit;
use llsd_generator::path::Path;
use llsd_generator::references::ReferenceKind;

/// Changes of the asked file and of others.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Edits of the file that the action was asked in.
    pub(super) own: Vec<TextEdit>,
    /// Edits of other files.
    pub(super) others: Vec<FileEdits>,
}

impl Changes {
    /// Adds edits of the file in which something was found.
    pub(super) fn add(&mut self, query: &Query<'_>, found: &LocatedOccurrence, edits: Vec<TextEdit>) -> Option<()> {
        if found.place == query.place {
            self.own.extend(edits);
            return Some(());
        }
        let (TextId::File(file), Some(analysis)) = (&found.place, found.analysis()) else { return None };
        match self.others.iter_mut().find(|other| other.file == *file) {
            Some(known) => known.edits.extend(edits),
            None => self.others.push(FileEdits { file: file.clone(), text: analysis.text(), edits }),
        }
        Some(())
    }
}

/// The declaration that a reference of the asked file means: one of this file, or else the only one elsewhere.
pub(super) fn declared(query: &Query<'_>, object: &Symbol) -> Option<LocatedOccurrence> {
    let is_declared = |one: &LocatedOccurrence| one.is_declaration() && is_object(&one.occurrence.symbol);
    let all: Vec<LocatedOccurrence> = query.named(object).into_iter().filter(is_declared).collect();
    let own: Vec<&LocatedOccurrence> = all.iter().filter(|one| one.place == query.place).collect();
    match (own.as_slice(), all.as_slice()) {
        ([one], _) => Some((*one).clone()),
        // which of several is meant only their author knows
        ([], [one]) if in_namespace(&one.occurrence.symbol) == in_namespace(object) => Some(one.clone()),
        _ => None,
    }
}

fn is_object(symbol: &Symbol) -> bool {
    matches!(symbol, Symbol::Secret(_) | Symbol::ConfigMap(_))
}

fn in_namespace(symbol: &Symbol) -> Option<&str> {
    match symbol {
        Symbol::Secret((namespace, _)) | Symbol::ConfigMap((namespace, _)) => Some(namespace),
        _ => None,
    }
}

/// The edits of the file that make `changes` to an object, given by its declaration.
pub(super) fn edits(found: &LocatedOccurrence, changes: &[FixEdit]) -> Option<Vec<TextEdit>> {
    let tree = found.analysis()?.document(found.document)?.document.tree().clone();
    let name = place::path(&tree.node_at(found.occurrence.span.start)?.path());
    let base: Path = name.parent()?.parent()?;
    let mut edits = fix::text_edits(&tree, &base, changes)?;
    edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(found.offset));
    Some(edits)
}

/// ` in NAME` for something in another file, for a title.
pub(super) fn in_file(query: &Query<'_>, found: &LocatedOccurrence) -> String {
    match &found.place {
        TextId::File(file) if found.place != query.place => format!(" in {}", file_name(file)),
        _ => String::new(),
    }
}

/// The Secrets that a document names, in the order of their names.
pub(super) fn secrets<'r>(references: impl IntoIterator<Item = &'r Reference>) -> Vec<Symbol> {
    let secrets = references.into_iter().filter(|reference| reference.kind == ReferenceKind::Secret);
    secrets.map(|reference| Symbol::Secret(reference.key.clone())).collect()
}
