//! Names of the whole workspace, found by some of their letters.

use super::names::{Declared, Kind, LocatedOccurrence, Location, Symbol, TextId, WorkspaceFiles, found_in};
use std::sync::Arc;

/// A declared name of the workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceSymbol {
    /// The name that was declared.
    pub name: String,
    /// The kind of thing that was declared.
    pub kind: Kind,
    /// What it belongs to: the resource of a provider, the namespace of a Secret; empty if nothing.
    pub container: String,
    /// The place of the declaration.
    pub location: Location,
}

/// The places of names that [`super::NameIndex::search`] found, `limit` at most.
#[must_use]
pub fn locate(library: &dyn WorkspaceFiles, found: &[Declared], limit: usize) -> Vec<WorkspaceSymbol> {
    let mut symbols = Vec::new();
    for declared in found {
        for file in &declared.files {
            if symbols.len() >= limit {
                return symbols;
            }
            in_file(library, declared, file, &mut symbols);
        }
    }
    symbols.truncate(limit);
    symbols
}

fn in_file(library: &dyn WorkspaceFiles, declared: &Declared, file: &Arc<str>, out: &mut Vec<WorkspaceSymbol>) {
    let Some(analysis) = library.analysis(file) else { return };
    let place = TextId::File(file.clone());
    for located in analysis.mentioning(declared.kind, &declared.name) {
        let names = located.document.names();
        for one in &names.occurrences {
            let found = found_in(&analysis, place.clone(), located, one.clone());
            if found.is_declaration()
                && kind_of(&one.symbol) == Some(declared.kind)
                && one.symbol.name() == &*declared.name
            {
                out.push(WorkspaceSymbol {
                    name: declared.name.to_string(),
                    kind: declared.kind,
                    container: container(&found),
                    location: found.location(),
                });
            }
        }
    }
}

/// The kind of a symbol that can be searched for by its own name.
fn kind_of(symbol: &Symbol) -> Option<Kind> {
    Some(match symbol {
        Symbol::Resource(_) => Kind::Resource,
        Symbol::Provider { .. } => Kind::Provider,
        Symbol::Model(_) => Kind::Model,
        Symbol::Shield(_) => Kind::Shield,
        Symbol::ToolGroup(_) => Kind::ToolGroup,
        Symbol::Secret(_) => Kind::Secret,
        Symbol::ConfigMap(_) => Kind::ConfigMap,
        _ => return None,
    })
}

fn container(found: &LocatedOccurrence) -> String {
    match &found.occurrence.symbol {
        Symbol::Resource((namespace, _)) | Symbol::Secret((namespace, _)) | Symbol::ConfigMap((namespace, _)) => {
            namespace.clone()
        }
        _ => owner(found).unwrap_or_default(),
    }
}

/// The resource or ConfigMap that a name is declared in.
fn owner(found: &LocatedOccurrence) -> Option<String> {
    let document = found.analysis()?.document(found.document)?.document;
    let scope = document.names().scopes.get(found.occurrence.scope?)?;
    match scope.resource {
        Some(number) => Some(document.resources().get(number)?.name().to_owned()),
        None => scope.owner.as_ref().map(|(_, name)| name.clone()),
    }
}
