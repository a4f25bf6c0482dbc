//! One YAML document, understood: its tree, the resources in it, and what was found out about each.

use super::config::{self, ConfigText};
use super::facts::{self, Reference};
use super::knowledge::{self, BaseDeclarations};
use super::memo::Memo;
use super::names::DocumentNames;
use super::objects::{Manifest, ObjectKey, Objects, object_list};
use super::overlay::{self, Embedded};
use super::semantic_tokens::{self, Token};
use super::types::{self, Diagnostic};
use super::workspace::FILES;
use super::{diagnostics, place};
use llsd_generator::api::ApiVersion;
use llsd_generator::catalog::Catalog;
use llsd_generator::check::facts::{Facts, GivenBases};
use llsd_generator::check::finding::Finding;
use llsd_generator::check::header::{Header, header};
use llsd_generator::check::rules::yaml::{DUPLICATE_KEY, TOO_LARGE};
use llsd_generator::check::{NotChecked, Outcome, Request, unquoted_variables, verdict};
use llsd_generator::config::mounting;
use llsd_generator::document::Plain;
use llsd_generator::generate::{Base, Generated};
use llsd_generator::kustomize::Operations;
use llsd_generator::path::{Path, Segment};
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
    /// Depend on the text alone, so that documents judged by other facts share them.
    configs: Arc<Vec<ConfigText>>,
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
    /// Depends on the text alone, so that documents judged by other facts share it.
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

/// A resource in a document.
#[derive(Debug)]
pub(crate) struct Resource {
    /// The way to its root: empty, or an item of a `List` or `Template`.
    pub(crate) base: Path,
    /// The version it is read by.
    pub(crate) version: ApiVersion,
    /// The resource as plain JSON, with templates and broken parts left out: see `unknown`.
    pub(crate) value: Arc<Value>,
    /// The llama-stack version to assume where it does not tell one.
    assumed: Option<String>,
    /// Places whose value cannot be known, such as templates.
    pub(crate) unknown: BTreeSet<Path>,
    /// Findings of the reader: about `apiVersion` and `kind`, and about keys written twice.
    pub(crate) early: Vec<Finding>,
    outcome: OnceLock<Outcome>,
    /// What the base config declares that somebody named for it, read when it is first asked for.
    given: OnceLock<BaseDeclarations>,
    bases: Arc<GivenBases>,
}

impl Resource {
    /// The llama-stack version that it runs, told or assumed.
    pub(crate) fn target_version(&self) -> Option<String> {
        knowledge::target_version(self.version, &self.value, self.assumed.as_deref())
    }

    /// The catalog of that version, or of the usual one; whether it is really that version's.
    pub(crate) fn catalog(&self) -> Option<(&'static Catalog, bool)> {
        knowledge::catalog(self.version, &self.value, self.assumed.as_deref())
    }

    /// The base config that somebody named for it, so that what this program has counts for nothing.
    pub(crate) fn given_base(&self) -> Option<&Base> {
        self.bases.of(self.version, &self.value)
    }

    /// What its base config declares: the one that somebody named for it, else that of its distribution or image; `None`
    /// where neither is known.
    pub(crate) fn declared_by_base(&self) -> Option<&BaseDeclarations> {
        match self.given_base() {
            Some(base) => Some(self.given.get_or_init(|| knowledge::declared_by(base))),
            None => knowledge::base(self.version, &self.value),
        }
    }

    /// `metadata.name`; empty where there is none.
    pub(crate) fn name(&self) -> &str {
        self.metadata("name")
    }

    /// `metadata.namespace`; empty where there is none.
    pub(crate) fn namespace(&self) -> &str {
        self.metadata("namespace")
    }

    /// What it says, for kustomizations.
    fn manifest(&self) -> Manifest {
        Manifest { value: Arc::clone(&self.value), unknown: self.unknown.clone() }
    }

