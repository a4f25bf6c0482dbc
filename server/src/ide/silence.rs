//! Comments that silence a rule: `# llsd: ignore[llsd::endpoint::no-path] it serves at the root` for the line that
//! the comment ends, or that comes next, and `# llsd: ignore-document[…] …` for the whole document.
//!
//! A reason belongs to it, for whoever reads the file later. A comment that silences nothing is found in turn: what it
//! stood for has been mended, or was never there.

use super::Span;
use super::types::{CodeFix, Diagnostic, TextEdit};
use llsd_generator::check::rules;
use llsd_generator::check::rules::ignore::{INVALID, UNUSED};
use llsd_generator::nearest::nearest;
use llsd_yaml::{Comment, Document};

/// Rules that depend on other documents: what they find here today, they may not find where not all are known.
const ABOUT_OTHERS: [&str; 3] = ["llsd::reference::", "llsd::config::", "llsd::metadata::duplicate"];

/// What a comment asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wish<'t> {
    /// For all of the document.
    everywhere: bool,
    /// Rules, each with where it stands in the comment.
    rules: Vec<(usize, &'t str)>,
    reason: &'t str,
}

/// One rule of one comment.
#[derive(Debug)]
struct Silence<'t> {
    rule: &'t str,
    /// Where the rule's name stands.
    span: Span,
    /// The comment that asks for silence.
    comment: Comment,
    /// The lines that it is for: from the start of one to the end of another.
    lines: Span,
    used: bool,
    /// Whether the comment names no other rule.
    alone: bool,
}

/// Takes away what comments silence, and adds what is wrong with these. `whole`: nothing of the document is hidden by a
/// syntax error.
pub(crate) fn apply(document: &Document, found: &mut Vec<Diagnostic>, whole: bool) {
    if !document.text().contains("llsd:") {
        return;
    }
    let mut silences = Vec::new();
    for comment in document.comments() {
        match wish(comment.span.slice(document.text())) {
            None => {}
            Some(Err(message)) => found.push(Diagnostic::about_text(&INVALID, comment.span, message, Vec::new())),
            Some(Ok(wish)) => silences.extend(read(document, *comment, &wish, found)),
        }
    }
    found.retain(|one| {
        let mut silenced = false;
        for silence in silences.iter_mut().filter(|silence| silence.covers(one)) {
            silence.used = true;
            silenced = true;
        }
        !silenced
    });
    let unused = silences.iter().filter(|silence| whole && !silence.used && !depends_on_others(silence.rule));
    found.extend(unused.map(|silence| {
        let message = format!("{} is not found here any more: the comment silences nothing", silence.rule);
        let fix = silence.alone.then(|| CodeFix {
            title: "Remove the comment".to_owned(),
            edits: vec![TextEdit { span: removed(document.text(), silence.comment), new_text: String::new() }],
            preferred: true,
        });
        Diagnostic::about_text(&UNUSED, silence.span, message, fix.into_iter().collect())
    }));
}

/// Whether a comment of the document silences what was found elsewhere about a place of it.
pub(crate) fn hides(document: &Document, found: &Diagnostic) -> bool {
    let mut left = vec![found.clone()];
    apply(document, &mut left, false);
    left.first().is_none_or(|one| one.code != found.code || one.span != found.span)
}

impl Silence<'_> {
    fn covers(&self, found: &Diagnostic) -> bool {
        let named = match self.rule.strip_suffix('*') {
            Some(start) => found.code.starts_with(start),
            None => found.code == self.rule,
        };
        named && self.lines.start <= found.span.start && found.span.start <= self.lines.end && found.code != INVALID.id
    }
}

fn depends_on_others(rule: &str) -> bool {
    ABOUT_OTHERS.iter().any(|start| rule.starts_with(start))
}

/// What a comment asks for; `None` if it is none of ours.
fn wish(comment: &str) -> Option<Result<Wish<'_>, String>> {
    let said = comment.trim_start_matches('#').trim_start().strip_prefix("llsd:")?.trim_start();
    let (everywhere, rest) = match (said.strip_prefix("ignore-document"), said.strip_prefix("ignore")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return Some(Err(how("llsd knows no such comment"))),
    };
    let Some((names, reason)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return Some(Err(how("the comment names no rule")));
    };
    let mut at = comment.len() - rest.len() + 1;
    let mut rules = Vec::new();
    for name in names.split(',') {
        let start = at + (name.len() - name.trim_start().len());
        rules.push((start, name.trim()));
        at += name.len() + 1;
    }
    Some(Ok(Wish { everywhere, rules, reason: reason.trim() }))
}

fn how(what: &str) -> String {
    format!("{what}. Write: # llsd: ignore[llsd::family::rule] reason")
}

