//! The config of a resource that a patch changes, where the patch is no document that looks like a resource: a text in a
//! kustomization, or JSON 6902 operations.

use super::of_resource;
use crate::ide::document::DocumentAnalysis;
use crate::ide::file::Located;
use crate::ide::resource::Resource;
use crate::ide::types::Preview;
use crate::ide::{Analysis, Span, place};
use llsd_generator::path::Path;
use llsd_yaml::Step;

/// What becomes of a resource by the patch of this number that stands in a kustomization.
pub(super) fn within(analysis: &Analysis, located: Located<'_>, number: usize) -> Option<Preview> {
    let document = located.document;
    let embedded = document.embedded().get(number)?;
    let mut preview = super::preview(&analysis.of_embedded(embedded), 0, 0)?;
    let outer = |span: Span| embedded.outer(document.tree(), span).shift(located.offset);
    for line in &mut preview.lines {
        line.source_span = line.source_span.map(outer);
    }
    for problem in &mut preview.problems {
        problem.span = outer(problem.span);
    }
    Some(preview)
}

/// What becomes of the first resource that a list of operations changes; `None` where none is known.
pub(super) fn of_operations(document: &DocumentAnalysis, offset: usize) -> Option<Preview> {
    let (operations, _) = document.operations()?;
    let part = document.facts().part.as_ref()?;
    let (version, whole) = (part.version?, part.wholes.first()?);
    let resource = Resource::changed(version, whole.after.clone(), document.facts());
    let written = |path: &Path| {
        let steps: Vec<Step> = place::steps(&Path::root(), &operations.writer(&whole.after, path)?);
        Some(document.tree().find(&steps)?.span().shift(offset))
    };
    let preview = of_resource(document, &resource, offset, &written);
    // Places of problems lead into a resource that stands elsewhere.
    Some(Preview { problems: Vec::new(), ..preview })
}
