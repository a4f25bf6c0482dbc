//! The findings of one verdict while they are collected: what has been said is not said again.

use super::finding::Finding;
use crate::api::CrdRule;
use crate::path::Path;
use std::collections::HashMap;

/// Findings in the order in which they are shown, and where each is by what it may be asked for. A resource may have
/// thousands, so adding one must not look at the others.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Finding>,
    by_path: HashMap<Path, Vec<usize>>,
    /// What the rules of the CRD say and no rule beyond them has made more exact yet.
    by_crd_rule: HashMap<(CrdRule, Option<Path>), Vec<usize>>,
}

impl Findings {
    /// What the API server says, in its order.
    pub(super) fn of_schema(found: Vec<Finding>) -> Self {
        let mut all = Self::default();
        found.into_iter().for_each(|finding| all.push(finding));
        all
    }

    /// Adds what a rule found, unless the same has been said: then that gets the rule's place and fixes.
    pub(super) fn add(&mut self, finding: Finding) {
        if finding.rule.explains_schema {
            return self.explain(finding);
        }
        if let Some(position) = self.take_refined(&finding) {
            return self.refine(position, finding);
        }
        let repeats = self.by_path.get(&finding.path).into_iter().flatten().any(|earlier| {
            let earlier = &self.found[*earlier];
            earlier.rule == finding.rule && earlier.message == finding.message
        });
        if !repeats {
            self.push(finding);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.found.iter()
    }

    pub(super) fn into_vec(self) -> Vec<Finding> {
        self.found
    }

    fn push(&mut self, finding: Finding) {
        let position = self.found.len();
        self.by_path.entry(finding.path.clone()).or_default().push(position);
        if let Some(rule) = finding.cause.crd_rule().filter(|_| finding.api_server_message.is_some()) {
            self.by_crd_rule.entry(subject_of(rule, &finding)).or_default().push(position);
        }
        self.found.push(finding);
    }

    /// Puts what is known about a shape in place of what the schema says of the same value. The API server's words are
    /// kept beside it.
    fn explain(&mut self, finding: Finding) {
        let earlier = self.by_path.get(&finding.path).and_then(|all| all.first()).copied();
        match earlier.map(|position| &mut self.found[position]) {
            Some(earlier) => {
                let (api_server_message, api_server_path) =
                    (earlier.api_server_message.take(), earlier.api_server_path.take());
                *earlier = Finding { api_server_message, api_server_path, ..finding };
            }
            None => self.push(finding),
        }
    }

    /// The finding of the CRD's rules that says less exactly what `finding` says.
    fn take_refined(&mut self, finding: &Finding) -> Option<usize> {
        let rule = finding.cause.crd_rule().filter(|rule| finding.rule.refines.contains(rule))?;
        self.by_crd_rule.get_mut(&subject_of(rule, finding)).filter(|open| !open.is_empty()).map(|open| open.remove(0))
    }

    /// Gives a finding of the CRD's rules the rule, the exact place and the fixes of `finding`. Its words stay those of
    /// the API server.
    fn refine(&mut self, position: usize, finding: Finding) {
        let earlier = &mut self.found[position];
        if finding.path != earlier.path {
            earlier.api_server_path.get_or_insert_with(|| earlier.path.to_string());
            self.by_path.entry(finding.path.clone()).or_default().push(position);
            earlier.path = finding.path;
        }
        earlier.rule = finding.rule;
        earlier.cause = finding.cause;
        earlier.related.extend(finding.related);
        earlier.fixes.extend(finding.fixes);
    }
}

/// The rule of the CRD, and the place where it speaks of each item of a list.
fn subject_of(rule: CrdRule, finding: &Finding) -> (CrdRule, Option<Path>) {
    (rule, rule.is_about_items().then(|| finding.path.clone()))
}

#[cfg(test)]
mod tests {
    use super::super::rules::settings::UNKNOWN_KEY;
    use super::*;

    #[test]
    fn what_is_said_twice_is_kept_once() {
        let mut findings = Findings::default();
        for _ in 0..3 {
            findings.add(Finding::new(&UNKNOWN_KEY, Path::parse("spec.a"), "same"));
        }
        findings.add(Finding::new(&UNKNOWN_KEY, Path::parse("spec.a"), "another"));
        assert_eq!(findings.into_vec().len(), 2);
    }

    /// A finding is compared with those at its own place alone, however many there are.
    #[test]
    fn the_work_for_a_finding_does_not_grow_with_their_number() {
        let mut findings = Findings::default();
        for number in 0..20_000 {
            findings.add(Finding::new(&UNKNOWN_KEY, Path::parse("spec.list").index(number), "unknown"));
        }
        assert_eq!(findings.by_path.values().map(Vec::len).max(), Some(1));
        assert_eq!(findings.into_vec().len(), 20_000);
    }
}