/// The rules of one comment that exist; the others are told.
fn read<'t>(document: &Document, comment: Comment, wish: &Wish<'t>, found: &mut Vec<Diagnostic>) -> Vec<Silence<'t>> {
    let mut silences = Vec::new();
    let lines = if wish.everywhere { Span::new(0, document.text().len()) } else { lines(document.text(), comment) };
    if wish.reason.is_empty() {
        let message = "A reason belongs behind the bracket, for whoever reads this later".to_owned();
        found.push(Diagnostic::about_text(&INVALID, comment.span, message, Vec::new()));
    }
    for (at, rule) in &wish.rules {
        let span = Span::new(comment.span.start + at, comment.span.start + at + rule.len());
        let known = || rules::all().iter().map(|known| known.id);
        let exists = match rule.strip_suffix('*') {
            Some(start) => known().any(|id| id.starts_with(start)),
            None => known().any(|id| id == *rule),
        };
        if !exists {
            let near = nearest(rule, known()).map(|near| format!(", did you mean {near}?")).unwrap_or_default();
            let message = format!("There is no rule \"{rule}\"{near}");
            let fix = nearest(rule, known()).map(|near| CodeFix {
                title: format!("Change to {near}"),
                edits: vec![TextEdit { span, new_text: near.to_owned() }],
                preferred: false,
            });
            found.push(Diagnostic::about_text(&INVALID, span, message, fix.into_iter().collect()));
            continue;
        }
        silences.push(Silence { rule, span, comment, lines, used: false, alone: wish.rules.len() == 1 });
    }
    silences
}

/// The line that a comment ends, or the first one behind it that has more than a comment.
fn lines(text: &str, comment: Comment) -> Span {
    let line = |at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
        Span::new(start, text[at..].find('\n').map_or(text.len(), |length| at + length))
    };
    if !comment.own_line {
        return line(comment.span.start);
    }
    let mut next = line(comment.span.start).end + 1;
    while next < text.len() {
        let found = line(next);
        let content = found.slice(text).trim();
        if !content.is_empty() && !content.starts_with('#') {
            return found;
        }
        next = found.end + 1;
    }
    Span::new(text.len(), text.len())
}

/// A comment with what stands around it for its sake alone: its line, or the blanks in front of it.
fn removed(text: &str, comment: Comment) -> Span {
    let before = text[..comment.span.start].trim_end_matches([' ', '\t']).len();
    if comment.own_line {
        let end = text[comment.span.end..].find('\n').map_or(text.len(), |length| comment.span.end + length + 1);
        return Span::new(before, end);
    }
    Span::new(before, comment.span.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::{Workspace, analyse};

    const FAULTY: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: a
spec:
  distribution:
    name: startr
";

    fn codes(text: &str) -> Vec<&'static str> {
        analyse(text.into(), None, &Workspace::new()).diagnostics().iter().map(|found| found.code).collect()
    }

    #[test]
    fn a_comment_silences_its_line_the_next_one_or_the_document() {
        let rule = codes(FAULTY)[0];
        let behind = FAULTY.replace("startr", &format!("startr # llsd: ignore[{rule}] comes with release 2"));
        let above = FAULTY.replace(
            "    name: startr",
            &format!("    # llsd: ignore[{rule}] soon\n    # (see 12)\n\n    name: startr"),
        );
        let document = format!("# llsd: ignore-document[llsd::distribution::*] soon\n{FAULTY}");
        for text in [behind, above, document] {
            assert_eq!(codes(&text), Vec::<&str>::new(), "{text}");
        }
        let elsewhere = FAULTY.replace("name: a", &format!("name: a # llsd: ignore[{rule}] soon"));
        assert_eq!(codes(&elsewhere), [UNUSED.id, rule]);
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        let rule = codes(FAULTY)[0];
        for (comment, expected) in [
            (format!("# llsd: ignore[{rule}]"), vec![INVALID.id]),
            ("# llsd: ignore everything".to_owned(), vec![rule, INVALID.id]),
            ("# llsd: ignore[llsd::distribution::unknwn] x".to_owned(), vec![rule, INVALID.id]),
            ("# llsd: silence".to_owned(), vec![rule, INVALID.id]),
            ("# llsd is a tool".to_owned(), vec![rule]),
        ] {
            let text = FAULTY.replace("startr", &format!("startr {comment}"));
            assert_eq!(codes(&text), expected, "{comment}");
        }
    }

    #[test]
    fn unused_comments_go_away() {
        let text = FAULTY.replace("startr", "starter # llsd: ignore[llsd::distribution::unknown] soon");
        let analysis = analyse(text.as_str().into(), None, &Workspace::new());
        let found = analysis.diagnostics();
        assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), [UNUSED.id]);
        let edit = &found[0].fixes[0].edits[0];
        let mended = format!("{}{}", &text[..edit.span.start], &text[edit.span.end..]);
        assert_eq!(mended, FAULTY.replace("startr", "starter"));
    }
}
