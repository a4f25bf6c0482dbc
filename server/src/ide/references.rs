//! Every place that speaks of the same thing, in the workspace and in one file.

use super::names::{LocatedOccurrence, Location, Query, TextId};

/// Every place that refers to the name at `offset`, and with `declarations` those that declare it; those of the asked
/// text first.
#[must_use]
pub fn references(query: &Query<'_>, offset: usize, declarations: bool) -> Vec<Location> {
    let Some(found) = query.at(offset) else { return Vec::new() };
    let shown = |one: &&LocatedOccurrence| {
        let virtual_place = !matches!(one.place, TextId::File(_));
        (declarations || !one.is_declaration()) && (query.generated || !virtual_place || one.place == query.place)
    };
    let mut locations: Vec<Location> =
        query.uses(&found).iter().filter(shown).map(LocatedOccurrence::location).collect();
    // those of the asked text come first
    locations.sort_by_key(|one| (one.place != query.place, one.place.clone(), one.span.start));
    locations
}

/// The places of the asked text that speak of the name at `offset`, in order.
#[must_use]
pub fn highlight(query: &Query<'_>, offset: usize) -> Vec<Location> {
    let Some(found) = query.at(offset) else { return Vec::new() };
    let uses = query.uses(&found);
    let mut own: Vec<_> = uses.iter().filter(|one| one.place == query.place).map(LocatedOccurrence::location).collect();
    own.sort_by_key(|one| one.span.start);
    own
}
