//! What an editor may ask about a file: plain data in, plain data out, positions in bytes.
//!
//! `ide` does not know LSP, the file system or the clock. An [`Analysis`] is an immutable snapshot; every question is
//! a function of it, so questions may run on any thread, and an answer always fits the text it was asked about.

mod actions;
mod applied;
mod block;
mod changed;
mod cluster;
mod code_lens;
mod complete;
mod config;
mod definition;
mod delta;
mod diagnostic_chunks;
mod diagnostics;
mod document;
mod document_links;
mod document_symbols;
mod facts;
mod file;
mod file_names;
mod file_renames;
mod fix;
mod folding;
mod form;
mod format;
mod hover;
mod ids;
mod inlay_hints;
mod judged;
mod knowledge;
mod linked_editing;
mod meaning;
mod memo;
mod migrate;
mod names;
mod objects;
mod on_type;
mod operation;
mod overlay;
mod parallel;
mod place;
mod preview;
mod references;
mod rename;
mod schema;
mod selection_ranges;
mod semantic_tokens;
mod shell;
mod silence;
mod types;
mod update;
mod workspace;
mod workspace_symbols;

pub use actions::{MigrationOffer, MigrationTarget};
pub use cluster::{Cluster, Condition, LiveStatus};
pub use code_lens::{Lens, LensAction};
pub use definition::{definition, implementation};
pub use delta::Delta;
#[cfg(feature = "system")]
pub(crate) use delta::shared_ends;
pub use diagnostic_chunks::{DiagnosticChunk, FaultyDocument};
pub use document_links::{Link, LinkTarget, links};
pub use file_renames::moved;
pub use folding::{Fold, FoldKind};
pub use format::FormatOptions;
pub use hover::hover_generated;
pub use inlay_hints::{InlayHint, InlaySettings};
pub use judged::{JudgedBy, judged_by};
pub use llsd_generator::check::ReferenceKind;
pub use llsd_generator::fold::{Line, LineKind, Options as MigrateOptions};
pub use llsd_generator::ogx::migrate::Options as ToOgxOptions;
pub use llsd_yaml::Span;
pub use memo::Memo;
pub use migrate::ogx::{Renamed, ToOgx};
pub use migrate::together_ogx::Concerned;
pub use migrate::{Migrated, MigratedConfig, NotMigrated};
pub use names::{Declared, Kind, Location, NameIndex, Query, TextId, WorkspaceFiles, base_text};
pub use objects::{ObjectKey, Objects, Pieces};
pub use overlay::{Apart, Made, Writer};
pub use preview::Hunk;
pub use references::{highlight, references};
pub use rename::{FileEdits, RenameRefused, prepare as prepare_rename, rename};
pub use semantic_tokens::{Token, TokenKind};
pub use shell::quoted;
pub use types::{
    ActionKind, CodeAction, CodeFix, CompletionItem, CompletionKind, Diagnostic, Elsewhere, Hover, LineOrigin,
    OriginKind, Preview, PreviewEnv, Problem, ResourceSummary, Severity, Symbol, SymbolKind, Tag, TextEdit, Unchecked,
};
pub use workspace::{Assumed, Workspace};
pub use workspace_symbols::{WorkspaceSymbol, locate as workspace_symbols};

use changed::Changed;
use document::{DocumentAnalysis, Retention};
use facts::ObjectScope;
use file::{File, Located};
use llsd_generator::check::finding::Target;
use llsd_generator::distribution::BaseConfig;
use llsd_generator::path::Path;
use llsd_yaml::parse_document;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// One file, understood. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Analysis {
    file: File,
    workspace: Workspace,
}

/// Says whether nobody waits for the result any more. It is asked at least once per document.
pub type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

/// Understands `text`. Documents that `previous` already contains, letter for letter, are not looked at again.
#[must_use]
pub fn analyse(text: Arc<str>, previous: Option<&Analysis>, workspace: &Workspace) -> Analysis {
    let whole = || File::new(parallel::documents(&text, &|| false).unwrap_or_default());
    match previous {
        None => judged(whole(), workspace),
        Some(previous) => {
            let delta = update::difference(&previous.file, &text);
            let text = |span: Span| text.get(span.start..span.end).unwrap_or_default().to_owned();
            let updated = update::update(previous, delta, &text, workspace, &|| false);
            // Nobody stops it.
            updated.unwrap_or_else(|| judged(whole(), workspace))
        }
    }
}

