//! Whether two sides mean the same place of a config.

use serde_json::Value;

/// A place as the package names it, as the segments that the config has: `a.0.b` and `a[0].b` are one, and what pydantic
/// adds for the member of a union that it tried is left out.
pub(super) fn segments(config: &Value, written: &str) -> Vec<String> {
    let parts: Vec<String> = written
        .replace('[', ".")
        .replace(']', "")
        .split('.')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    let (mut found, mut at) = (Vec::new(), Some(config));
    for (number, part) in parts.iter().enumerate() {
        let child = |value: &'_ Value, part: &str| match value {
            Value::Object(entries) => entries.contains_key(part),
            Value::Array(items) => part.parse::<usize>().is_ok_and(|at| at < items.len()),
            _ => false,
        };
        let Some(here) = at else { break };
        if child(here, part) {
            found.push(part.clone());
            at = match here {
                Value::Array(items) => part.parse().ok().and_then(|at: usize| items.get(at)),
                _ => here.get(part),
            };
        } else if parts.get(number + 1).is_none_or(|next| !child(here, next)) {
            // A key that is missing, and no tag of a union.
            found.push(part.clone());
            break;
        }
    }
    found
}

/// Whether we name the package's place, or one in it: it tells some faults of sections as a whole. A key that is missing may
/// be told at its section.
pub(super) fn meet(theirs: &[String], ours: &[String]) -> bool {
    ours.starts_with(theirs) || theirs.starts_with(ours) && theirs.len() - ours.len() <= 1
}
