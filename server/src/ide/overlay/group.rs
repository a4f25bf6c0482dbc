//! Which resources and patches belong together, so that none of them can be rewritten in another version alone.

use super::super::file_names::relative;
use super::super::objects::{Manifest, Pieces};
use super::{Builder, Made, Overlays};
use llsd_generator::api::{GROUP, KIND};
use llsd_generator::kustomize::{Patch, Source, is_directive};
use llsd_generator::path::{Path, Segment};
use rpds::RedBlackTreeMapSync;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Resources, and everything that patches them.
#[derive(Clone, Debug, Default)]
pub(in crate::ide) struct Group {
    /// The files with the resources.
    pub(in crate::ide) resources: BTreeSet<Arc<str>>,
    /// The entries of kustomizations that patch them.
    pub(in crate::ide) entries: Vec<Entry>,
}

/// A patch as a kustomization takes it.
#[derive(Clone, Debug)]
pub(in crate::ide) struct Entry {
    /// The file of the kustomization that takes the patch.
    pub(in crate::ide) by: Arc<str>,
    /// What it says of the patch.
    pub(in crate::ide) patch: Patch,
    /// Its place among the patches of the kustomization, from 0.
    pub(in crate::ide) number: usize,
    /// The documents of the patch, each with the resources that it meets, as they are then.
    pub(in crate::ide) bodies: Vec<(Manifest, Vec<Value>)>,
}

/// Why resources cannot be rewritten together with their patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Apart {
    /// The resource of a patch is nowhere here.
    NoResource,
    /// A kustomization changes resources in ways that are not followed.
    Opaque,
    /// Labels or annotations decide what the patch applies to.
    Selectors,
    /// The target of the patch may select other kinds too, for which it would no longer be right.
    OtherKinds,
    /// The patch is for the other version, and does not apply now.
    Sleeping,
    /// The patch is for other resources too, which are not here.
    Elsewhere,
    /// The patch is not here, or its text has no header of a resource.
    Unread,
    /// A template fills in parts of it.
    Template,
    /// There are too many kustomizations to follow.
    TooMany,
}

impl fmt::Display for Apart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NoResource => "the resource that it patches is not in these files",
            Self::Opaque => "changes resources by transformers, vars or replacements, which are not followed",
            Self::Selectors => "takes a patch for which labels or annotations decide what it applies to",
            Self::OtherKinds => {
                "takes a patch that may apply to other kinds too, for which it has to stay: name the kind in its target"
            }
            Self::Sleeping => "takes a patch for the other version, which does not apply now",
            Self::Elsewhere => "takes the patch too, and what it applies to there is not in these files",
            Self::Unread => "takes a patch that cannot be read: it is not here, or has no apiVersion and kind",
            Self::Template => "takes a patch with templates",
            Self::TooMany => "is one of more kustomizations than are followed",
        })
    }
}

/// Finds the group of a file.
pub(in crate::ide) struct Grouping<'w> {
    pub(in crate::ide) overlays: &'w Overlays,
    pub(in crate::ide) files: &'w RedBlackTreeMapSync<Arc<str>, Pieces>,
}

impl Grouping<'_> {
    fn strict(&self) -> Builder<'_> {
        Builder::new(self.overlays, self.files)
    }

    fn lenient(&self) -> Builder<'_> {
        Builder::lenient(self.overlays, self.files)
    }

    /// The group of the resources or patches in `file`.
    ///
    /// # Errors
    /// The kustomization that makes it impossible, and why.
    pub(in crate::ide) fn of(&self, file: &str) -> Result<Group, (Arc<str>, Apart)> {
        let mut all: Vec<(Arc<str>, bool, Vec<Made>)> = Vec::new();
        for (by, kustomization) in self.overlays.all() {
            let builder = self.lenient();
            let made = builder.made(by);
            if builder.is_spent() {
                return Err((Arc::clone(by), Apart::TooMany));
            }
            all.push((Arc::clone(by), kustomization.is_opaque, made));
        }
        let mut files: BTreeSet<Arc<str>> = BTreeSet::from([Arc::from(file)]);
        let mut entries: BTreeSet<(Arc<str>, usize)> = BTreeSet::new();
        let mut opaque = None;
        loop {
            let before = (files.len(), entries.len());
            for (by, is_opaque, made) in &all {
                for made in made {
                    let belongs = made.writers.iter().any(|writer| match &writer.entry {
                        None => files.contains(&writer.file),
                        Some(entry) => {
                            entries.contains(entry) || writer.inline.is_none() && files.contains(&writer.file)
                        }
                    });
                    if !belongs {
                        continue;
                    }
                    if *is_opaque {
                        opaque = Some(Arc::clone(by));
                    }
                    for writer in &made.writers {
                        if writer.inline.is_none() {
                            files.insert(Arc::clone(&writer.file));
                        }
                        entries.extend(writer.entry.clone());
                    }
                }
            }
            if before == (files.len(), entries.len()) {
                break;
            }
        }
        if let Some(by) = opaque {
            return Err((by, Apart::Opaque));
        }
        let resources = all.iter().flat_map(|(_, _, made)| made).filter_map(|made| made.writers.first());
        let resources: BTreeSet<Arc<str>> =
            resources.map(|first| Arc::clone(&first.file)).filter(|file| files.contains(file)).collect();
        if resources.is_empty()
            && let Some(by) = self.overlays.patching(file).next()
        {
            return Err((Arc::clone(by), Apart::NoResource));
        }
        for patch in files.iter().filter(|file| self.overlays.is_patch(file)) {
            for (by, number) in self.overlays.taking(patch) {
                if !entries.contains(&(Arc::clone(&by), number)) {
                    return Err((by, Apart::Elsewhere));
                }
            }
        }
        let entries = entries.into_iter().map(|(by, number)| self.entry(by, number)).collect::<Result<_, _>>()?;
        Ok(Group { resources, entries })
    }

    fn entry(&self, by: Arc<str>, number: usize) -> Result<Entry, (Arc<str>, Apart)> {
        let patch = self.overlays.kustomizations.get(&by).and_then(|one| one.patches.get(number)).cloned();
        let Some(patch) = patch else { return Err((by, Apart::Unread)) };
        if let Some(target) = &patch.target {
            if target.has_selectors {
                return Err((by, Apart::Selectors));
            }
            if target.kind != KIND && target.group != GROUP {
                return Err((by, Apart::OtherKinds));
            }
        }
        let bodies = self.strict().met(&by, number);
        let may_meet: usize = self.lenient().met(&by, number).iter().map(|(_, met)| met.len()).sum();
        let meets: usize = bodies.iter().map(|(_, met)| met.len()).sum();
        let apart = match () {
            () if bodies.is_empty() => Apart::Unread,
            () if may_meet > meets => Apart::Sleeping,
            () if bodies.iter().any(|(body, _)| body.unknown.iter().any(is_template)) => Apart::Template,
            () => return Ok(Entry { by, patch, number, bodies }),
        };
        Err((by, apart))
    }
}

impl Entry {
    /// The file of the patch, or the kustomization in which it stands.
    pub(in crate::ide) fn file(&self) -> Arc<str> {
        match &self.patch.source {
            Source::File(path) => relative(super::folder_of(&self.by), path).into(),
            Source::Inline { .. } => Arc::clone(&self.by),
        }
    }
}

/// Whether a template fills in what is at a path. What kustomize is told there begins with `$`, too.
fn is_template(path: &Path) -> bool {
    !matches!(path.last(), Some(Segment::Key(key)) if is_directive(key))
}