/// Understands a text of `length` bytes for the first time. `None`: stopped.
#[must_use]
pub fn open(text: &str, workspace: &Workspace, stop: Stop<'_>) -> Option<Analysis> {
    let documents = parallel::documents(text, stop)?;
    (!stop()).then(|| judged(File::new(documents), workspace))
}

/// Understands a text that differs from the one of `previous` in one piece. `text` gives parts of the new text. Only
/// the documents that the piece touches, and those that depend on what these say, are looked at: the cost does not
/// follow the length of the file. `None`: stopped.
#[must_use]
pub fn update(
    previous: &Analysis,
    delta: Delta,
    text: &dyn Fn(Span) -> String,
    workspace: &Workspace,
    stop: Stop<'_>,
) -> Option<Analysis> {
    update::update(previous, delta, text, workspace, stop)
}

fn read(text: &str, kept: Retention, dropped: bool) -> Arc<DocumentAnalysis> {
    Arc::new(DocumentAnalysis::new(Arc::new(parse_document(text)), kept, dropped))
}

fn judged(file: File, workspace: &Workspace) -> Analysis {
    let mut judged = file.clone();
    let known = ObjectScope { own: &file, workspace };
    judged.renew(&(0..file.len()), &Changed::All, |document| facts::judge(document, known));
    Analysis { file: judged, workspace: workspace.clone() }
}

