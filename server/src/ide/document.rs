//! One YAML document, understood: its tree, the resources in it, and what was found out about each.

use super::config::{self, ConfigText, PossibleConfig};
use super::facts::{self, Reference};
use super::memo::Memo;
use super::names::DocumentNames;
use super::objects::roots;
use super::objects::{Manifest, Objects, named_by_list};
use super::overlay::{self, Embedded};
use super::resource::Resource;
use super::semantic_tokens::{self, Token};
use super::types::{self, Diagnostic};
use super::workspace::FILES;
use super::{diagnostics, place};
use llsd_generator::chart;
use llsd_generator::check::facts::Facts;
use llsd_generator::check::finding::Finding;
use llsd_generator::check::header::header;
use llsd_generator::check::{NotChecked, Outcome, Request, verdict};
use llsd_generator::config::mounting;
use llsd_generator::document::Plain;
use llsd_generator::generate::Generated;
use llsd_generator::kustomize::Operations;
use llsd_generator::path::Path;
use llsd_yaml::Document;
use serde_json::Value;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// What does not depend on anything but the document's text, and on the objects that it names.
#[derive(Debug)]
pub(crate) struct DocumentAnalysis {
    tree: Arc<Document>,
    resources: Vec<Resource>,
    /// Depend on the text alone, so that documents judged by other facts share them; unless some are `possible`.
    configs: Arc<Vec<ConfigText>>,
    /// Parts that are configs where the facts say so: then they are among `configs`.
    possible: Arc<Vec<PossibleConfig>>,
    objects: Objects,
    references: BTreeSet<Reference>,
    /// Patches that stand in it as texts.
    embedded: Vec<Embedded>,
    /// What it does as a patch of JSON 6902 operations.
    operations: Option<(Operations, BTreeSet<Path>)>,
    contribution: u64,
    facts: Arc<Facts>,
    diagnostics: OnceLock<Vec<Diagnostic>>,
    tokens: OnceLock<Vec<Token>>,
    memo: Memo,
    kept: Retention,
    dropped: bool,
    /// Depends on the text and the configs alone, so that documents judged by other facts mostly share it.
    names: Arc<OnceLock<Arc<DocumentNames>>>,
}

/// Whether verdicts on a document are kept whole once somebody has asked for its diagnostics. With the config that was
/// generated on the way they take many times the room of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retention {
    /// Somebody works on it, and more questions will come.
    Whole,
    /// It is one of many, and will be judged again should anybody ask for more than diagnostics.
    Diagnostics,
}

impl DocumentAnalysis {
    /// Reads a document. Its verdict is reached when it is first asked for.
    /// `dropped`: `kubectl` does not read it.
    pub(crate) fn new(tree: Arc<Document>, kept: Retention, dropped: bool) -> Self {
        let mut plain = Arc::new(Plain::read(&tree));
        let configs = Arc::new(config::of_document(&tree, &plain));
        let possible = if configs.is_empty() { config::possible(&tree, &plain) } else { Vec::new() };
        let mut resources = Vec::new();
        let mut objects = Objects::default();
        for base in roots(&plain.value) {
            let Some(written) = base.find(&plain.value) else { continue };
            let named = named_by_list(&plain.value, &base, written);
            let value = named.as_ref().unwrap_or(written);
            match header(value) {
                Some(header) => {
                    let value = named.unwrap_or_else(|| taken(&mut plain, &base));
                    resources.push(Resource::new(base, value, &plain, header));
                }
                // a template writes the entries, so that nobody knows its keys here
                None if plain.unknown.contains(&base.key("data")) => {}
                None => objects.add(value),
            }
        }
        objects.puts = chart::puts(tree.text(), &plain.value);
        objects.resources = resources.iter().filter_map(Resource::known_name).collect();
        objects.manifests.extend(resources.iter().map(Resource::manifest));
        let mounts = resources.iter().flat_map(|one| mounting::mounts(one.version, &one.value, &one.unknown));
        objects.mounts = mounts.map(Arc::new).collect();
        let operations = if resources.is_empty() { Operations::read(&plain.value) } else { None };
        let operations = operations.map(|operations| {
            let unknown = plain.unknown.clone();
            let Plain { value, unknown: filled_in, .. } = Arc::unwrap_or_clone(plain);
            objects.manifests.push(Manifest { value: Arc::new(value), unknown: filled_in });
            (operations, unknown)
        });
        let embedded = objects.kustomization.as_ref().map(|one| overlay::all_in(one, kept)).unwrap_or_default();
        objects.patched = embedded.iter().flat_map(|one| one.document.mentions().map(str::to_owned)).collect();
        let references = resources
            .iter()
            .flat_map(|resource| {
                let flat = facts::flat_references(resource.version, &resource.value, resource.namespace());
                facts::references(&resource.value, resource.namespace()).into_iter().chain(flat)
            })
            .collect();
        let contribution = contribution(&resources, &objects);
        let (facts, diagnostics, tokens, memo, names) = Default::default();
        Self {
            tree,
            resources,
            configs,
            possible: Arc::new(possible),
            objects,
            references,
            embedded,
            operations,
            contribution,
            facts,
            diagnostics,
            tokens,
            memo,
            kept,
            dropped,
            names,
        }
    }

