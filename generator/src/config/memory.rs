//! What was found of the entries of the long lists of a config, kept from one text of it to the next.
//!
//! What a version says of a provider or of a registered resource by itself depends on nothing but the API or list that it
//! stands in and on what is written in it. So an edit of one of thousands costs one verdict and not thousands.

use super::fault::Fault;
use crate::catalog::Catalog;
use crate::path::Path;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The sections whose lists are long.
const SECTIONS: [&str; 2] = ["providers", "registered_resources"];

/// Verdicts after which an entry is forgotten that none of them met. A config is judged as it is written, and once more
/// with the values that its variables have.
const LONGEST: u64 = 4;

/// What is known of entries. It may be shared by all texts that a config has one after the other.
#[derive(Default)]
pub struct Memory(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// By section and list, and the entry as JSON.
    entries: HashMap<Box<[u8]>, (u64, Arc<Entry>)>,
    /// Number of the verdict at hand.
    round: u64,
}

/// What is known of one entry: for each version, of its keys and values, and of the settings of its provider type.
pub(super) struct Entry {
    schema: Box<[OnceLock<Found>]>,
    settings: Box<[OnceLock<Found>]>,
}

struct Found {
    /// Number of the entry in its list when it was judged.
    position: usize,
    faults: Vec<Fault>,
}

