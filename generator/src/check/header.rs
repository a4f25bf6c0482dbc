//! Which of the kinds an object is, by `apiVersion` and `kind`.

use super::finding::{Finding, Fix, FixEdit};
use super::rules;
use crate::api::{ApiVersion, Kind};
use crate::nearest::nearest;
use crate::path::Path;
use serde_json::Value;

/// What `apiVersion` and `kind` say.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The version whose rules apply to the rest of the object.
    pub version: ApiVersion,
    /// What is wrong with the two fields.
    pub findings: Vec<Finding>,
}

/// Groups that `LlamaStackDistribution` never had, or had only in drafts, and that users' files still name.
const OTHER_GROUPS: [&str; 6] =
    ["llama-stack.io", "llama.x-k8s.io", "llama.meta.com", "llamastack.ai", "llamastack.meta.com", "llamastack.org"];

/// Reads the header. `None` for an object of another kind, which is none of our business. A wrong group, an unknown
/// version or a mistyped kind is a finding, and the rest is judged by the version that was probably meant.
#[must_use]
pub fn header(object: &Value) -> Option<Header> {
    let text = |field: &str| object.get(field).and_then(Value::as_str);
    let (written, named) = (text("apiVersion").unwrap_or_default(), text("kind").unwrap_or_default());
    let (group, version) = written.split_once('/').unwrap_or(("", written));
    let of_group = || match group {
        draft if OTHER_GROUPS.contains(&draft) => Some(Kind::LlamaStackDistribution),
        group => Kind::of_group(group),
    };
    let kind = Kind::named(named).or_else(of_group)?;
    let known_version = kind.versions().iter().copied().find(|known| known.name() == version);
    let mut findings = Vec::new();
    // Proposals with another group called the shape of v1alpha2 v1alpha1.
    let known_version = match kind {
        Kind::LlamaStackDistribution if group != kind.group() && is_new_shape(object) => Some(ApiVersion::V1Alpha2),
        _ => known_version,
    };
    let version = known_version.unwrap_or_else(|| guess(kind, object));
    if group != kind.group() {
        findings.push(wrong_group(written, group, version, object));
    } else if known_version.is_none() {
        findings.push(unknown_version(written, version));
    }
    if named != kind.name() {
        findings.extend(wrong_kind(object, named, kind));
        // Another kind of our group, such as a list of resources, is not ours to judge.
        findings.iter().any(|finding| *finding.rule == rules::header::UNKNOWN_KIND).then_some(())?;
    }
    Some(Header { version, findings })
}

fn is_new_shape(object: &Value) -> bool {
    let Some(spec) = object.get("spec") else { return false };
    let new = ["distribution", "providers", "networking", "workload", "overrideConfig"];
    spec.get("server").is_none() && new.iter().any(|field| spec.get(field).is_some())
}

/// The version that a resource without a known one is probably written in. v1alpha1 has everything below
/// `spec.server`; what has not, is closer to v1alpha2.
fn guess(kind: Kind, object: &Value) -> ApiVersion {
    let server = object.get("spec").and_then(|spec| spec.get("server"));
    match kind {
        Kind::LlamaStackDistribution if server.is_some() => ApiVersion::V1Alpha1,
        Kind::LlamaStackDistribution => ApiVersion::V1Alpha2,
        Kind::OgxServer => ApiVersion::OgxV1Beta1,
    }
}

fn wrong_group(written: &str, group: &str, version: ApiVersion, object: &Value) -> Finding {
    let path = Path::root().key("apiVersion");
    let kind = version.kind().name();
    if object.get("apiVersion").is_none_or(Value::is_null) {
        let message = format!("apiVersion is missing: {kind} is in {}", version.api_version());
        let edits = vec![FixEdit::Insert { path: path.clone(), value: version.api_version().into() }];
        let title = format!("Add apiVersion: {}", version.api_version());
        return Finding::new(&rules::header::WRONG_GROUP, path, message).with_fix(Fix {
            title,
            edits,
            preferred: true,
        });
    }
    let what = if group.is_empty() { format!("apiVersion \"{written}\"") } else { format!("API group \"{group}\"") };
    let message = format!("{what} does not have the kind {kind}: it is in {}", version.api_version());
    Finding::new(&rules::header::WRONG_GROUP, path.clone(), message).with_fix(to(path, version.api_version()))
}

