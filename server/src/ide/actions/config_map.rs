//! The key under which a ConfigMap of the file holds the server's config.

use crate::ide::Analysis;
use crate::ide::types::{Diagnostic, TextEdit};
use llsd_generator::path::Path;
use llsd_yaml::{Step, edit};
use serde_json::Value;

/// Where configs of older guides are.
const OLD: &str = "run.yaml";
/// Where the operator looks.
const NEW: &str = "config.yaml";

/// Title and edits that rename the key of the ConfigMap that a finding speaks of. `None` if that is in another file.
pub(super) fn rename_key(analysis: &Analysis, diagnostic: &Diagnostic) -> Option<(String, Vec<TextEdit>)> {
    let path = Path::parse(&diagnostic.path);
    let resources = analysis.document(diagnostic.document)?.document.resources();
    let name = resources.iter().find_map(|resource| path.find(&resource.value).and_then(Value::as_str))?;
    let mut found = analysis.documents().filter(|located| {
        let mut known = located.document.objects().config_maps.iter();
        known.any(|((_, known), data)| known == name && data.contains_key(OLD) && !data.contains_key(NEW))
    });
    let located = found.next().filter(|_| found.next().is_none())?;
    let tree = located.document.tree();
    let key = tree.find(&[Step::Key("data".to_owned()), Step::Key(OLD.to_owned())])?.key()?;
    let named = tree.find(&[Step::Key("metadata".to_owned()), Step::Key("name".to_owned())])?;
    if named.value() != name {
        return None;
    }
    let edits = edit::rename_key(key, NEW).into_iter();
    let edits = edits.map(|edit| TextEdit { span: edit.span.shift(located.offset), new_text: edit.new_text });
    Some((format!("Rename {OLD} of ConfigMap \"{name}\" to {NEW}"), edits.collect()))
}