/// The lists of one config, with what is known of their entries.
#[derive(Default)]
pub(super) struct Entries {
    /// By section and list. An entry in which a template fills in something is not kept.
    lists: HashMap<(&'static str, String), Vec<Option<Arc<Entry>>>>,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}

impl Memory {
    /// The lists of a config, each entry with what is known of one that says the same.
    pub(super) fn entries(&self, config: &Value, unknown: &BTreeSet<Path>) -> Entries {
        // Entries are added whole, so a panic leaves nothing half done.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.round += 1;
        let mut lists = HashMap::new();
        for section in SECTIONS {
            for (name, list) in config.get(section).and_then(Value::as_object).into_iter().flatten() {
                let Some(items) = list.as_array() else { continue };
                let place = Path::root().key(section).key(name.as_str());
                let is_known = |position| unknown.is_empty() || !touches(unknown, &place.index(position));
                let items = items.iter().enumerate();
                let found = items.map(|(position, item)| is_known(position).then(|| kept.entry(section, name, item)));
                lists.insert((section, name.clone()), found.collect());
            }
        }
        let oldest = kept.round.saturating_sub(LONGEST);
        kept.entries.retain(|_, (round, _)| *round > oldest);
        Entries { lists }
    }
}

impl Kept {
    fn entry(&mut self, section: &str, list: &str, item: &Value) -> Arc<Entry> {
        let mut says = Vec::with_capacity(512);
        says.extend_from_slice(section.as_bytes());
        says.push(0);
        says.extend_from_slice(list.as_bytes());
        says.push(0);
        // Writing into memory does not fail.
        serde_json::to_writer(&mut says, item).unwrap_or_default();
        if let Some((round, entry)) = self.entries.get_mut(says.as_slice()) {
            *round = self.round;
            return Arc::clone(entry);
        }
        let versions = || Catalog::versions().iter().map(|_| OnceLock::new()).collect();
        let entry = Arc::new(Entry { schema: versions(), settings: versions() });
        self.entries.insert(says.into_boxed_slice(), (self.round, Arc::clone(&entry)));
        entry
    }
}

/// Whether something at, below or around a place is not known.
fn touches(unknown: &BTreeSet<Path>, place: &Path) -> bool {
    // Paths sort by their steps, so those below one follow it directly.
    let from = (Bound::Included(place), Bound::Unbounded);
    let below = unknown.range::<Path, _>(from).next().is_some_and(|path| path.starts_with(place));
    let around = |length: usize| place.segments().iter().take(length).cloned().collect::<Path>();
    below || (0..place.segments().len()).any(|length| unknown.contains(&around(length)))
}

impl Entries {
    /// What is known of the entries of a list; `None` where nothing is kept.
    pub(super) fn list(&self, section: &str, name: &str) -> Option<&[Option<Arc<Entry>>]> {
        let section = SECTIONS.into_iter().find(|known| *known == section)?;
        self.lists.get(&(section, name.to_owned())).map(Vec::as_slice)
    }
}

impl Entry {
    /// What version `number` of the catalogs says of its keys and values, at `position` of its list. `judge`: finds out.
    pub(super) fn of_schema(&self, number: usize, position: usize, judge: impl FnOnce() -> Vec<Fault>) -> Vec<Fault> {
        recalled(self.schema.get(number), position, judge)
    }

    /// The same of the settings of its provider type.
    pub(super) fn of_settings(&self, number: usize, position: usize, judge: impl FnOnce() -> Vec<Fault>) -> Vec<Fault> {
        recalled(self.settings.get(number), position, judge)
    }
}

fn recalled(slot: Option<&OnceLock<Found>>, position: usize, judge: impl FnOnce() -> Vec<Fault>) -> Vec<Fault> {
    let Some(slot) = slot else { return judge() };
    let found = slot.get_or_init(|| Found { position, faults: judge() });
    let mut faults = found.faults.clone();
    if found.position != position {
        faults.iter_mut().for_each(|fault| fault.stand_in_item(position));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Verdict, check_again, check_among};
    use serde_json::json;

    fn config(providers: &[Value], models: &[Value]) -> Value {
        json!({
            "version": 2, "image_name": "x", "apis": ["inference"],
            "providers": {"inference": providers},
            "registered_resources": {"models": models},
        })
    }

    fn vllm(id: &str, settings: Value) -> Value {
        json!({"provider_id": id, "provider_type": "remote::vllm", "config": settings})
    }

    fn both(memory: &Memory, config: &Value, unknown: &BTreeSet<Path>, known: &[&'static str]) -> [Verdict; 2] {
        [check_again(config, unknown, known, memory), check_among(config, unknown, known)]
    }

    #[test]
    fn a_verdict_from_memory_is_that_of_a_first_reading() {
        let all = [
            vllm("a", json!({"base_url": "http://a", "max_tokns": 4})),
            vllm("b", json!({"url": "http://b", "max_tokens": "many", "api_token": "secret"})),
            vllm("c", json!({"base_url": "${env.C:=7}", "network": {"tls": {"verfy": true}}})),
            json!({"provider_id": "d", "provider_type": "remote::vlm", "confg": {}}),
            json!({"provider_id": "a", "provider_type": "remote::ollama", "config": null}),
        ];
        let models = [
            json!({"model_id": "m", "provider_id": "b", "model_tipe": "llm"}),
            json!({"model_id": null, "provider_id": "zz", "model_type": "lm"}),
        ];
        let memory = Memory::default();
        let templated = Path::parse("providers.inference[1].config.url");
        let mut found = 0;
        for turn in 0..all.len() {
            let (mut providers, mut registered) = (all.to_vec(), models.to_vec());
            providers.rotate_left(turn);
            registered.rotate_left(turn % 2);
            for length in [all.len(), 3] {
                let config = config(&providers[..length], &registered);
                for unknown in [BTreeSet::new(), BTreeSet::from([templated.clone()])] {
                    for known in [&[][..], &["0.3.5"], &["0.4.7", "0.7.3"], &["1.5.0"]] {
                        let [again, first] = both(&memory, &config, &unknown, known);
                        assert_eq!(again, first, "{turn} {length} {known:?}");
                        found += first.findings.len();
                    }
                }
            }
        }
        assert!(found > 100, "{found}");
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let memory = Memory::default();
        for number in 0..100 {
            let config = config(&[vllm(&number.to_string(), json!({}))], &[]);
            let _ = check_again(&config, &BTreeSet::new(), &[], &memory);
        }
        let left = memory.0.lock().map(|kept| kept.entries.len()).unwrap_or_default();
        assert_eq!(left, LONGEST as usize);
    }
}
