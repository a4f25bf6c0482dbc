//! The list of diagnostics as JSON text, put together from the texts of its parts.
//!
//! The protocol wants the whole list of a file after every key. The text of a part depends on nothing but the part,
//! except for line numbers, so it is kept with the part, and the numbers are filled in each time: what a key costs
//! follows the length of the list only as copying does.

use super::convert::{self, Encoding};
use super::outgoing::json;
use super::publish::{DiagnosticStyle, documentation, level, tag};
use crate::ide::{Analysis, Diagnostic, DiagnosticChunk, Elsewhere, FaultyDocument, Span, Stop};
use crate::settings::Settings;
use ropey::Rope;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;
use tower_lsp::lsp_types::{self as lsp, DiagnosticRelatedInformation, Location, Url};

/// Appends the list of a file's diagnostics. `None`: stopped, and the text is good for nothing.
pub(super) fn list(
    analysis: &Analysis,
    rope: &Rope,
    style: &DiagnosticStyle<'_>,
    out: &mut Vec<u8>,
    stop: Stop<'_>,
) -> Option<()> {
    out.push(b'[');
    let mut empty = true;
    for part in analysis.faulty().take_while(|_| !style.excluded) {
        if stop() {
            return None;
        }
        let (line, movable) = line_of(rope, part.offset);
        let kept = movable.then(|| part.memo.get::<CachedJson>()).flatten().filter(|kept| kept.is_current(style));
        let kept = kept.unwrap_or_else(|| of_part(analysis, part, line, movable, rope, style));
        if kept.text.is_empty() {
            continue;
        }
        if !empty {
            out.push(b',');
        }
        empty = false;
        kept.text.write(line, out);
    }
    out.push(b']');
    Some(())
}

/// Appends more diagnostics to a list that was written at the end of `out`.
pub(super) fn append(more: &[lsp::Diagnostic], out: &mut Vec<u8>) {
    if more.is_empty() {
        return;
    }
    out.pop();
    for one in more {
        if out.last() != Some(&b'[') {
            out.push(b',');
        }
        json(out, one);
    }
    out.push(b']');
}

/// A text and the settings that it was made with; all else it depends on stays the same as long as the document is
/// open.
#[derive(Debug)]
struct CachedJson {
    settings: Arc<Settings>,
    text: JsonFragment,
}

impl CachedJson {
    fn is_current(&self, style: &DiagnosticStyle<'_>) -> bool {
        Arc::ptr_eq(&self.settings, &style.settings)
    }
}

/// `line` is the line on which the part begins; `movable` says that it begins with it, and not inside.
fn of_part(
    analysis: &Analysis,
    part: DiagnosticChunk<'_>,
    line: usize,
    movable: bool,
    rope: &Rope,
    style: &DiagnosticStyle<'_>,
) -> Arc<CachedJson> {
    let mut text = JsonFragment::default();
    let mut movable = movable;
    for document in part.faulty() {
        let (first, fits) = line_of(rope, document.offset);
        movable &= fits;
        let kept = fits.then(|| document.memo.get::<CachedJson>()).flatten().filter(|kept| kept.is_current(style));
        let kept = kept.unwrap_or_else(|| of_document(analysis, document, first, fits, rope, style));
        text.append(&kept.text, first - line);
    }
    let kept = Arc::new(CachedJson { settings: Arc::clone(&style.settings), text });
    if movable && !kept.text.pinned {
        part.memo.set(Arc::clone(&kept));
    }
    kept
}

/// The line of an offset, and whether it begins there.
fn line_of(rope: &Rope, offset: usize) -> (usize, bool) {
    let position = convert::position(rope, offset, Encoding::Utf8);
    (position.line as usize, position.character == 0)
}

fn of_document(
    analysis: &Analysis,
    document: FaultyDocument<'_>,
    first: usize,
    movable: bool,
    rope: &Rope,
    style: &DiagnosticStyle<'_>,
) -> Arc<CachedJson> {
    let mut writer = Writer { text: JsonFragment::default(), analysis, rope, style, offset: document.offset, first };
    document.diagnostics.iter().for_each(|diagnostic| writer.diagnostic(diagnostic));
    let kept = Arc::new(CachedJson { settings: Arc::clone(&style.settings), text: writer.text });
    if movable && !kept.text.pinned {
        document.memo.set(Arc::clone(&kept));
    }
    kept
}

/// JSON without its line numbers: where they go, and the lines, counted from the one where the text's subject begins.
#[derive(Debug, Default)]
struct JsonFragment {
    json: Vec<u8>,
    lines: Vec<(usize, usize)>,
    /// Whether it names places outside of its subject, so that it is good for this moment only.
    pinned: bool,
}

impl JsonFragment {
    fn is_empty(&self) -> bool {
        self.json.is_empty()
    }