impl Analysis {
    /// The text that was analysed, put together from its documents.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        let mut text = String::with_capacity(self.file.bytes());
        self.file.iter().for_each(|located| text.push_str(located.document.tree().text()));
        text.into()
    }

    /// Secrets and ConfigMaps of this file, for the [`Workspace`] that other files are analysed with.
    #[must_use]
    pub fn objects(&self) -> Pieces {
        self.file.objects().cloned().collect()
    }

    /// Whether it was made with what `workspace` knows.
    #[must_use]
    pub fn is_current(&self, workspace: &Workspace) -> bool {
        self.workspace.is(workspace)
    }

    /// Whether the verdict on a resource here depends on an object or resource of one of these names.
    #[must_use]
    pub fn mentions_any(&self, names: &HashSet<String>) -> bool {
        self.file.mentions_any(names)
    }

    /// The names of all objects and resources that verdicts here depend on.
    #[must_use]
    pub fn mentions(&self) -> HashSet<String> {
        self.file.mentions()
    }

    /// Whether the file has anything that is checked: a resource, a part of one, or a config of the server.
    #[must_use]
    pub fn is_relevant(&self) -> bool {
        self.file.is_relevant()
    }

    /// The number of the resource document at `offset`, for [`preview`]; `None` outside any resource.
    #[must_use]
    pub fn document_at(&self, offset: usize) -> Option<usize> {
        let located = self.file.at(offset)?;
        (!located.document.resources().is_empty()).then_some(located.number)
    }

    /// The resource at `offset`: the number of its document in the file, and its own number in that document, which
    /// is not 0 in a `List` or `Template` only. Between two resources of one document it is the one before. Patches count as
    /// resources, also those that stand in a kustomization as texts.
    #[must_use]
    pub fn resource_at(&self, offset: usize) -> Option<(usize, usize)> {
        let located = self.file.at(offset)?;
        let (document, inside) = (located.document, offset - located.offset);
        let is_ours = !document.resources().is_empty() || document.operations().is_some();
        (is_ours || document.embedded_at(inside).is_some()).then(|| (located.number, document.number_at(inside)))
    }

    /// The resources of the file, in the order of their places.
    #[must_use]
    pub fn resources(&self) -> Vec<ResourceSummary> {
        let of = |located: Located<'_>| -> Vec<ResourceSummary> {
            let document = located.document;
            let found = document.resources().iter();
            found.map(|resource| document.describe(resource, located.number, located.offset)).collect()
        };
        self.file.iter().flat_map(of).collect()
    }

    /// Everything wrong with the file, in the order of its places.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics_until(&|| false)
    }

    /// Works out what is wrong with all of the file at once, for whoever is going to ask: in a file that is new, each part
    /// takes time.
    pub fn judge_ahead(&self, stop: Stop<'_>) {
        parallel::judge(&self.file, stop);
    }

    /// How many configs of the server the file holds, itself or in ConfigMaps.
    #[must_use]
    pub fn configs(&self) -> usize {
        self.file.iter().map(|located| located.document.configs().len()).sum()
    }

    /// What could not be decided, in the order of its places.
    #[must_use]
    pub fn unchecked(&self) -> Vec<Unchecked> {
        let of = |located: Located<'_>| {
            let all = diagnostics::unchecked(located.document).into_iter();
            all.map(move |one| Unchecked { span: one.span.shift(located.offset), document: located.number, ..one })
        };
        self.file.iter().flat_map(of).collect()
    }

    /// The same, given up early where `stop` says so: what is returned then is good for nothing.
    #[must_use]
    pub fn diagnostics_until(&self, stop: Stop<'_>) -> Vec<Diagnostic> {
        let of = |located: Located<'_>| -> Vec<Diagnostic> {
            let found = located.document.diagnostics();
            found.iter().map(|diagnostic| self.in_file(diagnostic, located)).collect()
        };
        self.file.faulty(stop).into_iter().flat_map(of).collect()
    }

    /// The diagnostics of the documents that `span` touches.
    #[must_use]
    pub fn diagnostics_around(&self, span: Span) -> Vec<Diagnostic> {
        let of = |located: Located<'_>| -> Vec<Diagnostic> {
            let found = located.document.diagnostics();
            found.iter().map(|diagnostic| self.in_file(diagnostic, located)).collect()
        };
        self.touching(span).into_iter().flat_map(of).collect()
    }

    /// A diagnostic of a document with places of the file.
    fn in_file(&self, diagnostic: &Diagnostic, located: Located<'_>) -> Diagnostic {
        let mut moved = diagnostic.in_file(located.number, located.offset);
        if let Some(Elsewhere { resource, message, .. }) = moved.elsewhere.take_if(|other| other.file.is_none()) {
            let other = self.named_at(&resource, Some(moved.span));
            moved.related.extend(other.map(|span| (span, message.to_owned())));
        }
        moved
    }

    /// Where the name of the first resource of this namespace and name stands, other than at `except`.
    #[must_use]
    pub fn named_at(&self, resource: &ObjectKey, except: Option<Span>) -> Option<Span> {
        let called = self.file.called(resource).flat_map(|located| {
            let all = located.document.resources().iter().filter(|one| one.is_called(resource));
            all.map(move |one| place::name_of(located.document.tree(), &one.base).shift(located.offset))
        });
        called.into_iter().find(|span| Some(*span) != except)
    }

    /// Where the names of its resources stand.
    #[must_use]
    pub fn resource_names(&self) -> Vec<(ObjectKey, Span)> {
        let of = |located: Located<'_>| -> Vec<_> {
            let all = located.document.resources().iter().filter(|one| !one.name().is_empty());
            all.map(|one| {
                let span = place::name_of(located.document.tree(), &one.base).shift(located.offset);
                ((one.namespace().to_owned(), one.name().to_owned()), span)
            })
            .collect()
        };
        self.file.iter().flat_map(of).collect()
    }

    /// The parts of the file with diagnostics, in order. Taking a part may take the time to judge its documents.
    pub fn faulty(&self) -> impl Iterator<Item = DiagnosticChunk<'_>> {
        self.file.faulty_parts()
    }

    /// What the file mentions, in pieces that stay the same while their documents do: for a [`NameIndex`].
    fn named(&self) -> Vec<names::Named> {
        self.file.named().cloned().collect()
    }

    /// A document that stands in another one, as a file of its own.
    fn of_embedded(&self, embedded: &overlay::Embedded) -> Self {
        Self { file: File::new(vec![Arc::clone(&embedded.document)]), workspace: self.workspace.clone() }
    }

    /// The text of document number `number`.
    #[must_use]
    pub fn document_text(&self, number: usize) -> Option<String> {
        self.document(number).map(|located| located.document.tree().text().to_owned())
    }

    /// The place in its resource that a diagnostic speaks of, and whether it is the key there.
    #[must_use]
    pub fn place_of(&self, diagnostic: &Diagnostic) -> (Path, Target) {
        let at = self.at(diagnostic.span.start).and_then(|(located, inside)| {
            let node = located.document.tree().node_at(inside)?;
            let path = place::path(&node.path());
            let resource = located.document.resource_at(&path)?;
            Some((resource.relative(&path)?, node.is_key()))
        });
        let written = Path::parse(&diagnostic.path);
        match at {
            // what is missing is drawn at the key of what should hold it
            Some((path, is_key)) if is_key && path == written => (path, Target::Key),
            Some((path, false)) if path == written => (path, Target::Value),
            _ => (written, Target::Value),
        }
    }

    /// Whether kustomizations take the file of this name as a patch only.
    #[must_use]
    pub fn is_patch(&self, file: &str) -> bool {
        self.workspace.is_patch(file)
    }

    /// The other files that it was analysed with.
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn documents(&self) -> impl Iterator<Item = Located<'_>> {
        self.file.iter()
    }

    fn document(&self, number: usize) -> Option<Located<'_>> {
        self.file.get(number)
    }

    /// The documents that share a byte with `span` or touch it.
    fn touching(&self, span: Span) -> Vec<Located<'_>> {
        self.file.touching(span)
    }

    /// The documents that may mention a name, and some others.
    fn mentioning(&self, kind: Kind, name: &str) -> impl Iterator<Item = Located<'_>> {
        self.file.mentioning(kind, name)
    }

    /// Whether a comment silences a diagnostic that something else has made of this text.
    #[must_use]
    pub fn silences(&self, found: &Diagnostic) -> bool {
        let Some((located, inside)) = self.at(found.span.start) else { return false };
        let span = Span::new(inside, inside + (found.span.end - found.span.start));
        silence::hides(located.document.tree(), &Diagnostic { span, ..found.clone() })
    }

    /// The document at `offset`, and the offset inside it.
    fn at(&self, offset: usize) -> Option<(Located<'_>, usize)> {
        let located = self.file.at(offset)?;
        let text = located.document.tree().text();
        let mut inside = (offset - located.offset).min(text.len());
        while !text.is_char_boundary(inside) {
            inside -= 1;
        }
        Some((located, inside))
    }
}

