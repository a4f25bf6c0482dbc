//! JSON 6902 operations: what they do, and what is known of the place of the resource that they lead to.

use super::{About, field, names};
use crate::ide::Analysis;
use crate::ide::Span;
use crate::ide::document::DocumentAnalysis;
use crate::ide::operation::{NAMES, Target};
use crate::ide::place;
use llsd_generator::path::Path;
use llsd_yaml::{Node, Step};

/// What is known of a place in a list of operations; `None` where the document is none that changes a resource of ours.
pub(super) fn about(
    analysis: &Analysis,
    document: &DocumentAnalysis,
    node: Node<'_>,
    offset: usize,
) -> Option<(Span, String)> {
    document.operations()?;
    let steps = node.path();
    let [Step::Index(number), Step::Key(name), ..] = steps.as_slice() else { return None };
    match name.as_str() {
        "op" => {
            let known = NAMES.iter().find(|(name, _)| !node.is_key() && *name == node.value());
            known.map(|(name, does)| (node.span(), format!("**{name}** {does}")))
        }
        "path" => {
            let target = Target::of(document, *number)?;
            let parts = [field(&target.resource, &target.place), names::about(&target.resource, &target.place, true)];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (!parts.is_empty()).then(|| (node.span(), parts.join("\n\n")))
        }
        _ => {
            let target = Target::of(document, *number)?;
            let path = target.inside(&steps)?;
            // what a later operation writes over comes to nothing
            let lasts = written_last(document, &path).is_some_and(|writer| writer == place::path(&steps));
            let generated = || document.generated(&target.resource).filter(|_| lasts);
            let about = About { analysis, resource: &target.resource, generated: &generated };
            about.place(node, &path, offset)
        }
    }
}

/// The place in the list of operations that has the last word on a place of the resource, where that is known.
fn written_last(document: &DocumentAnalysis, path: &Path) -> Option<Path> {
    let (operations, _) = document.operations()?;
    let whole = document.facts().part.as_ref()?.wholes.first()?;
    operations.writer(&whole.after, path)
}
