//! A file after an edit: the touched documents read again, all others taken over.

use super::changed::Changed;
use super::delta::shared_ends;
use super::document::{DocumentAnalysis, Retention};
use super::facts::{self, ObjectScope};
use super::file::File;
use super::{Analysis, Delta, Span, Stop, Workspace, form, read};
use llsd_yaml::split_documents;
use std::ops::Range;
use std::sync::Arc;

/// Makes the analysis of a changed text from the one before: see [`super::update`].
pub(super) fn update(
    previous: &Analysis,
    delta: Delta,
    text: &dyn Fn(Span) -> String,
    workspace: &Workspace,
    stop: Stop<'_>,
) -> Option<Analysis> {
    let old = &previous.file;
    let region = Region::find(old, delta, text);
    let removed: Vec<Arc<DocumentAnalysis>> = region
        .numbers
        .clone()
        .filter_map(|number| old.get(number))
        .map(|located| Arc::clone(located.document))
        .collect();
    let before = region.numbers.start.checked_sub(1).and_then(|number| old.get(number));
    let before = before.map_or("", |located| located.document.tree().text());
    let added = read_again(&removed, &region, before, stop)?;
    let mut changed = workspace.changed_since(&previous.workspace);
    if let Changed::Names(names) = &mut changed {
        names.extend(facts::changed(&removed, &added));
    }
    let new = region.numbers.start..region.numbers.start + added.len();
    let file = old.splice(region.numbers, added);
    if stop() {
        return None;
    }
    let mut judged = file.clone();
    let known = ObjectScope { own: &file, workspace };
    judged.renew(&new, &changed, |document| facts::judge(document, known));
    Some(Analysis { file: judged, workspace: workspace.clone() })
}

/// The one piece in which `text` differs from the text of `old`, at least as long as it has to be, and at borders of
/// documents.
pub(super) fn difference(old: &File, text: &str) -> Delta {
    let (mut start, mut behind) = (0, 0);
    for located in old.iter() {
        let known = located.document.tree().text();
        if !text.get(start..).is_some_and(|rest| rest.starts_with(known)) {
            break;
        }
        start += known.len();
    }
    let (old_length, new_length) = (old.bytes(), text.len());
    // From the end, over documents that are not part of the start.
    let room = old_length.min(new_length) - start;
    let mut number = old.len();
    while let Some(located) = number.checked_sub(1).and_then(|last| old.get(last)) {
        let known = located.document.tree().text();
        let fits = behind + known.len() <= room;
        if !fits || !text.get(..new_length - behind).is_some_and(|rest| rest.ends_with(known)) {
            break;
        }
        behind += known.len();
        number = located.number;
    }
    Delta { old: Span::new(start, old_length - behind), new: Span::new(start, new_length - behind) }
}

/// The documents that an edit may have changed, and the text that is there now.
struct Region {
    numbers: Range<usize>,
    text: String,
    /// Where the new documents lie in `text`.
    spans: Vec<Span>,
}

impl Region {
    /// Takes the touched documents, and one on each side: an edit at the very start of a document may make it part of its
    /// neighbour, and its end decides whether the next one is read. Splitting begins at the start of a document with nothing to remember, so it can begin there;
    /// and it may end where it finds the start of an old document again.
    fn find(old: &File, delta: Delta, text: &dyn Fn(Span) -> String) -> Self {
        let first = old.at(delta.old.start).map_or(0, |located| located.number.saturating_sub(1));
        let start = old.get(first).map_or(0, |located| located.offset);
        let mut end = old.at(delta.old.end).map_or(0, |located| located.number + 2);
        loop {
            let next = old.get(end);
            let until = next.map_or(old.bytes(), |located| located.offset) + delta.new.end - delta.old.end;
            let mut text = text(Span::new(start, until));
            let length = text.len();
            if let Some(next) = next {
                text.push_str(first_line(next.document.tree().text()));
            }
            let mut spans = split_documents(&text);
            let border = spans.iter().position(|span| span.start == length);
            if next.is_none() || border.is_some() {
                if let Some(border) = border.filter(|_| next.is_some()) {
                    spans.truncate(border);
                }
                text.truncate(length);
                return Self { numbers: first..end, text, spans };
            }
            end += 1;
        }
    }
}

/// What decides whether a document begins there.
fn first_line(text: &str) -> &str {
    let end = text.find(['\n', '\r']).map_or(text.len(), |at| at + 1);
    &text[..end]
}

