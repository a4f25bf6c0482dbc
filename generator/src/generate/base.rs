//! The config that a generated one starts from.

use super::draft::spec_path;
use super::error::GenerateError;
use super::origin::Origin;
use super::tracked::{Data, Map, Tracked};
use crate::api::v1alpha2::Distribution;
use crate::distribution::{BaseConfig, Distributions, version_of_image};
use crate::document::{Shape, Tree, expand};
use llsd_yaml::{Node, Resolved, Rules, Style};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Where a base config was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseSource {
    /// In this program.
    Embedded(&'static BaseConfig),
    /// In the labels of the image.
    OciLabel {
        /// The image reference, as the resource or the distribution has it.
        image: String,
        /// What another label says about the version of the config's format, as it is written.
        version: Option<String>,
    },
    /// The caller handed the text over.
    Given,
}

/// The config that generation starts from: text, hash and source. It is never changed; see
/// [`Draft`](super::draft::Draft).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The YAML text. [`Origin::Base`] counts its lines.
    pub text: Cow<'static, str>,
    /// Where the text comes from. The operator shows it in the status.
    pub source: BaseSource,
}

impl Base {
    /// The base config that this program has for a distribution; `image` is what runs where the operator was told
    /// another one.
    ///
    /// # Errors
    /// The name is unknown, or the distribution is an image that this program does not know: then its labels may hold one,
    /// or nothing does.
    pub fn embedded(distribution: &Distribution, image: Option<&str>) -> Result<Self, GenerateError> {
        if let Some(name) = &distribution.name {
            Distributions::embedded().get(name).map_err(|unknown| {
                let path = spec_path().key("distribution").key("name");
                GenerateError::UnknownDistribution { path, unknown }
            })?;
        }
        let found = BaseConfig::of(distribution.name.as_deref(), image.or(distribution.image.as_deref()))
            .ok_or(GenerateError::BaseConfigRequired)?;
        Ok(Self { text: Cow::Borrowed(found.text), source: BaseSource::Embedded(found) })
    }
}

/// The llama-stack version of a distribution: of the image's tag, else of the list of distributions.
pub(super) fn version_of(distribution: &Distribution) -> Option<String> {
    if let Some(image) = &distribution.image {
        return version_of_image(image);
    }
    let known = Distributions::embedded().get(distribution.name.as_deref()?).ok()?;
    version_of_image(&known.image).or_else(|| Some(known.llama_stack_version.clone()))
}

/// The tree of a base config that this program has, read once.
pub(crate) fn embedded_base(base: &'static BaseConfig) -> Option<Arc<Tracked>> {
    static READ: Mutex<BTreeMap<(&'static str, &'static str), Arc<Tracked>>> = Mutex::new(BTreeMap::new());
    let key = (base.distribution, base.version);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tree) = read.get(&key) {
        return Some(tree.clone());
    }
    let tree = Arc::new(parse(base.text).ok()?);
    read.insert(key, tree.clone());
    Some(tree)
}

/// Reads a base config as llama-stack does, every value with its line.
///
/// # Errors
/// It is no YAML mapping, or expands beyond bounds.
pub(crate) fn read(base: &Base) -> Result<Tracked, GenerateError> {
    match &base.source {
        BaseSource::Embedded(found) => match embedded_base(found) {
            Some(tree) => Ok(Tracked::clone(&tree)),
            None => parse(&base.text),
        },
        _ => parse(&base.text),
    }
}

/// A config as [`render`](super::render::render) writes it: values and their order stay, comments and layout do not.
///
/// # Errors
/// It is no YAML mapping, or expands beyond bounds.
pub fn printed(text: &str) -> Result<String, GenerateError> {
    Ok(super::render::render(&parse(text)?).text)
}

/// Reads a configuration as llama-stack does, every value with its line.
///
/// # Errors
/// It is no YAML mapping, or expands beyond bounds.
pub(super) fn parse(text: &str) -> Result<Tracked, GenerateError> {
    let document = llsd_yaml::parse_document(text);
    let lines = Lines::of(text);
    if let Some(error) = document.strict_error() {
        let line = lines.at(error.span.start) + 1;
        return Err(GenerateError::InvalidBase { message: error.message.clone(), line });
    }
    let Some(root) = document.root().filter(Node::is_mapping) else {
        return Err(GenerateError::InvalidBase { message: "it is not a mapping".to_owned(), line: 1 });
    };
    tracked(&expand(root), &lines)
}

// As deep as `expand` lets a tree become.
fn tracked(tree: &Tree<'_>, lines: &Lines) -> Result<Tracked, GenerateError> {
    let line = match tree.node.entry() {
        // The line that opens an entry is that of its key.
        Some(entry) => lines.at(entry.key.span().start),
        None => lines.at(tree.node.span().start),
    };
    let origin = Origin::Base { line };
    let data = match &tree.shape {
        Shape::Exceeded | Shape::Dangling => {
            let message = "an alias leads nowhere, or the config expands beyond bounds".to_owned();
            return Err(GenerateError::InvalidBase { message, line: line + 1 });
        }
        Shape::Scalar => scalar(tree.node),
        Shape::List(items) => {
            let items = items.iter().map(|item| tracked(item, lines)).collect::<Result<_, _>>()?;
            Data::List(Arc::new(items))
        }
        Shape::Map(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for entry in entries {
                // llama-stack's keys are strings: as written, not as Kubernetes reads them.
                let key = entry.value.node.key().map_or_else(|| entry.key.clone(), |key| key.key_text().into_owned());
                map.insert(key, tracked(&entry.value, lines)?);
            }
            Data::Map(Arc::new(map))
        }
    };
    Ok(Tracked { origin, data })
}

fn scalar(node: Node<'_>) -> Data {
    let text = node.value();
    match node.resolve(Rules::PyYaml) {
        Resolved::Null => Data::Literal("null".to_owned()),
        Resolved::Str => Data::Text(text.into_owned()),
        // As written: its spelling is part of the config. A tagged or quoted one has no plain spelling of its own.
        Resolved::Bool(_) | Resolved::Int(_) | Resolved::Float(_)
            if node.style() == Style::Plain && node.tag().is_none() =>
        {
            Data::Literal(text.into_owned())
        }
        Resolved::Bool(flag) => Data::Literal(flag.to_string()),
        Resolved::Int(number) => Data::Literal(number.to_string()),
        Resolved::Float(number) => Data::Literal(format!("{number:?}")),
    }
}

/// Starts of lines, to find the line of an offset.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    /// The line that an offset is in, counted from 0.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}
