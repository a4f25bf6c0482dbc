//! Typing, deleting, editing and pasting, as a person does it, with everything asked on the way.

pub(crate) mod ask;
pub(crate) mod changes;
pub(crate) mod files;
pub(crate) mod rule;

use llsd::ide::{self, Analysis, Diagnostic, Span, Workspace};
use llsd_yaml::Stream;
use rule::{Finished, Present, belongs_to, line_of};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

const SYNTAX: &str = "llsd::yaml::syntax";

/// How many fields are asked for after each step.
const FIELDS: usize = 5;

/// A person at work on one file.
pub(crate) struct Typist<'f> {
    finished: &'f Finished,
    analysis: Option<Analysis>,
    pub(crate) steps: usize,
    /// Steps after which something went against the rules.
    pub(crate) disturbed: usize,
    noted: usize,
    /// What went against the rules, with one example each.
    pub(crate) surprises: BTreeMap<String, String>,
    /// How often a diagnostic elsewhere was right, by the reason.
    pub(crate) granted: BTreeMap<&'static str, usize>,
    /// Everything that went against the rules, step by step; kept where `LLSD_REPLAY_LIST` asks for it.
    pub(crate) all: Option<Vec<String>>,
}

/// A state of the file on its way to the finished one: `text[..start]`, `typed`, `text[end..]`.
#[derive(Clone, Copy)]
pub(crate) struct Gap<'t> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) typed: &'t str,
}

impl Gap<'_> {
    fn cursor(&self) -> usize {
        self.start + self.typed.len()
    }

    /// The lines of the file in this state, from 0, that are being written.
    fn lines(&self, text: &str) -> RangeInclusive<usize> {
        let last = if self.is_whole_lines(text) { self.cursor() - 1 } else { self.cursor() };
        line_of(text, self.start)..=line_of(text, last)
    }

    /// Whether whole lines come between two others, both of which stay as they are.
    fn is_whole_lines(&self, text: &str) -> bool {
        self.typed.ends_with('\n') && line_start(text, self.start) == self.start
    }

    /// An offset of the file in this state as one of the finished file.
    fn finished(&self, at: usize) -> usize {
        if at <= self.cursor() { at.min(self.end) } else { at - self.cursor() + self.end }
    }
}

impl<'f> Typist<'f> {
    pub(crate) fn new(finished: &'f Finished) -> Self {
        let all = std::env::var_os("LLSD_REPLAY_LIST").map(|_| Vec::new());
        let (surprises, granted) = (BTreeMap::new(), BTreeMap::new());
        Self { finished, analysis: None, steps: 0, disturbed: 0, noted: 0, surprises, granted, all }
    }

    /// The file in this state, analysed as a session does after an edit, and looked at.
    pub(crate) fn step(&mut self, gap: Gap<'_>) -> &Analysis {
        let whole = &self.finished.text;
        let text = [&whole[..gap.start], gap.typed, &whole[gap.end..]].concat();
        let now = ide::analyse(text.into(), self.analysis.as_ref(), &Workspace::new());
        self.steps += 1;
        let noted = self.noted;
        let diagnostics = now.diagnostics();
        self.nothing_elsewhere(&now, &diagnostics, gap);
        self.nothing_lost(&now, &diagnostics, gap);
        self.disturbed += usize::from(self.noted > noted);
        ask_everything(&now, gap.cursor(), self.steps.is_multiple_of(25));
        self.analysis.insert(now)
    }

    /// The part of the finished file that is not written: the line being typed, and behind it what is missing.
    fn unwritten(&self, gap: Gap<'_>) -> Span {
        let whole = &self.finished.text;
        if gap.start == gap.end && gap.is_whole_lines(whole) {
            return Span::new(gap.start, gap.end);
        }
        Span::new(line_start(whole, gap.start), line_end(whole, gap.end))
    }

    fn nothing_elsewhere(&mut self, now: &Analysis, diagnostics: &[Diagnostic], gap: Gap<'_>) {
        let text = &*now.text();
        let lines = gap.lines(text);
        let unwritten = self.unwritten(gap);
        let here = |one: &&Diagnostic| lines.contains(&line_of(text, one.span.start));
        let said_here: BTreeSet<_> =
            diagnostics.iter().filter(here).map(|one| (one.code, one.message.as_str())).collect();
        let mut present = None;
        let mut reasons = BTreeSet::new();
        for found in diagnostics {
            let line = line_of(text, found.span.start);
            if lines.contains(&line) {
                continue;
            }
            let at = gap.finished(found.span.start);
            let there = line_of(&self.finished.text, at);
            if self.finished.says(there, found.code)
                || self.finished.has_in(unwritten, found, at)
                || self.finished.judges_whole(unwritten, found, at)
                || self.finished.is_draft(at)
                || said_here.contains(&(found.code, found.message.as_str()))
                || (at >= gap.end && self.finished.belongs_to(unwritten, at))
                || found.related.iter().any(|(other, _)| lines.contains(&line_of(text, other.start)))
                || (found.code == SYNTAX && line == next_with_text(text, *lines.end()))
            {
                continue;
            }
            let present = present.get_or_insert_with(|| Present::new(text, lines_span(text, &lines)));
            if at >= gap.end && present.belongs_to(found.span.start) {
                continue;
            }
            match present.reason(self.finished, unwritten, found, at) {
                Some(reason) => _ = reasons.insert(reason),
                None => self.note(&format!("[{}] {}", found.code, found.message), text, gap, line),
            }
        }
        reasons.into_iter().for_each(|reason| *self.granted.entry(reason).or_default() += 1);
    }

