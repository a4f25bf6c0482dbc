//! A generated config.yaml: written out when somebody first wants to see it.
//!
//! A verdict only needs to know that there is a config. Writing it costs more than all the stages before, and an editor
//! asks for a verdict after every key.

use super::origin::Origin;
use super::render::{Rendered, render};
use super::tracked::Tracked;
use crate::path::Path;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

/// A config.yaml with the origins of its lines. Two are equal if they are written in the same way, for the same reasons.
#[derive(Clone, Debug)]
pub struct Config {
    tree: Tracked,
    rendered: OnceLock<Rendered>,
    hash: OnceLock<String>,
}

impl Config {
    /// The config that `tree` stands for.
    pub(crate) fn new(tree: Tracked) -> Self {
        Self { tree, rendered: OnceLock::new(), hash: OnceLock::new() }
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.rendered().text
    }

    /// The config as values with their origins.
    #[must_use]
    pub fn tree(&self) -> &Tracked {
        &self.tree
    }

    /// SHA-256 of the text, 64 lower-case hex digits.
    #[must_use]
    pub fn hash(&self) -> &str {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.hash.get_or_init(|| hex(&Sha256::digest(self.text().as_bytes())))
    }

    /// Where each line of the text comes from, one origin per line.
    #[must_use]
    pub fn lines(&self) -> &[Origin] {
        &self.rendered().lines
    }

    /// For each path of the resource, and each path above one, the lines that it produced; counted from 0, sorted.
    #[must_use]
    pub fn produced(&self) -> &BTreeMap<Path, Vec<Range<usize>>> {
        &self.rendered().produced
    }

    fn rendered(&self) -> &Rendered {
        self.rendered.get_or_init(|| render(&self.tree))
    }
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        self.rendered() == other.rendered()
    }
}
