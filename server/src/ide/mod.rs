//! What an editor may ask about a file: plain data in, plain data out, positions in bytes.
//!
//! `ide` does not know LSP, the file system or the clock. An [`Analysis`] is an immutable snapshot; every question is
//! a function of it, so questions may run on any thread, and an answer always fits the text it was asked about.

mod actions;
mod analysis;
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
mod resource;
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
pub use analysis::Analysis;
pub use cluster::{Cluster, Condition, LiveStatus};
pub use code_lens::{Lens, LensAction};
pub use definition::{definition, implementation};
pub use delta::Delta;
#[cfg(feature = "protocol")]
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
pub use migrate::config::of_file as migrate_configs;
pub use migrate::ogx::{Renamed, ToOgx, documents as documents_for_ogx, of_query as to_ogx};
pub use migrate::outside_ogx::of_file as left_of_ogx;
pub use migrate::patched_ogx::of_group as to_ogx_with_patches;
pub use migrate::together_ogx::{Concerned, read_by, unwatched, watched};
pub use migrate::{Migrated, MigratedConfig, NotMigrated, of_query as migrate};
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
use file::File;
use llsd_generator::distribution::BaseConfig;
use llsd_yaml::parse_document;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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

fn read(text: &str, kept: Retention, dropped: bool) -> DocumentAnalysis {
    DocumentAnalysis::new(Arc::new(parse_document(text)), kept, dropped)
}

fn judged(file: File, workspace: &Workspace) -> Analysis {
    let mut judged = file.clone();
    let known = ObjectScope { own: &file, workspace };
    judged.renew(&(0..file.len()), &Changed::All, |document| facts::judge(document, known));
    Analysis { file: judged, workspace: workspace.clone() }
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

/// The names of the `LlamaStackDistribution`s that still read a ConfigMap.
#[must_use]
pub fn old_readers(query: &Query<'_>, config_map: &ObjectKey) -> BTreeSet<String> {
    migrate::together_ogx::old_readers(query, config_map, None)
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