/// Reads the embedded schema, catalogs and base configs, so that the first question does not wait for them.
pub fn preload() {
    knowledge::preload();
    schema::preload();
}

/// The edits of all preferred fixes of the file that do not touch each other.
#[must_use]
pub fn fix_all(analysis: &Analysis) -> Vec<TextEdit> {
    fix::all(&analysis.diagnostics())
}

/// The edits of the preferred fixes of some diagnostics of a file that do not touch each other.
#[must_use]
pub fn preferred_fixes(found: &[Diagnostic]) -> Vec<TextEdit> {
    fix::all(found)
}

/// What could be written at `offset`, best first.
#[must_use]
pub fn complete(analysis: &Analysis, offset: usize) -> Vec<CompletionItem> {
    complete::complete(analysis, offset)
}

/// What is known about the text at `offset`.
#[must_use]
pub fn hover(analysis: &Analysis, offset: usize) -> Option<Hover> {
    hover::hover(analysis, offset)
}

/// Changes offered for `span`: fixes of the diagnostics it touches, and rewrites of the resource it lies in.
#[must_use]
pub fn code_actions(analysis: &Analysis, span: Span) -> Vec<CodeAction> {
    actions::code_actions(&Query::alone(analysis), span)
}

/// What mends the diagnostics that `span` touches, also in other files.
#[must_use]
pub fn quick_fixes(query: &Query<'_>, span: Span) -> Vec<CodeAction> {
    actions::quick_fixes(query, span)
}

/// Changes beyond the documents of diagnostics that leave nothing to decide; see also [`fix_all`].
#[must_use]
pub fn fixes_elsewhere(query: &Query<'_>) -> Vec<CodeAction> {
    actions::preferred_elsewhere(query)
}

/// The ways to migrate the v1alpha1 resources that `span` touches, best first. Cheap: nothing is rewritten yet.
#[must_use]
pub fn migration_offers(query: &Query<'_>, span: Span) -> Vec<MigrationOffer> {
    actions::migrations(query, span)
}

/// The rewrite of an offer of the same text.
///
/// # Errors
/// There is none, or something would be lost.
pub fn accept_migration(query: &Query<'_>, offer: &MigrationOffer) -> Result<Migrated, NotMigrated> {
    actions::migration(query, offer)
}

/// The edits that apply all preferred fixes, and those that become visible behind them.
#[must_use]
pub fn fix_everything(analysis: &Analysis) -> Vec<TextEdit> {
    actions::fix_everything(analysis)
}

