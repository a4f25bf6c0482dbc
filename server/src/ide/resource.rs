//! A resource in a document: what it says, and the verdict on it.

use super::knowledge::{self, BaseDeclarations};
use super::objects::{Manifest, ObjectKey};
use llsd_generator::api::ApiVersion;
use llsd_generator::catalog::Catalog;
use llsd_generator::check::facts::{Facts, GivenBases};
use llsd_generator::check::finding::Finding;
use llsd_generator::check::header::Header;
use llsd_generator::check::rules::yaml::{DUPLICATE_KEY, TOO_LARGE};
use llsd_generator::check::{Outcome, unquoted_variables};
use llsd_generator::document::Plain;
use llsd_generator::generate::Base;
use llsd_generator::path::{Path, Segment};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

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
    /// The verdict, once somebody has asked for it and it is kept.
    pub(super) outcome: OnceLock<Outcome>,
    /// What the base config declares that somebody named for it, read when it is first asked for.
    given: OnceLock<BaseDeclarations>,
    bases: Arc<GivenBases>,
}

impl Resource {
    /// The resource at `base` of a document that reads as `plain`, not judged yet.
    pub(super) fn new(base: Path, value: Value, plain: &Plain, header: Header) -> Self {
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
        Self {
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

    /// Namespace and name, and the version that it is written in; `None` where a template fills them in, or there is no
    /// name.
    pub(super) fn known_name(&self) -> Option<(ObjectKey, ApiVersion)> {
        let is_open = |place: &str| covered(&self.unknown, &Path::parse(place));
        let open = is_open("metadata.name") || is_open("metadata.namespace");
        let key = (self.namespace().to_owned(), self.name().to_owned());
        (!open && !key.1.is_empty()).then_some((key, self.version))
    }

    /// What it says, for kustomizations.
    pub(super) fn manifest(&self) -> Manifest {
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

    /// A resource as an operation leaves it, which stands in no document.
    pub(crate) fn changed(version: ApiVersion, value: Value, facts: &Facts) -> Self {
        let header = Header { version, findings: Vec::new() };
        Self::new(Path::root(), value, &Plain::default(), header).judged_by(facts)
    }

    /// The same resource, not judged yet.
    pub(super) fn judged_by(&self, facts: &Facts) -> Self {
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

/// Whether the value at `path` is unknown, itself or as part of something unknown.
fn covered(unknown: &BTreeSet<Path>, path: &Path) -> bool {
    unknown.iter().any(|place| path.starts_with(place))
}
