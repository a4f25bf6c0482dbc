//! The answers, as plain data. Offsets are bytes of the file's text; no type here knows an editor protocol.

use super::{FileEdits, ObjectKey, Span};
use llsd_generator::check::Rule;
pub use llsd_generator::check::finding::{Severity, Tag};
/// Edits of one action do not overlap, and all refer to the text as it is.
pub use llsd_yaml::edit::TextEdit;
use std::sync::Arc;

/// A change that makes a diagnostic go away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFix {
    /// In the imperative: `Rename "modles" to "models"`.
    pub title: String,
    /// The edits, which only make sense together. Spans refer to the text before all of them.
    pub edits: Vec<TextEdit>,
    /// Whether `llsd fix` and `source.fixAll` apply it without asking.
    pub preferred: bool,
}

/// Something wrong at a place of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The bytes to underline; those of the key around it where the place does not exist.
    pub span: Span,
    /// The severity after settings of the user.
    pub severity: Severity,
    /// The rule's stable name: `llsd::provider::unknown-type`.
    pub code: &'static str,
    /// The sentence for the user.
    pub message: String,
    /// Struck through or greyed out.
    pub tags: Vec<Tag>,
    /// Other places of the file that belong to it.
    pub related: Vec<(Span, String)>,
    /// The other resource, for one whose name is taken twice: it may be in another file.
    pub elsewhere: Option<Elsewhere>,
    /// Changes that would mend it, best first.
    pub fixes: Vec<CodeFix>,
    /// The API server's own words, where it would say it too.
    pub api_server_message: Option<String>,
    /// Where in the resource: `spec.providers.inference[0].id`. Empty for a syntax error.
    pub path: String,
    /// Number of the document in the file, from 0.
    pub document: usize,
}

impl Diagnostic {
    /// A diagnostic about the text itself, which belongs to no path of a resource. It is as severe as the rule says.
    pub(crate) fn about_text(rule: &'static Rule, span: Span, message: String, fixes: Vec<CodeFix>) -> Self {
        Self {
            span,
            severity: rule.severity,
            code: rule.id,
            message,
            tags: Vec::new(),
            related: Vec::new(),
            elsewhere: None,
            fixes,
            api_server_message: None,
            path: String::new(),
            document: 0,
        }
    }
}

/// Something that nobody can say anything about: a rule that could not be decided, or a document without a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    /// The place that the rule speaks of, or the start of the document.
    pub span: Span,
    /// The rule, by its id or its expression; `None`: no rule looks at this document.
    pub rule: Option<String>,
    /// What is missing, in a few words.
    pub reason: String,
    /// Where in the resource; empty for a document without one.
    pub path: String,
    /// Number of the document in the file, from 0.
    pub document: usize,
}

/// A resource that a diagnostic points at. Its place is looked up when somebody wants to see it, as it changes with each
/// line above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The file; `None`: the same one.
    pub file: Option<Arc<str>>,
    /// Namespace and name of the resource whose place is meant.
    pub resource: ObjectKey,
    /// What it has to do with the diagnostic.
    pub message: &'static str,
}

/// What kind of thing a completion inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A key of a mapping.
    Field,
    /// One of a fixed set of values.
    Enum,
    /// `true`, `false`, a number or another plain value.
    Value,
    /// A provider type or provider id.
    Provider,
    /// A name declared elsewhere: a provider id, a Secret, a key, a model.
    Reference,
    /// A larger piece with places to fill in.
    Snippet,
}

/// One offer at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionItem {
    /// The text that the list shows and matches against what was typed.
    pub label: String,
    /// The kind, from which clients choose an icon.
    pub kind: CompletionKind,
    /// One short line beside the label: a type, a default.
    pub detail: String,
    /// Markdown for the side panel.
    pub documentation: String,
    /// What accepting it does. The span covers what was typed so far.
    pub insert: TextEdit,
    /// Whether `insert.new_text` is a snippet: `$1`, `${2:text}`, `$0`; `\`, `$` and `}` of plain text are escaped.
    pub snippet: bool,
    /// The rank in the list: items with smaller numbers come first.
    pub sort: u32,
    /// What the editor matches the typed text against.
    pub filter: String,
}

