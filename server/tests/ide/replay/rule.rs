//! The rule of typing: what may be said about other lines than the one being typed.
//!
//! A diagnostic on another line is allowed in these cases only.
//!
//! 1. The finished file has it too: the same code on the same line, or one of the same family: a field that is in the
//!    wrong place is first one that nobody knows, and a header is wrong in another way while it is half-written.
//! 2. It speaks of something not written yet. That is decided by looking: its rule is one of those below that report
//!    an absence, the finished file has what is said to be absent, and has it in the part that is not written, or below
//!    a key of it. What a rule says of a mapping or list as a whole speaks of each of its parts; only an unknown field
//!    and a syntax error are faults of their own place.
//! 3. The line belongs to a key that is not written: in the finished file, a key on the line being typed is an
//!    ancestor of what stands there; or something on the line being typed is so in the text as it is now. This can
//!    only happen below an edit in the middle.
//! 4. It is about two places, and the other one is on the line being typed: a name that is there twice.
//!    Or the same is said on the line being typed: what is typed there is used in two places.
//! 5. It is a syntax error on the next line with text: where two lines do not fit together, either can be at fault.
//! 6. What is typed is a part of what it judges, in the text as it is now, and that is no matter of opinion: either the
//!    text is well-formed, so that YAML itself says what is a part of what; or the rule is one of those that report a
//!    thing too many, and it is there. Not so for unknown fields and syntax errors, as above.
//! 7. What is typed is, or was, the marker of a document. Then what was one document is two, of which the upper one
//!    lacks what stands in the lower one, and the lower one is no whole; or what was two is one, in which every key of
//!    the first is there twice.
//! 8. What is typed says what kind of document it is in, which says so once more elsewhere. Every field is judged by the
//!    last `apiVersion` and `kind`, and each of them is there twice.
//! 9. It is about a config of the server, whose sections speak of each other and tell together which version it is for: a
//!    provider that is half-written is none yet, and its API is served by nobody. So do a config and the resource that
//!    runs it, and the providers of an OGXServer, of which its config is made.
//!
//! What is let go by the last four is counted by the reason, since more of it could mean that too much is let go.

use llsd::ide::{self, Analysis, Diagnostic, Span, Workspace};
use llsd_generator::check::Rule;
use llsd_generator::check::rules::{becomes_number, env, mounted_config, server_config};
use llsd_generator::ogx::rules::watch;
use llsd_generator::path::{Path, Segment};
use llsd_yaml::{Document, Node, Step, Stream};
use std::collections::BTreeSet;

const SYNTAX: &str = "llsd::yaml::syntax";

/// What is said of a config of the server and depends on its other sections, or on the version that these tell.
const BETWEEN_SECTIONS: [&Rule; 20] = [
    &becomes_number::BECOMES_NUMBER,
    &server_config::API_MISMATCH,
    &server_config::DANGLING,
    &server_config::DUPLICATE,
    &server_config::DEPRECATED,
    &server_config::MISSING,
    &server_config::RENAMED_KEY,
    &server_config::UNKNOWN_API,
    &server_config::UNKNOWN_KEY,
    &server_config::UNKNOWN_TYPE,
    &server_config::WRONG_VALUE,
    &mounted_config::DISABLED_API,
    &mounted_config::LOCAL_STORAGE,
    &mounted_config::PORT,
    &mounted_config::UNMOUNTED_PATH,
    &mounted_config::UNSET_VARIABLE,
    &mounted_config::WRONG_VARIABLE,
    &env::UNREAD,
    &env::WITHOUT_EFFECT,
    &watch::NOT_WATCHED,
];

/// The same of an OGXServer.
const BETWEEN_PROVIDERS: [&str; 2] = ["llsd::ogx::refused", "llsd::ogx::guessed-provider"];

/// A file as it will be.
pub(crate) struct Finished {
    pub(crate) text: String,
    pub(crate) analysis: Analysis,
    pub(crate) stream: Stream,
    said: BTreeSet<(usize, &'static str)>,
    /// Fields of resources that are explained under the pointer, each with the offsets of what makes it a resource.
    pub(crate) fields: Vec<(usize, Vec<usize>)>,
}

/// Where to look for what a rule finds absent.
enum Absent {
    /// At the diagnostic's own path.
    Itself,
    /// Inside what stands at its path.
    Inside,
    /// At its path, or where an older draft has it: `host` beside it.
    ItselfOrHost,
    /// A word of the message in quotes, as a value or key, alone or behind `::`.
    Named,
    /// At one of these paths of the resource.
    At(&'static [&'static str]),
}