/// `meant`: what the rest of the resource looks like, which says more than a digit.
fn unknown_version(written: &str, meant: ApiVersion) -> Finding {
    let path = Path::root().key("apiVersion");
    let kind = meant.kind();
    let known: Vec<_> = kind.versions().iter().map(|version| version.api_version()).collect();
    let message = format!("Unknown version \"{written}\". {} is served as {}", kind.name(), known.join(" and "));
    Finding::new(&rules::header::UNKNOWN_VERSION, path.clone(), message).with_fix(to(path, meant.api_version()))
}

fn wrong_kind(object: &Value, written: &str, kind: Kind) -> Option<Finding> {
    let path = Path::root().key("kind");
    let name = kind.name();
    if object.get("kind").is_none() {
        let edits = vec![FixEdit::Insert { path: path.clone(), value: name.into() }];
        let fix = Fix { title: format!("Add kind: {name}"), edits, preferred: true };
        return Some(Finding::new(&rules::header::UNKNOWN_KIND, path, "kind is missing").with_fix(fix));
    }
    // While it is typed, a kind is a prefix of what it will be.
    let is_begun = !written.is_empty() && name.to_lowercase().starts_with(&written.to_lowercase());
    let close = nearest(written, [name]).is_some() || is_begun || written.eq_ignore_ascii_case(name);
    let message = format!("Unknown kind \"{written}\" in {}. Did you mean \"{name}\"?", kind.group());
    close.then(|| Finding::new(&rules::header::UNKNOWN_KIND, path.clone(), message).with_fix(to(path, name)))
}

fn to(path: Path, value: &str) -> Fix {
    let edits = vec![FixEdit::Replace { path, value: value.into() }];
    Fix { title: format!("Change to \"{value}\""), edits, preferred: true }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::api::KIND;
    use serde_json::json;

    fn rules(api_version: &str, kind: &str) -> Option<(ApiVersion, Vec<&'static str>)> {
        let header = header(&json!({"apiVersion": api_version, "kind": kind, "spec": {"server": {}}}))?;
        Some((header.version, header.findings.iter().map(|finding| finding.rule.id).collect()))
    }

    #[test]
    fn recognizes_the_resource() {
        assert_eq!(rules("llamastack.io/v1alpha2", KIND), Some((ApiVersion::V1Alpha2, vec![])));
        assert_eq!(rules("llamastack.io/v1alpha1", KIND), Some((ApiVersion::V1Alpha1, vec![])));
        assert_eq!(rules("ogx.io/v1beta1", "OGXServer"), Some((ApiVersion::OgxV1Beta1, vec![])));
        for other in [("v1", "Secret"), ("ogx.io/v1beta1", "Something"), ("llamastack.io/v1alpha1", "Something")] {
            assert_eq!(rules(other.0, other.1), None);
        }
    }

    #[test]
    fn says_what_is_wrong_and_goes_on() {
        let wrong_group = Some((ApiVersion::V1Alpha1, vec!["llsd::kind::wrong-group"]));
        assert_eq!(rules("llama-stack.io/v1alpha1", KIND), wrong_group);
        assert_eq!(rules("llama.x-k8s.io/v1alpha1", KIND), wrong_group);
        assert_eq!(rules("v1", KIND), wrong_group);
        assert_eq!(rules("llamastack.io/v1", KIND), Some((ApiVersion::V1Alpha1, vec!["llsd::kind::unknown-version"])));
        let kind = Some((ApiVersion::V1Alpha2, vec!["llsd::kind::unknown-kind"]));
        assert_eq!(rules("llamastack.io/v1alpha2", "LlamaStackDistributon"), kind);
        let of_ogx = |rule| Some((ApiVersion::OgxV1Beta1, vec![rule]));
        assert_eq!(rules("ogx.io/v1alpha1", "OGXServer"), of_ogx("llsd::kind::unknown-version"));
        assert_eq!(rules("ogx.io/v1beta1", "OgxServer"), of_ogx("llsd::kind::unknown-kind"));
        assert_eq!(rules("llamastack.io/v1beta1", "OGXServer"), of_ogx("llsd::kind::wrong-group"));
    }
}