    fn metadata(&self, field: &str) -> &str {
        self.value.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether it has this namespace and name.
    pub(crate) fn is_called(&self, (namespace, name): &ObjectKey) -> bool {
        self.name() == name && self.namespace() == namespace
    }

    /// A path of the document as one of this resource; `None` if it leads elsewhere.
    pub(crate) fn relative(&self, path: &Path) -> Option<Path> {
        let inside = path.segments().strip_prefix(self.base.segments())?;
        Some(inside.iter().cloned().collect())
    }
}

impl DocumentAnalysis {
    /// Reads a document. Its verdict is reached when it is first asked for.
    /// `dropped`: `kubectl` does not read it.
    pub(crate) fn new(tree: Arc<Document>, kept: Retention, dropped: bool) -> Self {
        let mut plain = Plain::read(&tree);
        let configs = Arc::new(config::of_document(&tree, &plain));
        let mut resources = Vec::new();
        let mut objects = Objects::default();
        for base in roots(&plain.value) {
            let Some(written) = base.find(&plain.value) else { continue };
            let named = named_by_list(&plain.value, &base, written);
            let value = named.as_ref().unwrap_or(written);
            match header(value) {
                Some(header) => {
                    // Most resources are a document, whose value need not be copied.
                    let whole = base.segments().is_empty();
                    let copied = || named.clone().unwrap_or_else(|| written.clone());
                    let value = if whole { std::mem::take(&mut plain.value) } else { copied() };
                    resources.push(resource(base, value, &plain, header));
                }
                None => objects.add(value),
            }
        }
        objects.resources = resources.iter().filter_map(known_name).collect();
        objects.manifests.extend(resources.iter().map(Resource::manifest));
        let mounts = resources.iter().flat_map(|one| mounting::mounts(one.version, &one.value, &one.unknown));
        objects.mounts = mounts.map(Arc::new).collect();
        let operations = if resources.is_empty() { Operations::read(&plain.value) } else { None };
        let operations = operations.map(|operations| {
            let unknown = plain.unknown.clone();
            objects.manifests.push(Manifest { value: Arc::new(plain.value), unknown: plain.unknown });
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

    /// The same document, judged by other facts, and with patches that are.
    pub(crate) fn with_facts(&self, facts: Arc<Facts>, embedded: Vec<Embedded>) -> Self {
        let resources = self.resources.iter().map(|resource| resource.judged_by(&facts)).collect();
        Self {
            tree: self.tree.clone(),
            resources,
            configs: self.configs.clone(),
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
            names: self.names.clone(),
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
        let is_file = self.configs.iter().any(|config| config.owner().is_none());
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

impl Resource {
    /// A resource as an operation leaves it, which stands in no document.
    pub(crate) fn changed(version: ApiVersion, value: Value, facts: &Facts) -> Self {
        let header = Header { version, findings: Vec::new() };
        resource(Path::root(), value, &Plain::default(), header).judged_by(facts)
    }

    /// The same resource, not judged yet.
    fn judged_by(&self, facts: &Facts) -> Self {
        Self {
            assumed: facts.llama_stack_version.clone(),
            base: self.base.clone(),
            version: self.version,
            value: Arc::clone(&self.value),
            unknown: self.unknown.clone(),
            early: self.early.clone(),
            outcome: OnceLock::new(),
            given: OnceLock::new(),
            bases: Arc::clone(&facts.bases),
        }
    }
}

fn resource(base: Path, value: Value, plain: &Plain, header: Header) -> Resource {
    let inside = |path: &Path| -> Option<Path> {
        Some(path.segments().strip_prefix(base.segments())?.iter().cloned().collect())
    };
    let unknown = plain.unknown.iter().filter_map(inside).collect();
    let mut early = header.findings;
    early.retain(|finding| !covered(&unknown, &finding.path));
    early.extend(plain.exceeded.iter().filter_map(|path| Some(too_large(inside(path)?))));
    early.extend(plain.duplicates.iter().filter_map(|path| Some(twice(inside(path)?))));
    let bare = plain.bare.iter().filter_map(inside).collect();
    early.extend(unquoted_variables(&value, header.version, &bare));
    let value = Arc::new(value);
    Resource {
        base,
        version: header.version,
        value,
        assumed: None,
        unknown,
        early,
        outcome: OnceLock::new(),
        given: OnceLock::new(),
        bases: Arc::default(),
    }
}

/// Where the line of an offset begins: the dash in front of an item belongs to it.
fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

fn too_large(path: Path) -> Finding {
    Finding::new(&TOO_LARGE, path, "Too deep, or too large once its aliases are expanded: not read")
}

fn twice(path: Path) -> Finding {
    let message = format!("The key \"{}\" is given twice, the first one has no effect", path_name(&path));
    Finding::new(&DUPLICATE_KEY, path, message).at_key()
}

fn path_name(path: &Path) -> &str {
    match path.last() {
        Some(Segment::Key(name)) => name,
        _ => "",
    }
}

/// Namespace and name of a resource, and the version that it is written in; `None` where a template fills them in, or
/// there is no name.
fn known_name(resource: &Resource) -> Option<(ObjectKey, ApiVersion)> {
    let name = Path::parse("metadata.name");
    let open = covered(&resource.unknown, &name) || covered(&resource.unknown, &Path::parse("metadata.namespace"));
    let key = (resource.namespace().to_owned(), resource.name().to_owned());
    (!open && !key.1.is_empty()).then_some((key, resource.version))
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

/// Whether the value at `path` is unknown, itself or as part of something unknown.
fn covered(unknown: &BTreeSet<Path>, path: &Path) -> bool {
    unknown.iter().any(|place| path.starts_with(place))
}

/// The places where objects may stand: the root, or the items of an [`object_list`].
pub(crate) fn roots(value: &Value) -> Vec<Path> {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    let has_items = value.get("items").is_some_and(Value::is_array);
    let Some(list) = object_list(kind, has_items) else { return vec![Path::root()] };
    let items = value.get(list).and_then(Value::as_array).map_or(0, Vec::len);
    (0..items).map(|number| Path::root().with(Segment::Key(list.to_owned())).index(number)).collect()
}

/// An item that tells neither `apiVersion` nor `kind`, with those that its list gives it, as `kubectl` reads it:
/// `kind: SecretList` holds Secrets. `None` where the item is as it is written.
fn named_by_list(root: &Value, base: &Path, item: &Value) -> Option<Value> {
    let text = |field: &str| root.get(field).and_then(Value::as_str);
    let kind = text("kind")?.strip_suffix("List").filter(|kind| !kind.is_empty())?;
    let told = |field: &str| item.get(field).is_some_and(|value| value.as_str() != Some(""));
    if base.segments().is_empty() || told("apiVersion") || told("kind") {
        return None;
    }
    let mut named = item.as_object()?.clone();
    named.insert("apiVersion".to_owned(), text("apiVersion").unwrap_or_default().into());
    named.insert("kind".to_owned(), kind.into());
    Some(Value::Object(named))
}
