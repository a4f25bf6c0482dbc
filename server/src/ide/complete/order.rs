//! The order of keys: what the same object beside has, what is required, what comes next.

use super::Context;
use super::offer::Offer;
use crate::ide::place;
use crate::ide::schema;
use llsd_generator::path::{Path, Segment};
use std::collections::BTreeSet;

/// Other items of a list that are looked at: the nearest tell how somebody orders keys, and more do not tell it better.
const SIBLINGS: usize = 8;
/// By so many places a key falls back that people write further up or down.
const OUT_OF_ORDER: usize = 3;
/// Keys of one mapping that are looked at: more than any object of the schema has fields.
const KEYS: usize = 64;

/// Objects of which a key takes the place of others: the object's key, and the keys. With the keys of one group no key
/// of another goes.
#[rustfmt::skip]
const EITHER: &[(&str, &[&[&str]])] = &[
    ("distribution", &[&["name"], &["image"]]),
    ("podDisruptionBudget", &[&["minAvailable"], &["maxUnavailable"]]),
    ("valueFrom", &[&["secretKeyRef"], &["configMapKeyRef"]]),
    ("env", &[&["value"], &["valueFrom"]]),
    ("spec", &[&["overrideConfig"], &["providers", "resources", "storage", "disabled"]]),
];

/// A key that takes the place of one that is there: that one.
pub(super) fn instead_of<'e>(container: &Path, key: &str, existing: &'e [String]) -> Option<&'e str> {
    let name = container.segments().iter().rev().find_map(|step| match step {
        Segment::Key(name) => Some(name.as_str()),
        Segment::Index(_) => None,
    })?;
    if name == "volumes" {
        return existing.iter().map(String::as_str).find(|there| *there != "name" && key != "name" && *there != key);
    }
    let (_, groups) = EITHER.iter().find(|(object, _)| *object == name)?;
    let group = groups.iter().position(|group| group.contains(&key))?;
    let of_another = |there: &str| groups.iter().enumerate().any(|(at, keys)| at != group && keys.contains(&there));
    existing.iter().map(String::as_str).find(|there| of_another(there))
}

/// What stands around the key that is written.
pub(super) struct Around {
    /// The keys of the same object in the other items of its list, the nearest first.
    siblings: Vec<String>,
    /// Places of the keys above and below in the order in which people write.
    above: Option<usize>,
    below: Option<usize>,
}

impl Around {
    /// Around the cursor in the mapping at `container`.
    pub(super) fn of(context: &Context<'_>, container: &Path) -> Self {
        let steps = place::steps(&context.resource.base, container);
        let entries = context.tree.find(&steps).into_iter().flat_map(|mapping| mapping.entries());
        let (mut above, mut below) = (None, None);
        for entry in entries.filter(|entry| !entry.key.is_absent()).take(KEYS) {
            let span = entry.key.span();
            if span.end < context.at.start {
                above = schema::written(&entry.key.key_text());
            } else if span.start > context.at.end {
                below = schema::written(&entry.key.key_text());
                break;
            }
        }
        Self { siblings: siblings(context, container), above, below }
    }

    /// Sorts keys whose usual order they are in. `settled`: whether a key belongs behind all others.
    pub(super) fn sort(&self, offers: &mut [Offer], settled: impl Fn(&str) -> bool, required: impl Fn(&str) -> bool) {
        let mut usual = 0;
        offers.sort_by_cached_key(|offer| {
            let name = offer.label.as_str();
            let sibling = self.siblings.iter().position(|key| key == name).unwrap_or(self.siblings.len());
            usual += 1;
            let place = if self.fits(name) { usual } else { usual + OUT_OF_ORDER };
            (settled(name), sibling, !required(name), place)
        });
    }

    /// Whether the key comes behind the one above and in front of the one below.
    fn fits(&self, name: &str) -> bool {
        let Some(place) = schema::written(name) else { return true };
        self.above.is_none_or(|above| above < place) && self.below.is_none_or(|below| place < below)
    }
}

/// The keys of the objects at the place of `container` in the other items of its list, nearest items first: for
/// `providers.inference[1].config` those of `providers.inference[0].config`, `[2].config` and so on.
fn siblings(context: &Context<'_>, container: &Path) -> Vec<String> {
    let steps = container.segments();
    let Some(at) = steps.iter().rposition(|step| matches!(step, Segment::Index(_))) else { return Vec::new() };
    let Segment::Index(number) = steps[at] else { return Vec::new() };
    let list: Path = steps[..at].iter().cloned().collect();
    let inside: Path = steps[at + 1..].iter().cloned().collect();
    let Some(items) = list.find(&context.resource.value).and_then(serde_json::Value::as_array) else {
        return Vec::new();
    };
    let nearest = (0..number.min(items.len())).rev().chain(number + 1..items.len()).take(SIBLINGS);
    let objects = nearest.filter_map(|other| inside.find(&items[other])?.as_object());
    let mut seen = BTreeSet::new();
    objects.flat_map(|object| object.keys().take(KEYS)).filter(|key| seen.insert(*key)).cloned().collect()
}
