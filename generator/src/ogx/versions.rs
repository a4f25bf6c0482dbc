//! Versions of the ogx server.

use crate::catalog::Catalog;

/// The versions of ogx that have a catalog, oldest first. Source: llama-stack ended with 0.7.3, ogx began with 0.8.
pub fn all() -> impl DoubleEndedIterator<Item = &'static str> {
    Catalog::versions().iter().map(String::as_str).filter(|version| numbers(version) >= vec![0, 8])
}

/// The version that counts where one is told: that one, if it is known here, else the newest.
#[must_use]
pub fn resolve(told: Option<&str>) -> &'static str {
    known(told).unwrap_or_else(newest)
}

/// The version itself, if it is one of ogx that is known here.
pub(crate) fn known(version: Option<&str>) -> Option<&'static str> {
    all().find(|known| Some(*known) == version)
}

/// The newest version that is known here.
pub(crate) fn newest() -> &'static str {
    all().next_back().unwrap_or_default()
}

/// Whether a version is as new as another one, given by its numbers.
pub(crate) fn is_from(version: &str, least: &[u32]) -> bool {
    numbers(version).as_slice() >= least
}

/// The numbers of a version, most significant first.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}