/// The rules that report an absence.
fn absent(found: &Diagnostic) -> Option<Absent> {
    let says = |words: &[&str]| words.iter().any(|words| found.message.contains(words));
    Some(match found.code {
        "llsd::schema::required" => Absent::Itself,
        "llsd::provider::missing-setting" => Absent::ItselfOrHost,
        "llsd::kind::unknown-kind" if says(&["is missing"]) => Absent::Itself,
        "llsd::metadata::field" if says(&["needs a name"]) => Absent::Itself,
        "llsd::distribution::missing" => Absent::Inside,
        "llsd::schema::bounds" if says(&["must not be empty: at least one of"]) => Absent::Inside,
        "llsd::cel::rule" if says(&["must be specified", "is required when"]) => Absent::Inside,
        "llsd::reference::no-key" | "llsd::config::missing-key" | "llsd::model::unknown-provider" => Absent::Named,
        "llsd::ogx::labels-unreadable" => Absent::At(&["spec.overrideConfig", "spec.baseConfig"]),
        "llsd::config::missing-file" => Absent::At(&["spec.server.userConfig", "spec.server.podOverrides"]),
        _ => return None,
    })
}

impl Finished {
    pub(crate) fn new(text: &str) -> Self {
        let analysis = ide::analyse(text.into(), None, &Workspace::new());
        let said = analysis.diagnostics().iter().map(|one| (line_of(text, one.span.start), one.code)).collect();
        let stream = Stream::parse(text);
        let fields = fields(&stream, &analysis);
        Self { text: text.to_owned(), stream, analysis, said, fields }
    }

    /// What the finished file says: line, from 0, and code.
    pub(crate) fn said(&self) -> &BTreeSet<(usize, &'static str)> {
        &self.said
    }

    /// Whether the finished file has the finding on this line, or one of the same family.
    pub(crate) fn says(&self, line: usize, code: &'static str) -> bool {
        let family = |code: &str| match code {
            "llsd::schema::misplaced-field" => "llsd::schema::unknown-field".to_owned(),
            code if code.starts_with("llsd::kind::") => "llsd::kind".to_owned(),
            code => code.to_owned(),
        };
        self.said.iter().any(|(at, said)| *at == line && family(said) == family(code))
    }