    /// Adds list items whose subject begins `lines` lines behind that of this text.
    fn append(&mut self, other: &Self, lines: usize) {
        if other.is_empty() {
            return;
        }
        if !self.is_empty() {
            self.json.push(b',');
        }
        self.pinned |= other.pinned;
        let start = self.json.len();
        self.json.extend_from_slice(&other.json);
        self.lines.extend(other.lines.iter().map(|(at, line)| (start + at, lines + line)));
    }

    /// Appends the text with the numbers filled in for a subject that begins on `line`.
    fn write(&self, line: usize, out: &mut Vec<u8>) {
        // Line numbers rarely have more digits.
        out.reserve(self.json.len() + 6 * self.lines.len());
        let mut done = 0;
        for (at, relative) in &self.lines {
            out.extend_from_slice(&self.json[done..*at]);
            number(line + relative, out);
            done = *at;
        }
        out.extend_from_slice(&self.json[done..]);
    }
}

fn number(number: usize, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let (mut at, mut rest) = (digits.len(), number);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes the diagnostics of one document.
struct Writer<'a> {
    text: JsonFragment,
    analysis: &'a Analysis,
    rope: &'a Rope,
    style: &'a DiagnosticStyle<'a>,
    /// Where the document begins, in bytes and as a line.
    offset: usize,
    first: usize,
}