/// The documents of the region, those of `removed` where the text is still the same.
fn read_again(
    removed: &[Arc<DocumentAnalysis>],
    region: &Region,
    before: &str,
    stop: Stop<'_>,
) -> Option<Vec<Arc<DocumentAnalysis>>> {
    let slices: Vec<&str> = region.spans.iter().map(|span| span.slice(&region.text)).collect();
    let befores = std::iter::once(before).chain(slices.iter().copied());
    let texts: Vec<(&str, bool)> =
        slices.iter().zip(befores).map(|(text, before)| (*text, form::is_dropped(before, text))).collect();
    let same = |known: &Arc<DocumentAnalysis>, (text, dropped): &(&str, bool)| {
        known.tree().text() == *text && known.is_dropped() == *dropped
    };
    let (head, tail) = shared_ends(removed, &texts, same);
    let mut all = Vec::with_capacity(texts.len());
    for (number, (text, dropped)) in texts.iter().enumerate() {
        if stop() {
            return None;
        }
        all.push(if number < head {
            Arc::clone(&removed[number])
        } else if texts.len() - number <= tail {
            Arc::clone(&removed[removed.len() - (texts.len() - number)])
        } else {
            let mut document = read(text, Retention::Whole, *dropped);
            removed.get(number).into_iter().for_each(|before| document.remember(before));
            Arc::new(document)
        });
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide;
    use proptest::prelude::*;

    fn texts(analysis: &Analysis) -> Vec<String> {
        analysis.file.iter().map(|located| located.document.tree().text().to_owned()).collect()
    }

    /// Small pieces of which documents are made, with everything that starts or ends one.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "---\n",
            "...\n",
            "--- \n",
            "---",
            "-",
            "%YAML 1.2\n",
            "# c\n",
            " \n",
            "\n",
            "\r",
            "a: 1\n",
            "b",
            "é",
            "\u{feff}",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
            "kind: LlamaStackDistribution\n",
            "{\"kind\": \"LlamaStackDistribution\"}",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn an_updated_file_is_as_if_read_anew(
            text in pieces(),
            edits in prop::collection::vec((0_usize..80, 0_usize..30, pieces()), 1..6),
        ) {
            let workspace = Workspace::new();
            let mut now = text;
            let mut analysis = ide::analyse(now.as_str().into(), None, &workspace);
            for (start, length, new) in edits {
                let border = |wanted: usize| (0..=wanted.min(now.len())).rev().find(|at| now.is_char_boundary(*at));
                let start = border(start).unwrap_or(0);
                let end = border(start + length).unwrap_or(0).max(start);
                let delta = Delta::replaced(Span::new(start, end), new.len());
                let mut next = now.clone();
                next.replace_range(start..end, &new);
                let part = |span: Span| next[span.start..span.end].to_owned();
                let updated = update(&analysis, delta, &part, &workspace, &|| false).expect("not stopped");
                let fresh = ide::analyse(next.as_str().into(), None, &workspace);
                prop_assert_eq!(texts(&updated), texts(&fresh));
                prop_assert_eq!(updated.diagnostics(), fresh.diagnostics());
                prop_assert_eq!(updated.objects(), fresh.objects());
                let compared = ide::analyse(next.as_str().into(), Some(&analysis), &workspace);
                prop_assert_eq!(texts(&compared), texts(&fresh));
                (now, analysis) = (next, updated);
            }
        }
    }

    #[test]
    fn only_touched_documents_are_read_again() {
        let text: String = (0..500).map(|number| format!("---\na: {number}\n")).collect();
        let before = ide::analyse(text.as_str().into(), None, &Workspace::new());
        let at = text.find("a: 300").expect("it is there") + 3;
        let mut next = text.clone();
        next.insert(at, '9');
        let delta = Delta::replaced(Span::new(at, at), 1);
        let part = |span: Span| next[span.start..span.end].to_owned();
        let after = update(&before, delta, &part, &Workspace::new(), &|| false).expect("not stopped");
        let same = |number: usize| {
            let tree = |analysis: &Analysis| Arc::clone(analysis.file.get(number).expect("it exists").document);
            Arc::ptr_eq(&tree(&before), &tree(&after))
        };
        assert_eq!((0..500).filter(|number| !same(*number)).collect::<Vec<_>>(), [300]);
    }

    #[test]
    fn documents_that_depend_on_the_edited_one_are_judged_again() {
        let resource = "---\napiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: one}\n\
            spec:\n  distribution: {name: starter}\n  providers:\n    inference:\n      - provider: vllm\n        \
            endpoint: http://v:8000/v1\n        apiKey: {secretKeyRef: {name: keys, key: token}}\n";
        let filler: String = (0..200).map(|number| format!("---\nother: {number}\n")).collect();
        let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {token: x}\n";
        let text = format!("{resource}{filler}{secret}");
        let before = ide::analyse(text.as_str().into(), None, &Workspace::new());
        assert_eq!(before.diagnostics(), []);
        let at = text.rfind("token").expect("it is there");
        let mut next = text.clone();
        next.insert(at, 'x');
        let part = |span: Span| next[span.start..span.end].to_owned();
        let delta = Delta::replaced(Span::new(at, at), 1);
        let after = update(&before, delta, &part, &Workspace::new(), &|| false).expect("not stopped");
        assert_eq!(after.diagnostics().len(), 1, "{:?}", after.diagnostics());
        assert_eq!(after.diagnostics(), ide::analyse(next.as_str().into(), None, &Workspace::new()).diagnostics());
    }
}
