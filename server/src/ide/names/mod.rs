//! Names: what a document declares, and what it refers to.
//!
//! Each document is looked at once, see [`DocumentNames`]. What a name means beyond its document is settled when
//! somebody asks: [`group`] joins a resource with the base config of its distribution and the config it mounts, and
//! [`NameIndex`] says which other files mention an object.

mod base;
mod config;
mod group;
mod index;
mod objects;
mod ogx;
mod reader;
mod resource;

pub(crate) use base::base;
pub use base::base_text;
pub(crate) use group::{LocatedOccurrence, Source, found_in, is_config_key};
pub use group::{Location, Query, TextId, WorkspaceFiles};
pub use index::{Declared, Kind, NameIndex};
pub(crate) use index::{Mentions, Named};

use super::document::DocumentAnalysis;
use super::objects::{ObjectKey, object_list};
use llsd_yaml::{Span, Step};
use reader::Reader;
use std::sync::Arc;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Symbol {
    /// A `LlamaStackDistribution`, by namespace and name.
    Resource(ObjectKey),
    /// A Secret, by namespace and name.
    Secret(ObjectKey),
    /// A key of a Secret.
    SecretKey(ObjectKey, String),
    /// A ConfigMap, by namespace and name.
    ConfigMap(ObjectKey),
    /// A key of a ConfigMap.
    ConfigMapKey(ObjectKey, String),
    /// A provider id; llama-stack keeps those of each API apart.
    Provider {
        /// The API in llama-stack's spelling.
        api: String,
        /// The provider's id.
        id: String,
    },
    /// A model, by the name under which it is registered.
    Model(String),
    /// A shield, by its id.
    Shield(String),
    /// A tool group, with its `builtin::`.
    ToolGroup(String),
    /// An API in llama-stack's spelling.
    Api(String),
    /// An environment variable of the server.
    Variable(String),
    /// A distribution that the operator knows.
    Distribution(String),
    /// A storage backend of a config.
    Backend(String),
}

/// What an occurrence does with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// The place makes the thing exist, or registers it.
    Declaration,
    /// The place needs the thing to exist.
    Reference,
}

/// How a name is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A scalar of its own; `whole` has its quotes too.
    Scalar {
        /// The bytes of the whole scalar, quotes included.
        whole: Span,
    },
    /// A part of a longer scalar, such as the variable in `${env.NAME}`.
    Part,
    /// A provider id that nobody wrote: the end of the provider's type.
    Implicit {
        /// The way to the provider in its document.
        provider: Vec<Step>,
    },
    /// A tool group of llama-stack written without its `builtin::`; `whole` as above.
    Builtin {
        /// The bytes of the whole scalar, quotes included.
        whole: Span,
    },
    /// It stands elsewhere, at the anchor that this alias names.
    Alias,
}

/// One place where a name stands. Spans are relative to the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// What the place names.
    pub(crate) symbol: Symbol,
    /// The resource or config it belongs to: a number of [`DocumentNames::scopes`]. `None` for names of objects, which
    /// hold in a whole namespace.
    pub(crate) scope: Option<usize>,
    /// The bytes of the name in its document, without quotes.
    pub(crate) span: Span,
    /// Whether the thing is declared or referred to there.
    pub(crate) role: Role,
    /// How the name is written, for those that write another one in its place.
    pub(crate) form: Form,
}

/// A resource or config whose names belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The number of the resource in its document; `None` for a config.
    pub(crate) resource: Option<usize>,
    /// The distribution whose base config counts too.
    pub(crate) distribution: Option<String>,
    /// The ConfigMap whose config is used instead of the base.
    pub(crate) config_map: Option<ObjectKey>,
    /// For a config: the ConfigMap that it stands in.
    pub(crate) owner: Option<ObjectKey>,
}

/// The names of one document.
#[derive(Debug, Default)]
pub(crate) struct DocumentNames {
    /// In the order of their places.
    pub(crate) occurrences: Vec<Occurrence>,
    /// The resources and configs, each with the names that only hold inside of it.
    pub(crate) scopes: Vec<Scope>,
    /// What other files may ask for.
    pub(crate) mentions: Arc<Mentions>,
}

impl DocumentNames {
    /// Collects the names in a document: those of its resources, its objects and its config.
    pub(crate) fn new(document: &DocumentAnalysis) -> Self {
        let Some(root) = document.tree().root() else { return Self::default() };
        let reader = Reader::new(document.tree());
        let mut names = Self::default();
        if document.objects().kustomization.is_some() {
            objects::generated(&reader, root, &mut names.occurrences);
        }
        let roots = object_roots(&reader, root);
        for text in document.configs() {
            config::read_embedded(text, &mut names);
        }
        for (steps, object) in roots {
            let found = document
                .resources()
                .iter()
                .position(|resource| super::place::steps(&resource.base, &Default::default()) == steps);
            match found {
                Some(number) => resource::read(&reader, document, number, object, &mut names),
                None => objects::read(&reader, object, &mut names),
            }
        }
        names.finish();
        names
    }

