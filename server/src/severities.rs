//! How findings are shown, as a user or a team wants it.

use llsd_generator::check::finding::Severity;
use std::collections::BTreeMap;

/// Severities by rule; a key that ends in `*` stands for all rules that begin so. `None` is off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Severities(pub BTreeMap<String, Option<Severity>>);

impl Severities {
    /// The severity to show a finding of this rule with; `None`: it is not shown. `usual` is what it has of itself.
    #[must_use]
    pub fn of(&self, rule: &str, usual: Severity) -> Option<Severity> {
        if let Some(set) = self.0.get(rule) {
            return *set;
        }
        let patterns = self.0.iter().filter_map(|(key, set)| Some((key.strip_suffix('*')?, set)));
        let longest = patterns.filter(|(start, _)| rule.starts_with(start)).max_by_key(|(start, _)| start.len());
        longest.map_or(Some(usual), |(_, set)| *set)
    }
}
