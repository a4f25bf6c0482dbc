//! Whether an object is the resource, by `apiVersion` and `kind`.

use super::finding::{Finding, Fix, FixEdit};
use super::rules;
use crate::api::{ApiVersion, GROUP, KIND};
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

/// Groups that the resource never had, or had only in drafts, and that users' files still name.
const OTHER_GROUPS: [&str; 6] =
    ["llama-stack.io", "llama.x-k8s.io", "llama.meta.com", "llamastack.ai", "llamastack.meta.com", "llamastack.org"];

/// Reads the header. `None` for an object of another kind, which is none of our business. A wrong group, an unknown
/// version or a mistyped kind is a finding, and the rest is judged by the version that was probably meant.
#[must_use]
pub fn header(object: &Value) -> Option<Header> {
    let text = |field: &str| object.get(field).and_then(Value::as_str);
    let (written, kind) = (text("apiVersion").unwrap_or_default(), text("kind").unwrap_or_default());
    let (group, version) = written.split_once('/').unwrap_or(("", written));
    let known_version = ApiVersion::ALL.into_iter().find(|known| known.name() == version);
    let ours = kind == KIND;
    if !ours && group != GROUP && !OTHER_GROUPS.contains(&group) {
        return None;
    }
    let mut findings = Vec::new();
    // Proposals with another group called the shape of v1alpha2 v1alpha1.
    let known_version =
        if group == GROUP || !is_new_shape(object) { known_version } else { Some(ApiVersion::V1Alpha2) };
    if group != GROUP {
        let version = known_version.unwrap_or_else(|| guess(object));
        findings.push(wrong_group(written, group, version, object));
    } else if known_version.is_none() {
        findings.push(unknown_version(written, object));
    }
    if !ours {
        findings.extend(wrong_kind(object, kind));
        // Another kind of our group, such as a list of resources, is not ours to judge.
        findings.iter().any(|finding| *finding.rule == rules::header::UNKNOWN_KIND).then_some(())?;
    }
    Some(Header { version: known_version.unwrap_or_else(|| guess(object)), findings })
}

fn is_new_shape(object: &Value) -> bool {
    let Some(spec) = object.get("spec") else { return false };
    let new = ["distribution", "providers", "networking", "workload", "overrideConfig"];
    spec.get("server").is_none() && new.iter().any(|field| spec.get(field).is_some())
}

/// v1alpha1 has everything below `spec.server`; what has not, is closer to v1alpha2.
fn guess(object: &Value) -> ApiVersion {
    let server = object.get("spec").and_then(|spec| spec.get("server"));
    if server.is_some() { ApiVersion::V1Alpha1 } else { ApiVersion::V1Alpha2 }
}

fn wrong_group(written: &str, group: &str, version: ApiVersion, object: &Value) -> Finding {
    let path = Path::root().key("apiVersion");
    if object.get("apiVersion").is_none_or(Value::is_null) {
        let message = format!("apiVersion is missing: {KIND} is in {}", version.api_version());
        let edits = vec![FixEdit::Insert { path: path.clone(), value: version.api_version().into() }];
        let title = format!("Add apiVersion: {}", version.api_version());
        return Finding::new(&rules::header::WRONG_GROUP, path, message).with_fix(Fix {
            title,
            edits,
            preferred: true,
        });
    }
    let what = if group.is_empty() { format!("apiVersion \"{written}\"") } else { format!("API group \"{group}\"") };
    let message = format!("{what} does not have the kind {KIND}: it is in {}", version.api_version());
    Finding::new(&rules::header::WRONG_GROUP, path.clone(), message).with_fix(to(path, version.api_version()))
}

fn unknown_version(written: &str, object: &Value) -> Finding {
    let path = Path::root().key("apiVersion");
    let known = ApiVersion::ALL.map(ApiVersion::api_version);
    let message = format!("Unknown version \"{written}\". {KIND} is served as {}", known.join(" and "));
    // what is written below says more than a digit
    let meant = guess(object).api_version();
    Finding::new(&rules::header::UNKNOWN_VERSION, path.clone(), message).with_fix(to(path, meant))
}

fn wrong_kind(object: &Value, kind: &str) -> Option<Finding> {
    let path = Path::root().key("kind");
    if object.get("kind").is_none() {
        let edits = vec![FixEdit::Insert { path: path.clone(), value: KIND.into() }];
        let fix = Fix { title: format!("Add kind: {KIND}"), edits, preferred: true };
        return Some(Finding::new(&rules::header::UNKNOWN_KIND, path, "kind is missing").with_fix(fix));
    }
    // While it is typed, a kind is a prefix of what it will be.
    let close = nearest(kind, [KIND]).is_some() || (!kind.is_empty() && KIND.starts_with(kind)) || kind == "LlamaStack";
    let message = format!("Unknown kind \"{kind}\" in {GROUP}. Did you mean \"{KIND}\"?");
    close.then(|| Finding::new(&rules::header::UNKNOWN_KIND, path.clone(), message).with_fix(to(path, KIND)))
}

fn to(path: Path, value: &str) -> Fix {
    let edits = vec![FixEdit::Replace { path, value: value.into() }];
    Fix { title: format!("Change to \"{value}\""), edits, preferred: true }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use serde_json::json;

    fn rules(api_version: &str, kind: &str) -> Option<(ApiVersion, Vec<&'static str>)> {
        let header = header(&json!({"apiVersion": api_version, "kind": kind, "spec": {"server": {}}}))?;
        Some((header.version, header.findings.iter().map(|finding| finding.rule.id).collect()))
    }

    #[test]
    fn recognizes_the_resource() {
        assert_eq!(rules("llamastack.io/v1alpha2", KIND), Some((ApiVersion::V1Alpha2, vec![])));
        assert_eq!(rules("llamastack.io/v1alpha1", KIND), Some((ApiVersion::V1Alpha1, vec![])));
        for other in [("v1", "Secret"), ("ogx.io/v1beta1", "OGXServer"), ("llamastack.io/v1alpha1", "Something")] {
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
    }
}