    /// The names of a config on its own, such as a base config or a generated one.
    pub(crate) fn of_config(tree: &llsd_yaml::Document) -> Self {
        let mut names = Self::default();
        if let Some(root) = tree.root() {
            names.scopes.push(Scope::default());
            config::read(&Reader::new(tree), root, 0, &mut names.occurrences);
        }
        names.finish();
        names
    }

    fn finish(&mut self) {
        self.occurrences.sort_by(|one, other| {
            (one.span.start, one.span.end, one.role, &one.symbol).cmp(&(
                other.span.start,
                other.span.end,
                other.role,
                &other.symbol,
            ))
        });
        // what is anchored is reached on several ways
        self.occurrences.dedup();
        self.mentions = Arc::new(Mentions::of(&self.occurrences));
    }

    /// The occurrence at an offset; of several the shortest.
    pub(crate) fn at(&self, offset: usize) -> Option<&Occurrence> {
        let behind = self.occurrences.partition_point(|one| one.span.start <= offset);
        let touching = self.occurrences[..behind].iter().rev().filter(|one| offset <= one.span.end);
        touching.min_by_key(|one| one.span.len())
    }
}

impl Symbol {
    /// The name itself, as it is written.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Resource((_, name)) | Self::Secret((_, name)) | Self::ConfigMap((_, name)) => name,
            Self::SecretKey(_, key) | Self::ConfigMapKey(_, key) => key,
            Self::Provider { id, .. } => id,
            Self::Model(name)
            | Self::Shield(name)
            | Self::ToolGroup(name)
            | Self::Api(name)
            | Self::Variable(name)
            | Self::Distribution(name)
            | Self::Backend(name) => name,
        }
    }

    /// What kind of thing it is, in words.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Resource(_) => "resource",
            Self::Secret(_) => "Secret",
            Self::SecretKey(..) => "key of the Secret",
            Self::ConfigMap(_) => "ConfigMap",
            Self::ConfigMapKey(..) => "key of the ConfigMap",
            Self::Provider { .. } => "provider",
            Self::Model(_) => "model",
            Self::Shield(_) => "shield",
            Self::ToolGroup(_) => "tool group",
            Self::Api(_) => "API",
            Self::Variable(_) => "environment variable",
            Self::Distribution(_) => "distribution",
            Self::Backend(_) => "storage backend",
        }
    }

    /// Whether both stand for the same thing. An object whose manifest names no namespace may be put into any.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same = |one: &ObjectKey, other: &ObjectKey| {
            one.1 == other.1 && (one.0.is_empty() || other.0.is_empty() || one.0 == other.0)
        };
        match (self, other) {
            (Self::Resource(one), Self::Resource(other))
            | (Self::Secret(one), Self::Secret(other))
            | (Self::ConfigMap(one), Self::ConfigMap(other)) => same(one, other),
            (Self::SecretKey(one, key), Self::SecretKey(other, another))
            | (Self::ConfigMapKey(one, key), Self::ConfigMapKey(other, another)) => same(one, other) && key == another,
            _ => self == other,
        }
    }

    /// The object that it is, or is a key of, as a whole.
    pub(crate) fn object(&self) -> Option<Self> {
        match self {
            Self::Secret(key) | Self::SecretKey(key, _) => Some(Self::Secret(key.clone())),
            Self::ConfigMap(key) | Self::ConfigMapKey(key, _) => Some(Self::ConfigMap(key.clone())),
            _ => None,
        }
    }
}

/// The mappings that are Kubernetes objects: the root, or the items of an [`object_list`].
fn object_roots<'d>(reader: &Reader<'d>, root: llsd_yaml::Node<'d>) -> Vec<(Vec<Step>, llsd_yaml::Node<'d>)> {
    let text = |field: &str| reader.get(root, field).map(|node| node.value().into_owned()).unwrap_or_default();
    let kind = text("kind");
    // older groups and half-written headers still make a resource
    if kind.is_empty() && text("apiVersion").is_empty() {
        return Vec::new();
    }
    let has_items = reader.get(root, "items").is_some_and(|items| items.is_sequence());
    let Some(list) = object_list(&kind, has_items) else { return vec![(Vec::new(), root)] };
    let Some(items) = reader.get(root, list) else { return Vec::new() };
    let step = |number| vec![Step::Key(list.to_owned()), Step::Index(number)];
    reader.items(items).into_iter().enumerate().map(|(number, item)| (step(number), item)).collect()
}