    /// Takes over what is known of its configs from the same document before an edit.
    pub(crate) fn remember(&mut self, before: &Self) {
        for config in Arc::get_mut(&mut self.configs).into_iter().flatten() {
            let same = before.configs.iter().find(|known| known.owner() == config.owner());
            same.into_iter().for_each(|known| config.remember(known));
        }
        let possible = Arc::get_mut(&mut self.possible).into_iter().flatten();
        possible.for_each(|config| config.remember(&before.possible));
    }

    /// The same document, judged by other facts, and with patches that are.
    pub(crate) fn with_facts(&self, facts: Arc<Facts>, embedded: Vec<Embedded>) -> Self {
        let resources = self.resources.iter().map(|resource| resource.judged_by(&facts)).collect();
        let (configs, names) = match self.possible.is_empty() {
            true => (self.configs.clone(), self.names.clone()),
            false => (Arc::new(config::put(&self.possible, &facts.puts)), Arc::default()),
        };
        Self {
            tree: self.tree.clone(),
            resources,
            configs,
            possible: self.possible.clone(),
            objects: self.objects.clone(),
            references: self.references.clone(),
            embedded,
            operations: self.operations.clone(),
            contribution: self.contribution,
            facts,
            diagnostics: OnceLock::new(),
            tokens: OnceLock::new(),
            memo: Memo::default(),
            kept: self.kept,
            dropped: self.dropped,
            names,
        }
    }

