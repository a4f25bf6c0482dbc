//! The verdict on a part of a resource: a strategic merge patch of a kustomization.
//!
//! A part is judged as a resource of which everything that is not written is unknown. Where the resources that it is
//! merged into are known, it is also answerable for what is wrong with the results at the places that it writes.

use super::finding::{Finding, Severity};
use super::rules::kustomize::DIRECTIVE;
use super::rules::schema::REQUIRED;
use super::{Facts, Outcome, Request, verdict};
use crate::api::{ApiVersion, crd};
use crate::kustomize::{Undirected, is_directive, undirected};
use crate::path::{Path, Segment};
use serde_json::Value;
use std::collections::BTreeSet;

/// Makes a resource a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The resources that it is known to be merged into, in the order of the kustomizations that do it.
    pub wholes: Vec<Whole>,
    /// The version of those, or the one that the patch's target names. Only JSON 6902 operations need it: a strategic
    /// merge patch says its own.
    pub version: Option<ApiVersion>,
}

/// A resource before and after a patch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    /// Without the patch, but with everything that comes before it.
    pub before: Value,
    /// The object with the patch applied: findings that are new in it belong to the patch.
    pub after: Value,
    /// Places of both that a template fills in.
    pub unknown: BTreeSet<Path>,
}

/// Judges a part. The generated config is that of the first whole that has one.
pub(super) fn judge(request: &Request<'_>, part: &Part) -> Outcome {
    let facts = Facts { part: None, ..request.facts.clone() };
    let patch = undirected(request.value);
    let mut unknown = request.unknown | &patch.removed;
    absent(request.version, &patch, &patch.value, &mut Path::root(), &mut unknown);
    let alone = Request { value: &patch.value, unknown: &unknown, facts: &facts, old: None, ..*request };
    let mut outcome = verdict(&alone);
    outcome.findings.retain(|finding| *finding.rule != REQUIRED || !unknown.contains(&finding.path));
    // what it would be as a resource of its own is nothing that anybody asked for
    outcome.model = None;
    outcome.generated = None;
    outcome.findings.extend(directives(&patch));
    for whole in &part.wholes {
        let judge = |value| verdict(&Request { value, unknown: &whole.unknown, facts: &facts, old: None, ..*request });
        let (before, after) = (judge(&whole.before), judge(&whole.after));
        let new = after.findings.into_iter().filter(|finding| {
            writes(&patch, &finding.path) && !says(&before.findings, finding) && !says(&outcome.findings, finding)
        });
        let new: Vec<Finding> = new.collect();
        outcome.findings.extend(new);
        if outcome.generated.is_none() {
            outcome.generated = after.generated;
        }
    }
    outcome
}

/// Notes the fields of every mapping that the patch merges into another one and does not write.
fn absent(version: ApiVersion, patch: &Undirected, value: &Value, at: &mut Path, unknown: &mut BTreeSet<Path>) {
    let Some(fields) = value.as_object().filter(|_| !patch.complete.contains(at)) else { return };
    let known = crd::schema_at(version, at).and_then(|schema| schema.get("properties")?.as_object());
    let missing = known.into_iter().flatten().map(|(name, _)| name).filter(|name| !fields.contains_key(*name));
    unknown.extend(missing.map(|name| at.key(name)));
    for (name, value) in fields {
        at.push(Segment::Key(name.clone()));
        absent(version, patch, value, at, unknown);
        at.pop();
    }
}

/// Whether what stands at `path`, or what would hold it, is written in the patch below `spec`.
fn writes(patch: &Undirected, path: &Path) -> bool {
    // directives have been spoken of
    if matches!(path.last(), Some(Segment::Key(name)) if is_directive(name)) {
        return false;
    }
    let holder = |path: &Path| path.find(&patch.value).is_some();
    path.segments().len() > 1 && (holder(path) || path.parent().is_some_and(|parent| holder(&parent)))
}

fn says(all: &[Finding], finding: &Finding) -> bool {
    all.iter().any(|known| known.rule == finding.rule && known.path == finding.path)
}

/// What is wrong with the directives.
fn directives(patch: &Undirected) -> impl Iterator<Item = Finding> + '_ {
    let kept = patch.kept.iter().map(|path| {
        let name = match path.last() {
            Some(Segment::Key(name)) => name.as_str(),
            _ => "",
        };
        let message = format!(
            "kustomize does not apply \"{name}\" here, as it knows no merge keys of this kind: it stays in the result"
        );
        Finding::new(&DIRECTIVE, path.clone(), message).at_key()
    });
    let unknown = patch.unknown.iter().map(|(path, word)| {
        let message = format!("Unknown $patch \"{word}\": kustomize takes delete, replace and merge");
        Finding::new(&DIRECTIVE, path.clone(), message).weighing(Severity::Error)
    });
    kept.chain(unknown)
}