/// What to show for the place under the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The text it speaks of.
    pub span: Span,
    /// What is shown, as Markdown with code blocks.
    pub markdown: String,
}

/// What kind of change an action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// Mends the diagnostics at the place.
    QuickFix,
    /// Rewrites without changing the meaning, such as a migration.
    Rewrite,
}

/// One offered change: of the file, and perhaps of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeAction {
    /// What the menu shows, in the imperative.
    pub title: String,
    /// The kind, by which clients group and filter actions.
    pub kind: ActionKind,
    /// The edits of this file, which only make sense together.
    pub edits: Vec<TextEdit>,
    /// Changes of other files, applied with them.
    pub others: Vec<FileEdits>,
    /// A file that goes away with it.
    pub deletes: Option<Arc<str>>,
    /// Whether it is the obvious choice at its place.
    pub preferred: bool,
    /// The code of the diagnostic it mends, and where that is drawn.
    pub fixes: Option<(&'static str, Span)>,
}

/// What an outline entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A whole `LlamaStackDistribution`.
    Resource,
    /// A section such as `providers`.
    Section,
    /// An entry of `providers` or `externalProviders`.
    Provider,
    /// A model, shield or tool group.
    Item,
    /// Any other field that is worth a line in the outline.
    Field,
}

/// One entry of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What the outline shows; never empty.
    pub name: String,
    /// More about it, which clients show greyed beside the name.
    pub detail: String,
    /// The kind, from which clients choose an icon.
    pub kind: SymbolKind,
    /// The bytes of the whole entry, children included.
    pub span: Span,
    /// What to select on a click; inside `span`.
    pub selection: Span,
    /// The symbols inside of it, in the order of the text.
    pub children: Vec<Symbol>,
}

/// Where a line of the preview comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginKind {
    /// A field of the resource; `path` is its path, `source_span` its place.
    Resource,
    /// A line of the base config; `path` is its line number, from 1.
    Base,
    /// A default of the operator; `path` names it.
    Default,
    /// A rule of generation; `path` names it.
    Rule,
}

/// The origin of one line of the preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineOrigin {
    /// Whether the line comes from the resource, the base config or the operator.
    pub kind: OriginKind,
    /// The path in the resource, or the place in the base config.
    pub path: String,
    /// Where in this file, for `OriginKind::Resource`.
    pub source_span: Option<Span>,
}

/// One environment variable that the generated config reads from a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewEnv {
    /// The name of the variable, such as `LLSD_VLLM_API_KEY`.
    pub name: String,
    /// Where its value comes from, in words: `Secret vllm, key token`.
    pub source: String,
    /// The field of the resource that asks for it.
    pub path: String,
    /// Name and key of the Secret; `None` for Secrets that the operator derives.
    pub secret: Option<(String, String)>,
}

/// Why the text of a resource gives no config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The sentence for the user.
    pub message: String,
    /// The place in the resource.
    pub path: String,
    /// The place in this file.
    pub span: Span,
}

/// The generated config of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// The name of the resource.
    pub name: String,
    /// Its namespace; empty where it names none.
    pub namespace: String,
    /// The image that runs: as written, or of the distribution. `None` where that is not known.
    pub image: Option<String>,
    /// The version of llama-stack in the image, as far as name or tag tell.
    pub llama_stack_version: Option<String>,
    /// Whether this is the config of an earlier text, because the present one gives none.
    pub stale: bool,
    /// The findings for which no config can be generated; empty if there is one.
    pub problems: Vec<Problem>,
    /// The config. Where nothing is generated: a comment that says why.
    pub text: String,
    /// One per line of `text`.
    pub lines: Vec<LineOrigin>,
    /// The environment variables that the config reads secrets from.
    pub env: Vec<PreviewEnv>,
    /// SHA-256 of the text in hex; empty where nothing is generated.
    pub hash: String,
    /// What generation has to remark.
    pub warnings: Vec<String>,
}

/// A `LlamaStackDistribution` in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSummary {
    /// Number of its document in the file, from 0.
    pub document: usize,
    /// The part of `apiVersion` behind the slash.
    pub version: String,
    /// `metadata.name`; empty if there is none.
    pub name: String,
    /// `metadata.namespace`; empty if there is none.
    pub namespace: String,
    /// The bytes of the resource in the file.
    pub span: Span,
}