    /// Whether `found`, which would stand at `at` of the finished file, speaks of something in its part `unwritten`.
    pub(crate) fn has_in(&self, unwritten: Span, found: &Diagnostic, at: usize) -> bool {
        let Some(absent) = absent(found) else { return false };
        let Some((document, offset)) = self.document(at) else { return false };
        let later = |span: Span| unwritten.contains(offset + span.start) && offset + span.start < unwritten.end;
        let begins = |node: Node<'_>| {
            later(node.span())
                || node.entry().is_some_and(|entry| later(entry.span))
                || self.belongs_to(unwritten, offset + node.span().start)
        };
        let overlaps = |node: Node<'_>| {
            let span = node.span().shift(offset);
            span.start.max(unwritten.start) < span.end.min(unwritten.end)
        };
        let places = |path: &str| self.places(path, at).into_iter();
        match absent {
            Absent::Itself => places(&found.path).filter_map(|steps| document.find(&steps)).any(begins),
            Absent::ItselfOrHost => places(&found.path)
                .flat_map(|steps| {
                    let (_, provider) = steps.split_last().unwrap_or((&Step::Index(0), &[]));
                    let host = [provider, &[Step::Key("host".to_owned())]].concat();
                    [steps.clone(), host]
                })
                .filter_map(|steps| document.find(&steps))
                .any(begins),
            Absent::Inside => places(&found.path).filter_map(|steps| document.find(&steps)).any(overlaps),
            Absent::At(paths) => {
                paths.iter().flat_map(|path| places(path)).filter_map(|steps| document.find(&steps)).any(begins)
            }
            Absent::Named => self.names_in(unwritten, &found.message),
        }
    }

    /// Whether `found` reports an absence, or judges a whole, and the part `elsewhere` has some of it.
    fn lacks(&self, elsewhere: Span, found: &Diagnostic, at: usize) -> bool {
        self.has_in(elsewhere, found, at) || self.judges_whole(elsewhere, found, at)
    }

    /// Whether a quoted word of `message` stands in the part `unwritten`.
    fn names_in(&self, unwritten: Span, message: &str) -> bool {
        let words: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
        let is_named = |node: Node<'_>| {
            let text = node.value();
            words.iter().any(|word| text == *word || text.ends_with(&format!("::{word}")))
        };
        self.stream.documents().iter().any(|located| {
            let mut scalars = located.document.nodes().filter(Node::is_scalar);
            let missing = |at: usize| unwritten.contains(at) || self.belongs_to(unwritten, at);
            scalars.any(|node| is_named(node) && missing(located.offset + node.span().start))
        })
    }

    /// Whether what stands at `at` has an ancestor whose key is in the part `unwritten`.
    pub(crate) fn belongs_to(&self, unwritten: Span, at: usize) -> bool {
        belongs_to(&self.stream, unwritten, at)
    }

    /// Whether `found`, which would stand at `at`, is about a whole of which a part is not written.
    pub(crate) fn judges_whole(&self, unwritten: Span, found: &Diagnostic, at: usize) -> bool {
        if found.code.starts_with("llsd::yaml::") || found.code == "llsd::schema::unknown-field" {
            return false;
        }
        let Some((document, offset)) = self.document(at) else { return false };
        let Some(node) = at.checked_sub(offset).and_then(|at| document.node_at(at)) else { return false };
        let whole = if node.is_key() { node.entry().map(|entry| entry.span) } else { Some(node.span()) };
        whole.is_some_and(|span| {
            let span = span.shift(offset);
            span.start.max(unwritten.start) < span.end.min(unwritten.end)
        })
    }

    /// Whether a draft's finding of the finished file speaks for everything at `at`.
    pub(crate) fn is_draft(&self, at: usize) -> bool {
        let drafts = self.analysis.diagnostics();
        let mut drafts = drafts.iter().filter(|one| one.code.starts_with("llsd::draft::"));
        drafts.any(|draft| self.belongs_to(draft.span, at))
    }

    fn document(&self, at: usize) -> Option<(&Document, usize)> {
        document(&self.stream, at)
    }

    /// The ways to a place of the resource around `at`.
    fn places(&self, path: &str, at: usize) -> Vec<Vec<Step>> {
        let Some((document, offset)) = self.document(at) else { return Vec::new() };
        let path = Path::parse(path);
        let steps = path.segments().iter().map(|segment| match segment {
            Segment::Key(name) => Step::Key(name.clone()),
            Segment::Index(number) => Step::Index(*number),
        });
        let steps: Vec<Step> = steps.collect();
        let mut places = vec![steps.clone()];
        for list in ["items", "objects"] {
            let items = document.root().and_then(|root| root.get(list));
            let holds = |item: &Node<'_>| item.span().shift(offset).contains(at);
            if let Some(number) = items.and_then(|items| items.items().position(|item| holds(&item))) {
                let base = [Step::Key(list.to_owned()), Step::Index(number)];
                places.push(base.into_iter().chain(steps.clone()).collect());
            }
        }
        places
    }
}

/// Whether the rule reports that something is there too often.
fn is_crowded(found: &Diagnostic) -> bool {
    let says = |words: &[&str]| words.iter().any(|words| found.message.contains(words));
    match found.code {
        "llsd::cel::rule" => says(&["when multiple", "duplicate "]),
        _ => false,
    }
}

/// A state of a file.
pub(crate) struct Present {
    stream: Stream,
    text: String,
    /// The lines that are typed.
    touched: Span,
}

impl Present {
    pub(crate) fn new(text: &str, touched: Span) -> Self {
        Self { stream: Stream::parse(text), text: text.to_owned(), touched }
    }

    /// Whether what stands at `at` has an ancestor on the lines that are typed.
    pub(crate) fn belongs_to(&self, at: usize) -> bool {
        belongs_to(&self.stream, self.touched, at)
    }