    /// As [`Self::step`]; and elsewhere the fields are explained as before: nothing of the document is left out because
    /// of what is typed.
    pub(crate) fn step_in_sight(&mut self, gap: Gap<'_>) {
        let now = self.step(gap).clone();
        self.nothing_hidden(&now, gap);
    }

    fn nothing_hidden(&mut self, now: &Analysis, gap: Gap<'_>) {
        let fields = &self.finished.fields;
        let unwritten = self.unwritten(gap);
        let mut present = None;
        for turn in 0..FIELDS.min(fields.len()) {
            let (at, header) = &fields[(self.steps * FIELDS + turn * 7) % fields.len()];
            let concerned = |at: usize| unwritten.start <= at && at <= unwritten.end;
            if concerned(*at) || header.iter().any(|at| concerned(*at)) || self.finished.belongs_to(unwritten, *at) {
                continue;
            }
            let there = if *at < gap.start { *at } else { at - gap.end + gap.cursor() };
            if ide::hover(now, there).is_some() {
                continue;
            }
            let text = now.text();
            let (stream, lines) =
                present.get_or_insert_with(|| (Stream::parse(&text), lines_span(&text, &gap.lines(&text))));
            if !(*at >= gap.end && belongs_to(stream, *lines, there)) {
                let key: String = text[there..].chars().take_while(|letter| letter.is_alphanumeric()).collect();
                self.note(&format!("hidden: {key}"), &text, gap, line_of(&text, there));
            }
        }
    }

    /// Other documents keep what is said about them, and their place in the outline.
    fn nothing_lost(&mut self, now: &Analysis, diagnostics: &[Diagnostic], gap: Gap<'_>) {
        let whole = &self.finished.text;
        let documents = self.finished.stream.documents();
        let ends = documents.iter().skip(1).map(|located| located.offset).chain([whole.len()]);
        let unwritten = self.unwritten(gap);
        let symbols = ide::symbols(now);
        let finished = ide::symbols(&self.finished.analysis);
        for (located, end) in documents.iter().zip(ends) {
            // a document begins with its marker: while that is typed, the one before is touched as well
            let touched = located.offset <= unwritten.end && unwritten.start <= end;
            if touched || located.document.root().is_none() {
                continue;
            }
            let own = |span: Span| located.offset <= span.start && span.start < end;
            for missed in self.finished.analysis.diagnostics().iter().filter(|one| own(one.span)) {
                let kept =
                    |one: &Diagnostic| one.code == missed.code && gap.finished(one.span.start) == missed.span.start;
                let about_others = [
                    "llsd::reference",
                    "llsd::config",
                    "llsd::env::",
                    "llsd::metadata::duplicate",
                    "llsd::ogx::not-watched",
                ];
                let about_others = about_others.iter().any(|code| missed.code.starts_with(code));
                if !about_others && !diagnostics.iter().any(kept) {
                    let line = line_of(whole, missed.span.start);
                    self.note(&format!("lost: [{}] {}", missed.code, missed.message), &now.text(), gap, line);
                }
            }
            for missed in finished.iter().filter(|one| own(one.span)) {
                if !symbols
                    .iter()
                    .any(|one| one.name == missed.name && gap.finished(one.span.start) == missed.span.start)
                {
                    let line = line_of(whole, missed.span.start);
                    self.note(&format!("lost symbol: {}", missed.name), &now.text(), gap, line);
                }
            }
        }
    }

    fn note(&mut self, what: &str, text: &str, gap: Gap<'_>, line: usize) {
        self.noted += 1;
        let shown = || {
            let mut shown = text.to_owned();
            shown.insert(gap.cursor(), '█');
            let typed = line_of(text, gap.cursor());
            let from = line.min(typed).saturating_sub(3);
            let lines: Vec<_> = shown.lines().skip(from).take(line.max(typed) - from + 3).collect();
            format!("line {} while line {} is typed:\n{}", line + 1, typed + 1, lines.join("\n"))
        };
        if let Some(all) = &mut self.all {
            all.push(format!("step {}: {what}\n{}", self.steps, shown()));
        }
        self.surprises.entry(what.to_owned()).or_insert_with(shown);
    }
}

/// Spans are inside the text and at characters; nothing panics.
pub(crate) fn ask_everything(analysis: &Analysis, at: usize, thoroughly: bool) {
    let text = analysis.text();
    let sound = |span: Span| assert!(text.get(span.start..span.end).is_some(), "{span:?}");
    ide::complete(analysis, at).iter().for_each(|item| sound(item.insert.span));
    if let Some(found) = ide::hover(analysis, at) {
        sound(found.span);
    }
    if thoroughly {
        let actions = ide::code_actions(analysis, Span::new(at, at));
        actions.iter().flat_map(|action| &action.edits).for_each(|edit| sound(edit.span));
        ide::symbols(analysis).iter().for_each(|symbol| sound(symbol.span));
        let resources = analysis.resources().len();
        assert!((0..resources).filter_map(|number| ide::preview(analysis, number)).count() <= resources);
    }
}

/// The number of the first line behind line `number` that is neither empty nor a comment.
fn next_with_text(text: &str, number: usize) -> usize {
    let mut behind = text.lines().enumerate().skip(number + 1);
    let found = behind.find(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    found.map_or(usize::MAX, |(number, _)| number)
}

/// The part of the text that these lines are.
fn lines_span(text: &str, lines: &RangeInclusive<usize>) -> Span {
    let start = |number: usize| match number {
        0 => 0,
        _ => text.match_indices('\n').nth(number - 1).map_or(text.len(), |(at, _)| at + 1),
    };
    let first = start(*lines.start());
    Span::new(first, start(lines.end() + 1).max(first))
}

pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

pub(crate) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end)
}