/// The rewrite of every v1alpha1 resource in document number `document` (from 0) of the asked file as v1alpha2, comments
/// kept. Where kustomizations patch what the file has, all of it is rewritten, and the patches with it.
///
/// # Errors
/// There is none, or one cannot be rewritten without a loss: then all of them stay.
pub fn migrate(query: &Query<'_>, document: usize, options: MigrateOptions) -> Result<Migrated, NotMigrated> {
    migrate::of_query(query, document, options)
}

/// The documents with resources that can become an `OGXServer`, by their numbers from 0.
#[must_use]
pub fn documents_for_ogx(analysis: &Analysis) -> Vec<usize> {
    migrate::ogx::documents(analysis)
}

/// The rewrite of every `LlamaStackDistribution` in document number `document` (from 0) of the asked file as `OGXServer`,
/// comments kept, with the configs that they mount and the label that the new operator asks for on what they name. Files
/// for which `may_change` says no stay as they are.
///
/// # Errors
/// There is none, or one cannot be rewritten, or not with its config: then all of them stay.
pub fn to_ogx(
    query: &Query<'_>,
    document: usize,
    options: &ToOgxOptions,
    may_change: &dyn Fn(&Arc<str>) -> bool,
) -> Result<ToOgx, NotMigrated> {
    migrate::ogx::of_query(query, document, options, may_change)
}

/// The rewrite of every `LlamaStackDistribution` of the asked file, which kustomizations patch, together with the patches
/// and with what else these patch. Files for which `may_change` says no stay as they are.
///
/// # Errors
/// One of them cannot be rewritten, or what a kustomization builds would be another `OGXServer`: then all of them stay.
pub fn to_ogx_with_patches(
    query: &Query<'_>,
    options: &ToOgxOptions,
    may_change: &dyn Fn(&Arc<str>) -> bool,
) -> Result<ToOgx, NotMigrated> {
    migrate::patched_ogx::of_group(query, options, may_change)
}

/// The places of a file that speak of what resources were before they became `OGXServer`s, and do not follow: each with
/// its line, from 1, and a sentence.
#[must_use]
pub fn left_of_ogx(analysis: &Analysis, renamed: &[Renamed]) -> Vec<(usize, String)> {
    migrate::outside_ogx::of_file(analysis, renamed)
}

/// What is to be said of a `LlamaStackDistribution` of that name, which goes on reading a config that was rewritten.
#[must_use]
pub fn read_by(name: &str, config_map: &ObjectKey) -> Line {
    migrate::together_ogx::read_by(name, config_map)
}

/// What is to be said of an object that needs the new operator's label, and is in none of the files.
#[must_use]
pub fn unwatched(object: &(ReferenceKind, ObjectKey)) -> Line {
    migrate::together_ogx::unwatched(object)
}

/// The command that gives an object the label by which the new operator sees it.
#[must_use]
pub fn watched(object: &(ReferenceKind, ObjectKey)) -> String {
    migrate::together_ogx::watched(object)
}

/// The names of the `LlamaStackDistribution`s that still read a ConfigMap.
#[must_use]
pub fn old_readers(query: &Query<'_>, config_map: &ObjectKey) -> BTreeSet<String> {
    migrate::together_ogx::old_readers(query, config_map, None)
}

/// The configs of the server in the file, each rewritten for version `to` of it, comments kept. Nothing comes back if
/// there are none.
///
/// # Errors
/// One of them cannot be rewritten: then all of them stay.
pub fn migrate_configs(analysis: &Analysis, to: &str) -> Result<Vec<MigratedConfig>, NotMigrated> {
    migrate::config::of_file(analysis, to)
}

/// The outline of the file: resources with their providers and other fields.
#[must_use]
pub fn symbols(analysis: &Analysis) -> Vec<Symbol> {
    document_symbols::symbols(analysis)
}

/// The config generated for the first resource in document number `document` (from 0); `None` if there is none.
#[must_use]
pub fn preview(analysis: &Analysis, document: usize) -> Option<Preview> {
    preview::preview(analysis, document, 0)
}

/// The config generated for resource number `resource` of document number `document`, both from 0, as
/// [`Analysis::resource_at`] counts them; `None` if there is none.
#[must_use]
pub fn preview_of(analysis: &Analysis, document: usize, resource: usize) -> Option<Preview> {
    preview::preview(analysis, document, resource)
}

/// What can be folded away; nothing in a file without resources.
#[must_use]
pub fn folds(analysis: &Analysis) -> Vec<Fold> {
    folding::folds(analysis)
}