impl Writer<'_> {
    fn diagnostic(&mut self, found: &Diagnostic) {
        let Some(severity) = self.style.settings.severity.of(found.code, found.severity) else { return };
        if !self.text.is_empty() {
            self.raw(",");
        }
        self.raw("{\"range\":");
        self.range(found.span);
        self.raw(",\"severity\":");
        self.json(&level(severity));
        self.raw(",\"code\":");
        self.json(found.code);
        if let Some(href) = documentation(found.code) {
            self.raw(",\"codeDescription\":{\"href\":");
            self.json(&href);
            self.raw("}");
        }
        self.raw(",\"source\":\"llsd\",\"message\":");
        self.json(&found.message);
        let elsewhere = found.elsewhere.as_ref().filter(|_| self.style.related);
        self.text.pinned |= elsewhere.is_some();
        let elsewhere = elsewhere.and_then(|other| self.elsewhere(other, found.span));
        if self.style.related && (elsewhere.is_some() || !found.related.is_empty()) {
            self.raw(",\"relatedInformation\":[");
            for (number, (span, message)) in found.related.iter().enumerate() {
                if number > 0 {
                    self.raw(",");
                }
                self.raw("{\"location\":{\"uri\":");
                self.json(self.style.uri);
                self.raw(",\"range\":");
                self.range(*span);
                self.raw("},\"message\":");
                self.json(message);
                self.raw("}");
            }
            if let Some(elsewhere) = elsewhere {
                if !found.related.is_empty() {
                    self.raw(",");
                }
                self.json(&elsewhere);
            }
            self.raw("]");
        }
        if !found.tags.is_empty() {
            self.raw(",\"tags\":");
            self.json(&found.tags.iter().map(tag).collect::<Vec<_>>());
        }
        self.raw("}");
    }

    /// The other resource of a name that is taken twice, with the lines of this moment.
    fn elsewhere(&self, other: &Elsewhere, span: Span) -> Option<DiagnosticRelatedInformation> {
        let location = match other.file {
            Some(_) => self.style.elsewhere(other)?,
            None => {
                let span = self.analysis.named_at(&other.resource, Some(span.shift(self.offset)))?;
                Location {
                    uri: Url::parse(self.style.uri).ok()?,
                    range: convert::range(self.rope, span, self.style.encoding),
                }
            }
        };
        Some(DiagnosticRelatedInformation { location, message: other.message.to_owned() })
    }

    fn range(&mut self, span: Span) {
        let range = convert::range(self.rope, span.shift(self.offset), self.style.encoding);
        self.raw("{\"start\":");
        self.position(range.start.line, range.start.character);
        self.raw(",\"end\":");
        self.position(range.end.line, range.end.character);
        self.raw("}");
    }

    fn position(&mut self, line: u32, character: u32) {
        self.raw("{\"line\":");
        self.text.lines.push((self.text.json.len(), line as usize - self.first));
        // Writing to memory does not fail.
        let _ = write!(self.text.json, ",\"character\":{character}}}");
    }

    fn raw(&mut self, text: &str) {
        self.text.json.extend_from_slice(text.as_bytes());
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        json(&mut self.text.json, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::{self, Delta, Workspace};
    use crate::lsp::publish::converted;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn style(settings: &Value, encoding: Encoding, related: bool) -> DiagnosticStyle<'static> {
        let settings = Arc::new(Settings::read(settings).0);
        DiagnosticStyle { uri: "file:///a%20b.yaml", settings, excluded: false, encoding, related, shared: None }
    }

    fn written(analysis: &Analysis, rope: &Rope, style: &DiagnosticStyle<'_>) -> Value {
        let mut out = Vec::new();
        list(analysis, rope, style, &mut out, &|| false).expect("not stopped");
        serde_json::from_slice(&out).expect("it is JSON")
    }

    fn expected(analysis: &Analysis, rope: &Rope, style: &DiagnosticStyle<'_>) -> Value {
        serde_json::to_value(converted(style, rope, analysis.diagnostics())).expect("it can be written")
    }

    /// Documents with findings of all shapes: related places, tags, letters outside of the first plane, syntax errors.
    fn pieces() -> impl Strategy<Value = String> {
        let head = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: one}\n";
        let spec = "spec:\n  distribution: {name: starter}\n  providers:\n    inference:\n";
        let piece = prop::sample::select(vec![
            "---\n".to_owned(),
            "---".to_owned(),
            "\r\n".to_owned(),
            "# \u{1F999} é\n".to_owned(),
            "other: 1\n".to_owned(),
            format!("---\n{head}{spec}      - {{provider: vllm, endpoint: \"http://v:8000\"}}\n"),
            format!("---\r\n{head}{spec}      - {{provider: \"\u{1F999}\", modles: 1}} # \u{1F999}\n"),
            format!("---\n{head}{spec}      - {{id: a, provider: vllm}}\n      - {{id: a, provider: ollama}}\n"),
            format!("---\n{head}{spec}      - provider: vllm\n       broken\n"),
            "      - {id: a, provider: ollama}\n".to_owned(),
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_text_says_what_the_list_does(
            text in pieces(),
            edits in prop::collection::vec((0_usize..4000, 0_usize..200, pieces()), 1..4),
            utf8 in any::<bool>(),
            related in any::<bool>(),
        ) {
            let style = style(&json!({}), if utf8 { Encoding::Utf8 } else { Encoding::Utf16 }, related);
            let workspace = Workspace::new();
            let mut now = text;
            let mut analysis = ide::analyse(now.as_str().into(), None, &workspace);
            for (start, length, new) in edits {
                let rope = Rope::from_str(&now);
                prop_assert_eq!(written(&analysis, &rope, &style), expected(&analysis, &rope, &style));
                let border = |wanted: usize| (0..=wanted.min(now.len())).rev().find(|at| now.is_char_boundary(*at));
                let start = border(start).unwrap_or(0);
                let end = border(start + length).unwrap_or(0).max(start);
                let delta = Delta::replaced(Span::new(start, end), new.len());
                now.replace_range(start..end, &new);
                let part = |span: Span| now[span.start..span.end].to_owned();
                analysis = ide::update(&analysis, delta, &part, &workspace, &|| false).expect("not stopped");
                let rope = Rope::from_str(&now);
                prop_assert_eq!(written(&analysis, &rope, &style), expected(&analysis, &rope, &style));
            }
        }
    }

    #[test]
    fn other_settings_make_another_text() {
        let text = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nspec: {port: 1}\n";
        let analysis = ide::analyse(text.into(), None, &Workspace::new());
        let rope = Rope::from_str(text);
        let settings =
            [json!({}), json!({"severity": {"llsd::*": "off"}}), json!({"severity": {"llsd::*": "hint"}}), json!({})];
        let lists = settings.map(|settings| {
            let style = style(&settings, Encoding::Utf16, true);
            let written = written(&analysis, &rope, &style);
            assert_eq!(written, expected(&analysis, &rope, &style));
            written
        });
        assert_ne!(lists[0], json!([]));
        assert_eq!(lists[1], json!([]));
        assert_eq!(lists[0], lists[3]);
        let excluded = DiagnosticStyle { excluded: true, ..style(&json!({}), Encoding::Utf16, true) };
        assert_eq!(written(&analysis, &rope, &excluded), json!([]));
    }

    #[test]
    fn a_part_that_stays_is_not_written_again() {
        let resource = "---\napiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nspec: {port: 1}\n";
        let text = resource.repeat(100);
        let analysis = ide::analyse(text.as_str().into(), None, &Workspace::new());
        let style = style(&json!({}), Encoding::Utf16, true);
        written(&analysis, &Rope::from_str(&text), &style);
        let next = format!("# a line more\n{text}");
        let delta = Delta::replaced(Span::new(0, 0), next.len() - text.len());
        let part = |span: Span| next[span.start..span.end].to_owned();
        let after = ide::update(&analysis, delta, &part, &Workspace::new(), &|| false).expect("not stopped");
        let kept = after.faulty().filter(|part| part.memo.get::<CachedJson>().is_some()).count();
        let all = after.faulty().count();
        assert!(all > 3 && kept >= all - 2, "{kept} of {all}");
        let rope = Rope::from_str(&next);
        assert_eq!(written(&after, &rope, &style), expected(&after, &rope, &style));
    }
}
