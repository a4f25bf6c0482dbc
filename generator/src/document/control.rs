//! Lines of template control: what stands between `{{ if }}` and `{{ end }}` may be there or not, and what
//! `{{ include }}` writes may be anything.

use crate::path::{Path, Segment};
use llsd_yaml::{Document, Node, SkippedKind, Step};
use std::collections::BTreeSet;
use std::ops::Range;

/// What a control line does.
enum Control {
    Open,
    Close,
    Writes,
    Nothing,
}

fn control(line: &str) -> Control {
    let inside = line.trim_start_matches(['{', '-', ' ']);
    let word = inside.split(|char: char| !char.is_ascii_alphabetic()).next().unwrap_or_default();
    match word {
        "if" | "range" | "with" | "define" | "block" => Control::Open,
        "end" => Control::Close,
        "else" => Control::Nothing,
        // An assignment or a comment.
        "" if inside.starts_with(['$', '/']) && !line.contains("include") => Control::Nothing,
        _ => Control::Writes,
    }
}

/// The places of a document that its control lines make uncertain.
pub(super) fn uncertain(document: &Document) -> BTreeSet<Path> {
    let mut found = BTreeSet::new();
    let (mut open, mut regions): (Vec<usize>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let lines = document.skipped().iter().filter(|line| line.kind == SkippedKind::Template);
    for line in lines {
        match control(line.span.slice(document.text())) {
            Control::Open => open.push(line.span.start),
            Control::Close => regions.extend(open.pop().map(|start| start..line.span.end)),
            Control::Writes => found.extend(written(document, line.span.start)),
            Control::Nothing => {}
        }
    }
    regions.extend(open.into_iter().map(|start| start..document.text().len()));
    if !regions.is_empty() {
        found.extend(document.nodes().filter(|node| depends(*node, &regions)).map(|node| path(&node.path())));
    }
    found
}

/// Whether a region holds an entry or item, but not the start of what it is part of. A region around the whole
/// document decides about all of it or nothing.
fn depends(node: Node<'_>, regions: &[Range<usize>]) -> bool {
    let Some(parent) = node.parent().filter(|_| !node.is_key()) else { return false };
    let start = node.entry().map_or_else(|| node.full_span().start, |entry| entry.span.start);
    let owner = parent.entry().map_or_else(|| parent.full_span().start, |entry| entry.span.start);
    regions.iter().any(|region| region.contains(&start) && !region.contains(&owner))
}

/// The place that a line which writes something may fill: the entry before it that is still empty, else all of the
/// collection that it stands in, unless that is the document.
fn written(document: &Document, offset: usize) -> Option<Path> {
    let mut inner = document.root()?;
    loop {
        let before = inner.children().take_while(|child| child.full_span().start <= offset).last();
        match before {
            Some(child) if child.is_absent() => return Some(path(&child.path())),
            Some(child) if child.full_span().end > offset && child.children().next().is_some() => inner = child,
            // Behind the last child of a collection, a line may still be part of the one inside.
            Some(child)
                if child.children().next().is_some()
                    && column(document, offset) >= child.indent()
                    && child.indent() > 0 =>
            {
                inner = child;
            }
            _ => break,
        }
    }
    inner.parent().is_some().then(|| path(&inner.path()))
}

fn column(document: &Document, offset: usize) -> usize {
    let before = document.text().get(..offset).unwrap_or_default();
    offset - before.rfind('\n').map_or(0, |at| at + 1)
}

fn path(steps: &[Step]) -> Path {
    steps
        .iter()
        .map(|step| match step {
            Step::Key(name) => Segment::Key(name.clone()),
            Step::Index(position) => Segment::Index(*position),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<String> {
        uncertain(&llsd_yaml::parse_document(text)).iter().map(Path::to_string).collect()
    }

    #[test]
    fn what_a_condition_decides_is_uncertain() {
        let text = "spec:\n  distribution:\n    {{- if .Values.image }}\n    image: x\n    {{- else }}\n    name: y\n    {{- end }}\n  replicas: 1\n";
        assert_eq!(places(text), ["spec.distribution.image", "spec.distribution.name"]);
        let text = "env:\n  - name: A\n  {{- range .Values.models }}\n  - name: B\n  {{- end }}\n  - name: C\n";
        assert_eq!(places(text), ["env[1]"]);
    }

    #[test]
    fn a_condition_around_everything_decides_nothing() {
        assert!(places("{{- if .Values.enabled }}\na: 1\nb: {c: 1}\n{{- end }}\n").is_empty());
    }

    #[test]
    fn what_is_written_is_uncertain() {
        assert_eq!(
            places("metadata:\n  labels:\n    {{- include \"x\" . | nindent 4 }}\n  name: a\n"),
            ["metadata.labels"]
        );
        assert_eq!(places("spec:\n  env:\n  - name: A\n  {{- toYaml .Values.env | nindent 2 }}\n"), ["spec.env"]);
    }
}
