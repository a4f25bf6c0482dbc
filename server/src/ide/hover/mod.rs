//! What is known about the text under the pointer.

mod config;
mod environment;
mod generated;
mod names;
mod objects;
mod operation;

pub use generated::hover_generated;

use super::resource::Resource;
use super::schema::Schema;
use super::types::Hover;
use super::{Analysis, Span, block, place, schema};
use llsd_generator::generate::Generated;
use llsd_generator::path::{Path, Segment};
use llsd_yaml::Node;

/// Lines of generated config shown at most; the preview has all of them.
const PRODUCED_LINES: usize = 24;

pub(crate) fn hover(analysis: &Analysis, offset: usize) -> Option<Hover> {
    let (located, offset) = analysis.at(offset)?;
    let document = &located.document;
    if let Some((patch, inside)) = document.embedded_at(offset) {
        let found = hover(&analysis.of_embedded(patch), inside)?;
        return Some(patch.hover(document.tree(), located.offset, found));
    }
    if let Some((config, inside)) = document.config_at(offset) {
        let found = config::hover(document, config, inside)?;
        return Some(Hover { span: config.embedding().span(found.span).shift(located.offset), ..found });
    }
    let node = document.tree().node_at(offset)?;
    let path = place::path(&node.path());
    let (span, text) = match document.resource_at(&path) {
        None => operation::about(analysis, document, node, offset)?,
        Some(resource) => {
            let about = About { analysis, resource, generated: &|| document.generated(resource) };
            about.place(node, &resource.relative(&path)?, offset)?
        }
    };
    Some(Hover { span: span.shift(located.offset), markdown: text })
}

/// What is known around the places of a resource.
struct About<'a> {
    analysis: &'a Analysis,
    resource: &'a Resource,
    /// The config that it comes to.
    generated: &'a dyn Fn() -> Option<&'a Generated>,
}

impl About<'_> {
    /// Everything that is known about a key or value at a place of the resource, the most particular first.
    fn place(&self, node: Node<'_>, path: &Path, offset: usize) -> Option<(Span, String)> {
        if !node.is_scalar() || node.is_absent() || path.segments().is_empty() {
            return None;
        }
        let mut parts = Vec::new();
        let mut span = node.span();
        if !node.is_key()
            && let Some((expression, words)) = environment::at(node, offset)
        {
            span = expression;
            parts.push(words);
        }
        if node.is_key() || !matches!(path.last(), Some(Segment::Index(_))) {
            parts.extend(field(self.resource, path));
        }
        parts.extend(names::about(self.resource, path, node.is_key()));
        if !node.is_key() {
            parts.extend(objects::about(self.analysis, self.resource, path));
        }
        parts.extend((self.generated)().and_then(|generated| produced(generated, path)));
        (!parts.is_empty()).then(|| (span, parts.join("\n\n")))
    }
}

/// The field: name, type, default, meaning, rules.
fn field(resource: &Resource, path: &Path) -> Option<String> {
    let of = schema::of(resource.version);
    let here = of.at(path)?;
    let Segment::Key(name) = path.last()? else { return None };
    let required = path.parent().and_then(|parent| of.at(&parent)).is_some_and(|parent| parent.requires(name));
    let mut text = format!("**{name}** · {}", here.type_name());
    if required {
        text.push_str(", required");
    }
    if let Some(default) = here.default_value() {
        text.push_str(&format!(", default `{}`", block::inline(default)));
    }
    if !here.description().is_empty() {
        text.push_str(&format!("\n\n{}", here.description()));
    }
    let choices = here.choices();
    if !choices.is_empty() {
        let list: Vec<_> = choices.iter().map(|choice| format!("`{}`", block::inline(choice))).collect();
        text.push_str(&format!("\n\nOne of {}.", list.join(", ")));
    }
    text.push_str(&rules(here));
    Some(text)
}

fn rules(of: Schema<'_>) -> String {
    of.rules().iter().map(|rule| format!("\n\n- {rule}")).collect()
}

/// The lines of config that the place is the origin of.
fn produced(generated: &Generated, path: &Path) -> Option<String> {
    let lines: Vec<&str> = generated.config.text().lines().collect();
    let ranges = super::preview::produced(generated, path);
    let mut shown = Vec::new();
    let mut left_out = 0;
    for range in ranges {
        for number in range {
            match lines.get(number) {
                Some(line) if shown.len() < PRODUCED_LINES => shown.push(*line),
                Some(_) => left_out += 1,
                None => {}
            }
        }
    }
    if shown.is_empty() {
        return None;
    }
    let common = shown.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let mut text = String::from("In the generated config.yaml:\n```yaml\n");
    for line in shown {
        text.push_str(line.get(common..).unwrap_or(line));
        text.push('\n');
    }
    text.push_str("```");
    if left_out > 0 {
        text.push_str(&format!("\n… and {left_out} more lines"));
    }
    Some(text)
}