    /// Whether `kubectl` reads nothing of it.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped
    }

    pub(crate) fn tree(&self) -> &Arc<Document> {
        &self.tree
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The configs of the server in it.
    pub(crate) fn configs(&self) -> &[ConfigText] {
        &self.configs
    }

    /// Whether it has parts that are configs where the facts say so.
    pub(crate) fn may_have_configs(&self) -> bool {
        !self.possible.is_empty()
    }

    /// Whether it has anything that is checked: a resource, a part of one, or a config of the server.
    pub(crate) fn is_relevant(&self) -> bool {
        self.is_ours() || !self.configs.is_empty()
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Whether there is a resource in it, or a part of one.
    pub(crate) fn is_ours(&self) -> bool {
        !self.resources.is_empty() || !self.embedded.is_empty() || self.operations.is_some()
    }

    /// The patches that stand in it as texts.
    pub(crate) fn embedded(&self) -> &[Embedded] {
        &self.embedded
    }

    /// Its list of JSON 6902 operations, and the places in it that a template fills in.
    pub(crate) fn operations(&self) -> Option<&(Operations, BTreeSet<Path>)> {
        self.operations.as_ref()
    }

    /// The patch that stands at an offset, and the offset inside of it.
    pub(crate) fn embedded_at(&self, offset: usize) -> Option<(&Embedded, usize)> {
        self.embedded.iter().find_map(|one| Some((one, one.inside(&self.tree, offset)?)))
    }

    /// The config that an offset lies in, and the offset in its own text.
    pub(crate) fn config_at(&self, offset: usize) -> Option<(&ConfigText, usize)> {
        self.configs.iter().find_map(|config| Some((config, config.embedding().inner(offset)?)))
    }

    /// Whether it is a patch of a kustomization.
    pub(crate) fn is_part(&self) -> bool {
        self.facts.part.is_some()
    }

    pub(crate) fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// The names that it declares and refers to.
    pub(crate) fn names(&self) -> &Arc<DocumentNames> {
        self.names.get_or_init(|| Arc::new(DocumentNames::new(self)))
    }

    /// The objects that its resources name.
    pub(crate) fn references(&self) -> &BTreeSet<Reference> {
        &self.references
    }

    /// The names of all objects and resources that its verdict depends on.
    pub(crate) fn mentions(&self) -> impl Iterator<Item = &str> {
        let referenced = self.references.iter().map(|reference| reference.key.1.as_str());
        let own = self.resources.iter().map(Resource::name).filter(|name| !name.is_empty());
        let patched = self.objects.patched.iter().map(String::as_str);
        let mounted = self.configs.iter().filter_map(|config| config.owner()).map(|owner| owner.object.1.as_str());
        let made = self.facts.made_into.iter().map(|(_, name)| name.as_str());
        let is_file = self.may_have_configs() || self.configs.iter().any(|config| config.owner().is_none());
        referenced.chain(own).chain(patched).chain(mounted).chain(made).chain(is_file.then_some(FILES))
    }

    /// A number that is the same as long as the document adds the same to what other documents can see.
    pub(crate) fn contribution(&self) -> u64 {
        self.contribution
    }

    /// A resource as callers see it.
    pub(crate) fn describe(&self, resource: &Resource, document: usize, offset: usize) -> types::ResourceSummary {
        let root = self.tree.find(&place::steps(&resource.base, &Path::root()));
        types::ResourceSummary {
            document,
            version: resource.version.name().to_owned(),
            name: resource.name().to_owned(),
            namespace: resource.namespace().to_owned(),
            span: root.map(|node| node.span()).unwrap_or(llsd_yaml::Span::new(0, 0)).shift(offset),
        }
    }

    /// The number of the resource at an offset of the document: the last one that starts at or before it.
    pub(crate) fn resource_number_at(&self, offset: usize) -> usize {
        let starts = |resource: &Resource| {
            let root = self.tree.find(&place::steps(&resource.base, &Path::root()));
            root.is_some_and(|root| line_start(self.tree.text(), root.full_span().start) <= offset)
        };
        self.resources.iter().rposition(starts).unwrap_or_default()
    }

    /// The number of the resource at an offset, counted on over the patches that stand in it as texts.
    pub(crate) fn number_at(&self, offset: usize) -> usize {
        let embedded = self.embedded.iter().position(|one| one.inside(&self.tree, offset).is_some());
        embedded.map_or_else(|| self.resource_number_at(offset), |number| self.resources.len() + number)
    }

    /// The resource that `path` leads into.
    pub(crate) fn resource_at(&self, path: &Path) -> Option<&Resource> {
        self.resources.iter().find(|resource| path.starts_with(&resource.base))
    }

    /// The verdict on a resource.
    pub(crate) fn outcome<'r>(&self, resource: &'r Resource) -> &'r Outcome {
        resource.outcome.get_or_init(|| self.judge(resource))
    }

    /// The same for the moment only, unless it is kept.
    fn with_outcome<T>(&self, resource: &Resource, query: impl FnOnce(&Outcome) -> T) -> T {
        match (resource.outcome.get(), self.kept) {
            (Some(known), _) => query(known),
            (None, Retention::Whole) => query(self.outcome(resource)),
            (None, Retention::Diagnostics) => query(&self.judge(resource)),
        }
    }

    fn judge(&self, resource: &Resource) -> Outcome {
        verdict(&Request {
            version: resource.version,
            value: &resource.value,
            old: None,
            unknown: &resource.unknown,
            facts: &self.facts,
        })
    }

    /// Everything found about a resource: by its reader, and by the verdict.
    pub(crate) fn with_findings<T>(&self, resource: &Resource, query: impl FnOnce(Vec<&Finding>) -> T) -> T {
        self.with_outcome(resource, |outcome| query(resource.early.iter().chain(&outcome.findings).collect()))
    }

    /// What could not be decided about a resource.
    pub(crate) fn with_not_checked<T>(&self, resource: &Resource, query: impl FnOnce(&[NotChecked]) -> T) -> T {
        self.with_outcome(resource, |outcome| query(&outcome.not_checked))
    }

    /// The config of a resource; `None` if it is not valid, or none is generated.
    pub(crate) fn generated<'r>(&self, resource: &'r Resource) -> Option<&'r Generated> {
        self.outcome(resource).generated.as_ref()
    }

    /// Everything wrong with the document, with spans relative to it.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        self.diagnostics.get_or_init(|| diagnostics::of_document(self))
    }

    /// What a caller made of its diagnostics.
    pub(crate) fn memo(&self) -> &Memo {
        &self.memo
    }

    /// The coloured words of the document, with spans relative to it.
    pub(crate) fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| semantic_tokens::of_document(self))
    }
}

/// Where the line of an offset begins: the dash in front of an item belongs to it.
fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

/// The object at `base`. Most are a document, whose value need not be copied.
fn taken(plain: &mut Arc<Plain>, base: &Path) -> Value {
    match Arc::get_mut(plain) {
        Some(own) if base.segments().is_empty() => std::mem::take(&mut own.value),
        _ => base.find(&plain.value).cloned().unwrap_or_default(),
    }
}

fn contribution(resources: &[Resource], objects: &Objects) -> u64 {
    if resources.is_empty() && objects.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    for resource in resources {
        (resource.namespace(), resource.name()).hash(&mut hasher);
    }
    objects.hash(&mut hasher);
    hasher.finish()
}