/// Spans around `offset`, the smallest first, each inside the next; the last is the file.
#[must_use]
pub fn selection_ranges(analysis: &Analysis, offset: usize) -> Vec<Span> {
    selection_ranges::ranges(analysis, offset)
}

/// The places that have to change together with the provider id at `offset`, in the order of the text; `None` where
/// there is no such id, or it stands at one place only.
#[must_use]
pub fn linked_places(analysis: &Analysis, offset: usize) -> Option<Vec<Span>> {
    linked_editing::places(analysis, offset)
}

/// Edits that format the file, or what `range` touches; see [`FormatOptions`]. Each replaces blanks by blanks, and the
/// value of no document changes.
#[must_use]
pub fn format(analysis: &Analysis, range: Option<Span>, options: &FormatOptions) -> Vec<TextEdit> {
    format::format(analysis, range, options)
}

/// The indentation of the new line on which the cursor stands at `offset`, just after a line break was typed.
#[must_use]
pub fn indent_new_line(analysis: &Analysis, offset: usize, options: &FormatOptions) -> Vec<TextEdit> {
    on_type::indent(analysis, offset, options).into_iter().collect()
}

/// The coloured words of the resources, or of the part that `range` touches, in the order of the text.
#[must_use]
pub fn tokens(analysis: &Analysis, range: Option<Span>) -> Vec<Token> {
    semantic_tokens::tokens(analysis, range)
}

/// What the resources leave unsaid inside `range`, as far as `settings` want it shown.
#[must_use]
pub fn inlay_hints(analysis: &Analysis, range: Span, settings: &InlaySettings) -> Vec<InlayHint> {
    inlay_hints::hints(analysis, range, settings)
}

/// The rules that could not be decided about what stands inside `range`, as hints.
#[must_use]
pub fn unchecked_hints(analysis: &Analysis, range: Span) -> Vec<InlayHint> {
    inlay_hints::unchecked(analysis, range)
}

/// What the cluster says of the resources inside `range`, as hints. `namespace` is that of resources that name none.
#[must_use]
pub fn live_hints(
    analysis: &Analysis,
    range: Span,
    namespace: &str,
    live: &BTreeMap<ObjectKey, LiveStatus>,
) -> Vec<InlayHint> {
    cluster::hints(analysis, range, namespace, live)
}

/// Lines above resources and providers, in the order of the text.
#[must_use]
pub fn lenses(analysis: &Analysis) -> Vec<Lens> {
    code_lens::lenses(analysis)
}

/// `now`, or where it could not be generated because of mistakes in the text: the last config that could, with the
/// mistakes. `document` and `resource` are those of `now`.
#[must_use]
pub fn keep_preview(good: &Preview, now: Preview, analysis: &Analysis, document: usize, resource: usize) -> Preview {
    preview::keep(good, now, analysis, document, resource)
}

/// The preview with what the distribution's config brings folded away: of a resource of ten lines, what these did.
#[must_use]
pub fn fold_preview(preview: Preview) -> Preview {
    preview::folded(preview)
}

/// Where the text of `right` differs from `left`.
#[must_use]
pub fn preview_hunks(left: &str, right: &Preview) -> Vec<Hunk> {
    preview::hunks(left, right)
}

/// The same as [`base_config`], printed as generated configs are: without comments and blank lines, which those never
/// have, so that both differ in what they mean only.
#[must_use]
pub fn printed_base_config(analysis: &Analysis, document: usize, resource: usize) -> Option<(String, String)> {
    let found = analysis.document(document)?.document.resources().get(resource)?;
    let (name, text) = match found.given_base() {
        Some(given) => {
            let (name, image) = knowledge::distribution(found.version, &found.value);
            (name.or(image).unwrap_or_default().to_owned(), &*given.text)
        }
        None => base_config(analysis, document, resource)?,
    };
    Some((name, llsd_generator::generate::printed(text).ok()?))
}

/// The base config that a resource's config is generated from: its distribution and the text. `None` if the program does
/// not have it, as it does not have what is in the labels of images.
#[must_use]
pub fn base_config(analysis: &Analysis, document: usize, resource: usize) -> Option<(String, &'static str)> {
    let resource = analysis.document(document)?.document.resources().get(resource)?;
    let (name, image) = knowledge::distribution(resource.version, &resource.value);
    let base = BaseConfig::of(name, image)?;
    Some((base.distribution.to_owned(), base.text))
}
