//! Every place that speaks of the same thing, in the workspace and in one file.

use super::names::{Found, Location, Place, Question};

/// Every place that refers to the name at `offset`, and with `declarations` those that declare it; those of the asked
/// text first.
#[must_use]
pub fn references(question: &Question<'_>, offset: usize, declarations: bool) -> Vec<Location> {
    let Some(found) = question.at(offset) else { return Vec::new() };
    let shown = |one: &&Found| {
        let virtual_place = !matches!(one.place, Place::File(_));
        (declarations || !one.is_declaration()) && (question.generated || !virtual_place || one.place == question.place)
    };
    let mut locations: Vec<Location> = question.uses(&found).iter().filter(shown).map(Found::location).collect();
    // those of the asked text come first
    locations.sort_by_key(|one| (one.place != question.place, one.place.clone(), one.span.start));
    locations
}

/// The places of the asked text that speak of the name at `offset`, in order.
#[must_use]
pub fn highlight(question: &Question<'_>, offset: usize) -> Vec<Location> {
    let Some(found) = question.at(offset) else { return Vec::new() };
    let uses = question.uses(&found);
    let mut own: Vec<_> = uses.iter().filter(|one| one.place == question.place).map(Found::location).collect();
    own.sort_by_key(|one| one.span.start);
    own
}
