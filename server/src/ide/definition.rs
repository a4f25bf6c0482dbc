//! Where a name is declared, what a line of the resource produces, and where a line of the config comes from.

use super::names::{LocatedOccurrence, Location, Query, Source, Symbol, TextId, base};
use super::{Analysis, OriginKind, Span, place, preview};
use llsd_generator::path::Segment;
use std::sync::Arc;

/// Where the name at `offset` is declared. A field without a name leads to the lines of the generated config that it
/// produces, and a line of a generated config to where it comes from.
#[must_use]
pub fn definition(query: &Query<'_>, offset: usize) -> Vec<Location> {
    if let TextId::Preview { file, document, resource } = &query.place {
        let analysis = query.analysis;
        return analysis
            .and_then(|analysis| origin(analysis, file, *document, *resource, offset))
            .into_iter()
            .collect();
    }
    match query.at(offset) {
        Some(found) => {
            let declared = declarations(query, &found);
            if declared.is_empty() { implementation(query, offset) } else { declared }
        }
        None => implementation(query, offset),
    }
}

/// The declaration of the name at `offset`, and nothing else.
pub(crate) fn declared(query: &Query<'_>, offset: usize) -> Vec<Location> {
    query.at(offset).map(|found| declarations(query, &found)).unwrap_or_default()
}

fn declarations(query: &Query<'_>, found: &LocatedOccurrence) -> Vec<Location> {
    if let Symbol::Distribution(name) = &found.occurrence.symbol {
        return whole_base(name).into_iter().collect();
    }
    let uses = match found.occurrence.symbol {
        Symbol::Model(_) | Symbol::Shield(_) | Symbol::ToolGroup(_) => query.joined(found),
        _ => query.uses(found),
    };
    let declared = |keep: &dyn Fn(&LocatedOccurrence) -> bool| -> Vec<Location> {
        let mut kept: Vec<&LocatedOccurrence> = uses.iter().filter(|one| one.is_declaration() && keep(one)).collect();
        kept.sort_by_key(|one| (one.place.clone(), one.span().start));
        kept.into_iter().map(LocatedOccurrence::location).collect()
    };
    let in_base = |one: &LocatedOccurrence| matches!(one.place, TextId::Base(_));
    let elsewhere = |one: &LocatedOccurrence| !matches!(one.place, TextId::Preview { .. });
    // from a declaration on to what it replaces; from anywhere else to the nearest one
    if found.is_declaration() && !in_base(found) {
        let base = declared(&in_base);
        return if base.is_empty() { declared(&|one| elsewhere(one) && !in_base(one)) } else { base };
    }
    let own = declared(&|one| elsewhere(one) && !in_base(one));
    if !own.is_empty() {
        return own;
    }
    let base = declared(&in_base);
    if !base.is_empty() {
        return base;
    }
    // a key that its object does not have: the object is as near as it gets
    let object = found.occurrence.symbol.object().filter(|object| *object != found.occurrence.symbol);
    object
        .map(|object| {
            let mut whole = found.clone();
            whole.occurrence.symbol = object;
            let uses = query.uses(&whole);
            uses.iter().filter(|one| one.is_declaration()).map(LocatedOccurrence::location).collect()
        })
        .unwrap_or_default()
}

/// The first line of a base config.
fn whole_base(distribution: &str) -> Option<Location> {
    let base = base(distribution)?;
    let place = TextId::Base(distribution.to_owned());
    let (span, source) = (line_span(&base.text, 0), Source::Text(base.text.clone()));
    Some(Location { place, span, declares: true, title: String::new(), source })
}

/// The lines of the generated config that the field at `offset` produces, or the nearest field around it that
/// produces any.
#[must_use]
pub fn implementation(query: &Query<'_>, offset: usize) -> Vec<Location> {
    let (TextId::File(file), Some(analysis)) = (&query.place, query.analysis) else { return Vec::new() };
    produced(analysis, file, offset).unwrap_or_default()
}

fn produced(analysis: &Analysis, file: &Arc<str>, offset: usize) -> Option<Vec<Location>> {
    let (located, inside) = analysis.at(offset)?;
    let document = located.number;
    let node = located.document.tree().node_at(inside)?;
    let path = place::path(&node.path());
    let resources = located.document.resources();
    let number = resources.iter().position(|resource| path.starts_with(&resource.base))?;
    let resource = &resources[number];
    let generated = located.document.generated(resource)?;
    let mut path = resource.relative(&path)?;
    let mut ranges = preview::produced(generated, &path);
    // all of `spec` would be the whole config
    while ranges.is_empty() && path.segments().len() > 2 {
        path.pop();
        ranges = preview::produced(generated, &path);
    }
    if path.segments().len() < 2 || path.segments().first() != Some(&Segment::Key("spec".to_owned())) {
        return None;
    }
    let text: Arc<str> = generated.config.text().into();
    let place = TextId::Preview { file: file.clone(), document, resource: number };
    let location = |range: &std::ops::Range<usize>| {
        let (first, last) = (line_span(&text, range.start), line_span(&text, range.end.saturating_sub(1)));
        let span = Span::new(first.start, last.end.max(first.end));
        let title = resource.name().to_owned();
        let source = Source::Text(text.clone());
        Location { place: place.clone(), span, declares: false, title, source }
    };
    Some(ranges.iter().map(location).collect())
}

/// Where the line at `offset` of a generated config comes from.
fn origin(analysis: &Analysis, file: &Arc<str>, document: usize, resource: usize, offset: usize) -> Option<Location> {
    let preview = preview::preview(analysis, document, resource)?;
    let before = preview.text.get(..offset).unwrap_or(&preview.text);
    let line = preview.lines.get(before.matches('\n').count())?;
    match line.kind {
        OriginKind::Resource => Some(Location {
            place: TextId::File(file.clone()),
            span: line.source_span?,
            declares: false,
            title: String::new(),
            source: Source::File(analysis.clone()),
        }),
        OriginKind::Base => {
            let document = analysis.document(document)?.document;
            if document.resources().get(resource)?.given_base().is_some() {
                return None;
            }
            let names = document.names();
            let scope = names.scopes.iter().find(|scope| scope.resource == Some(resource))?;
            let distribution = scope.distribution.clone()?;
            let base = base(&distribution)?;
            let number: usize = line.path.parse().ok()?;
            let span = line_span(&base.text, number.checked_sub(1)?);
            let (source, title) = (Source::Text(base.text.clone()), String::new());
            Some(Location { place: TextId::Base(distribution), span, declares: false, title, source })
        }
        OriginKind::Default | OriginKind::Rule => None,
    }
}

/// A line without its indentation and break; the end of the text for a line that there is not.
pub(crate) fn line_span(text: &str, number: usize) -> Span {
    let Some(line) = text.split_inclusive('\n').nth(number) else { return Span::new(text.len(), text.len()) };
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let content = line.trim();
    let from = start + (line.len() - line.trim_start().len()).min(line.len() - content.len());
    Span::new(from, from + content.len())
}