    /// Why `found`, which would stand at `at` of the finished file, is right.
    pub(crate) fn reason(
        &self,
        finished: &Finished,
        unwritten: Span,
        found: &Diagnostic,
        at: usize,
    ) -> Option<&'static str> {
        if BETWEEN_SECTIONS.iter().any(|rule| rule.id == found.code) || BETWEEN_PROVIDERS.contains(&found.code) {
            return Some("another section of a config");
        }
        let own = found.code.starts_with("llsd::yaml::") || found.code == "llsd::schema::unknown-field";
        if !own && self.holds_touched(found.span.start) {
            if is_crowded(found) {
                return Some("one too many");
            }
            if self.is_well_formed(found.span.start) {
                return Some("well-formed");
            }
        }
        self.markers(finished, unwritten, found, at).or_else(|| self.header(found).then_some("two headers"))
    }

    /// Whether a document that has `found` in it has a header on the lines that are typed, and another one.
    fn header(&self, found: &Diagnostic) -> bool {
        let Some((document, offset)) = document(&self.stream, found.span.start) else { return false };
        let kinds = document.root().into_iter().flat_map(|root| root.entries());
        let kinds = kinds.filter(|entry| entry.key.value() == "kind").map(|entry| offset + entry.key.span().start);
        let (typed, others): (Vec<_>, Vec<_>) =
            kinds.partition(|at| (self.touched.start..self.touched.end).contains(at));
        found.code != SYNTAX && !typed.is_empty() && !others.is_empty()
    }

    fn markers(&self, finished: &Finished, unwritten: Span, found: &Diagnostic, at: usize) -> Option<&'static str> {
        let marker = |text: &str, span: Span| text[span.start..span.end].lines().any(|line| line.starts_with("---"));
        let (was, is) = (marker(&finished.text, unwritten), marker(&self.text, self.touched));
        let own = |span: Span| span.start <= self.touched.end && self.touched.start <= span.end;
        let documents = self.stream.documents();
        let ends = documents.iter().skip(1).map(|located| located.offset).chain([self.text.len()]);
        let mut spans = documents.iter().zip(ends).map(|(located, end)| Span::new(located.offset, end));
        let concerned = spans.any(|span| span.contains(found.span.start) && own(span));
        if was && !is {
            return concerned.then_some("documents joined");
        }
        if is && !was && concerned {
            let below = found.span.start >= self.touched.end;
            return (below || finished.lacks(Span::new(at, finished.text.len()), found, at)).then_some("document cut");
        }
        None
    }

    /// Whether what is judged at `at` has something of the lines that are typed in it.
    fn holds_touched(&self, at: usize) -> bool {
        let Some((document, offset)) = document(&self.stream, at) else { return false };
        let Some(node) = at.checked_sub(offset).and_then(|at| document.node_at(at)) else { return false };
        let whole = if node.is_key() { node.entry().map(|entry| entry.span) } else { Some(node.span()) };
        whole.is_some_and(|span| {
            let span = span.shift(offset);
            span.start.max(self.touched.start) < span.end.min(self.touched.end)
        })
    }

    fn is_well_formed(&self, at: usize) -> bool {
        document(&self.stream, at)
            .is_some_and(|(document, _)| document.errors().is_empty() && document.strict_error().is_none())
    }
}

/// The keys that the schema explains.
fn fields(stream: &Stream, analysis: &Analysis) -> Vec<(usize, Vec<usize>)> {
    let mut found = Vec::new();
    for located in stream.documents() {
        for node in located.document.nodes().filter(|node| node.is_key()) {
            let at = located.offset + node.span().start;
            let mut root = node;
            while let Some(outer) = root.parent() {
                root = outer;
                if root.get("apiVersion").is_some() && root.get("kind").is_some() {
                    break;
                }
            }
            let ours = root.get("kind").is_some_and(|kind| kind.value() == "LlamaStackDistribution");
            let below = node.path();
            let below = |name: &str| below.iter().any(|step| matches!(step, Step::Key(key) if key == name));
            let open = ["settings", "secretRefs", "config"].into_iter().any(below);
            if !ours || open || ide::hover(analysis, at).is_none() {
                continue;
            }
            // of a list, both that of the item and that of the list
            let roots = [Some(root), located.document.root()].into_iter().flatten();
            let header =
                roots.flat_map(|root| ["apiVersion", "kind"].into_iter().filter_map(move |name| root.get(name)));
            found.push((at, header.map(|value| located.offset + value.span().start).collect()));
        }
    }
    found
}

/// The number of the line at `offset`, from 0.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count()
}

/// Whether what stands at `at` has an ancestor whose key or dash is in `part`.
pub(crate) fn belongs_to(stream: &Stream, part: Span, at: usize) -> bool {
    let Some((document, offset)) = document(stream, at) else { return false };
    let mut node = document.node_at(at - offset);
    while let Some(inner) = node {
        let sign = inner.key().map(|key| key.span().start).or_else(|| {
            // an item's sign is its dash, on the line where the item begins
            inner.parent().filter(Node::is_sequence).map(|_| inner.span().start)
        });
        if sign.is_some_and(|sign| part.contains(offset + sign)) {
            return true;
        }
        node = inner.parent();
    }
    false
}

fn document(stream: &Stream, at: usize) -> Option<(&Document, usize)> {
    let located = stream.documents().iter().rfind(|located| located.offset <= at)?;
    Some((&located.document, located.offset))
}
