//! What came of a migration.

use crate::ide::FileEdits;
use crate::ide::overlay::Apart;
use crate::ide::types::TextEdit;
use llsd_generator::api::Kind;
use llsd_generator::check::finding::Finding;
use llsd_generator::fold::{Class, Difference, Line, LineKind, MigrationReport, Unmoved};
use llsd_generator::path::Path;
use std::fmt;
use std::sync::Arc;

/// The result of a migration: edits of the file, edits of others, and what to tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Migrated {
    /// The change of the file.
    pub edits: Vec<TextEdit>,
    /// Edits of other files, such as those that hold a ConfigMap that is no longer needed.
    pub others: Vec<FileEdits>,
    /// A file that goes away with it.
    pub deletes: Option<Arc<str>>,
    /// What was done and what does not mean the same, of each resource.
    pub reports: Vec<MigrationReport>,
    /// What was mended before, as `check` proposes it.
    pub prepared: Vec<String>,
    /// Comments of a folded config that have no place in the resource, each with its `#`. They stay in the ConfigMap as
    /// long as that does.
    pub left: Vec<String>,
    /// Comments of fields that the new resource does not have, each with its field.
    pub homeless: Vec<(Path, String)>,
    /// Other files that change with it, because what they have patches the resource, or is patched by the same: as seen
    /// from its file.
    pub with: Vec<String>,
    /// Whether variables stay in the environment because patches may set them.
    pub keeps_variables: bool,
    /// Where what a kustomization builds is not as it was, beside what is said of the resource itself: the kustomization,
    /// as seen from the file, and the difference.
    pub overlays: Vec<(String, Difference)>,
    /// The ConfigMap that is removed with it, and the comments that go with it.
    pub removed: Option<(String, Vec<String>)>,
    /// What else there is to say: all there is of a way to ogx.
    pub further: Vec<Line>,
}

impl Migrated {
    pub(super) fn extend(&mut self, other: Self) {
        self.edits.extend(other.edits);
        self.reports.extend(other.reports);
        self.left.extend(other.left);
        self.homeless.extend(other.homeless);
    }

    pub(super) fn shift(&mut self, offset: usize) {
        self.edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(offset));
    }

    /// Whether everything that was there means the same as before.
    #[must_use]
    pub fn means_the_same(&self) -> bool {
        self.reports.iter().all(MigrationReport::means_the_same)
            && self.overlays.iter().all(|(_, one)| one.class == Class::Added)
            && self.further.iter().all(is_harmless)
    }

    /// What there is to say, worst first. Every surface says these lines.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let note = |text: String| Line { kind: LineKind::Note, text };
        let mut lines: Vec<Line> = self.prepared.iter().map(|title| note(format!("mended first: {title}"))).collect();
        if let Some((name, comments)) = &self.removed {
            lines.extend(comments.iter().map(|text| note(format!("removed with ConfigMap \"{name}\": {text}"))));
        }
        if !self.with.is_empty() {
            lines.push(note(format!("together with {}, as patches bind them", self.with.join(", "))));
        }
        if self.keeps_variables {
            lines.push(note("environment variables stay as they are: a patch may set them".to_owned()));
        }
        let mended = |mut line: Line| {
            if line.kind == LineKind::Same && !self.prepared.is_empty() {
                line.text = format!("but for what was mended first, {}", line.text);
            }
            line
        };
        lines.extend(self.reports.iter().flat_map(MigrationReport::lines).map(mended));
        let overlays = self.overlays.iter();
        lines.extend(overlays.map(|(by, difference)| Line {
            kind: LineKind::Difference(difference.class),
            text: format!("as {by} builds it: {difference}"),
        }));
        let homeless = self.homeless.iter();
        lines.extend(homeless.map(|(path, text)| note(format!("the comment of {path} is left out: {text}"))));
        let left = self.left.iter();
        lines.extend(left.map(|text| note(format!("stays in the ConfigMap only: {text}"))));
        lines.extend(self.further.iter().cloned());
        // what is lost in one resource comes before what is noted of another
        lines.sort_by_key(|line| match line.kind {
            LineKind::Refused => 0,
            LineKind::Difference(Class::Loss) => 1,
            LineKind::Difference(Class::Change | Class::Unknown) => 2,
            LineKind::Note => 3,
            LineKind::Difference(Class::Added) => 4,
            LineKind::Same => 5,
        });
        lines
    }

    /// The lines that somebody has to look at who sees the text change.
    #[must_use]
    pub fn noteworthy(&self) -> Vec<String> {
        self.lines().iter().filter(|line| line.kind != LineKind::Same).map(ToString::to_string).collect()
    }
}

/// Whether a line says nothing of what is lost or changes.
pub(super) fn is_harmless(line: &Line) -> bool {
    !matches!(line.kind, LineKind::Refused | LineKind::Difference(Class::Loss | Class::Change | Class::Unknown))
}

/// Why a resource is not rewritten. The text is what the user reads.
#[derive(Clone, Debug, PartialEq)]
pub enum NotMigrated {
    /// There is no v1alpha1 resource.
    NoResource,
    /// The document is not well-formed YAML.
    NotWellFormed {
        /// What is wrong with it.
        message: String,
    },
    /// The document has lines that a template engine takes away.
    Template {
        /// The first of them, from 1.
        line: usize,
    },
    /// The resource is written between brackets, as JSON is.
    Flow,
    /// It is a patch of a kustomization.
    Part,
    /// A config has values by way of aliases, or stands where its text cannot be changed.
    Unreachable,
    /// The resource was made from another one, and does not have all of it.
    Convert(String),
    /// The resource has errors of its own, and parts of it would be lost.
    Invalid(Vec<Finding>),
    /// The rules of v1alpha2 refuse what would come of it.
    Refused(Vec<Finding>),
    /// The rules of `OGXServer` refuse what would come of it.
    OgxRefused(Vec<Finding>),
    /// The config that it mounts cannot be rewritten.
    Config {
        /// `metadata.name` of the ConfigMap that has the config.
        name: String,
        /// The file of the config, as seen from that of the resource.
        file: String,
        /// What stands in the way of the config.
        why: Box<NotMigrated>,
    },
    /// The config that it mounts would have to change with it, in a file that nobody named.
    ForeignConfig {
        /// `metadata.name` of the ConfigMap that has the config.
        name: String,
        /// The file of the config, as seen from that of the resource.
        file: String,
    },
    /// Kustomizations patch it, and it cannot be migrated with the patches.
    Apart {
        /// The kustomization that stands in the way, as seen from the file.
        by: String,
        /// What about it stands in the way.
        apart: Apart,
    },
    /// A patch of it cannot be written for v1alpha2.
    Patch {
        /// The file of the patch, as seen from that of the resource.
        file: String,
        /// Why the patch by itself cannot be written so.
        why: Box<NotMigrated>,
    },
    /// The patch has no counterpart.
    Unmoved(Unmoved),
    /// What an operation of the patch changes has no place in the new resource.
    WithoutEffect {
        /// The number of the operation, from 0.
        operation: usize,
    },
    /// The patch is a text in quotes, or one that is folded.
    NoBlock,
    /// The patch does not say which resource it is of.
    NoHeader,
    /// A file that has to change with it cannot be read.
    Unread {
        /// The file, as seen from that of the resource.
        file: String,
    },
    /// Files would have to change with it that nobody named.
    Foreign(Vec<String>),
    /// A kustomization cannot be built as it is, so that there is nothing to compare with.
    NotBuilt {
        /// The kustomization, as seen from the file.
        by: String,
    },
    /// A kustomization would build something else.
    Built {
        /// The kustomization, as seen from the file.
        by: String,
        /// The first place that differs, with what stands there; `None` where objects come or go, or it cannot be built.
        place: Option<String>,
    },
}

impl fmt::Display for NotMigrated {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |out: &mut fmt::Formatter<'_>, findings: &[Finding]| {
            findings.iter().enumerate().try_for_each(|(number, finding)| {
                write!(out, "{}{}: {}", if number == 0 { "" } else { "; " }, finding.path, finding.message)
            })
        };
        match self {
            Self::NoResource => out.write_str("there is no v1alpha1 resource"),
            Self::NotWellFormed { message } => write!(out, "it is not well-formed YAML: {message}"),
            Self::Template { line } => write!(
                out,
                "line {line} of the document is a line of a template, {{{{ … }}}}: migrate the chart's output (`helm template`), or by hand"
            ),
            Self::Flow => out.write_str("it is written between brackets (JSON): write it as block YAML first"),
            Self::Part => out.write_str("it is a patch of a kustomization, and no resource of its own"),
            Self::Unreachable => out.write_str(
                "a value that changes comes from an alias, or stands where it cannot be changed: write it out first",
            ),
            Self::Convert(why) => out.write_str(why),
            Self::Invalid(findings) => {
                out.write_str("it has errors that would cost parts of it, see `llsd check`: ")?;
                listed(out, findings)
            }
            Self::Refused(findings) => {
                out.write_str("v1alpha2 would refuse the result: ")?;
                listed(out, findings)
            }
            Self::OgxRefused(findings) => {
                out.write_str("the API server would refuse the OGXServer: ")?;
                listed(out, findings)
            }
            Self::Config { name, file, why } => {
                write!(out, "the config in ConfigMap \"{name}\" ({file}) cannot be rewritten with it: {why}")
            }
            Self::ForeignConfig { name, file } => write!(
                out,
                "{file} has its config, in ConfigMap \"{name}\", which has to be rewritten with it: name that file too"
            ),
            Self::Apart { by, apart: Apart::NoResource } => {
                write!(out, "it is a patch of {by}, and the resource that it patches is not in these files")
            }
            Self::Apart { by, apart } => write!(out, "{by} {apart}"),
            Self::Patch { file, why } => write!(out, "{file} patches it and cannot be migrated with it: {why}"),
            Self::Unmoved(why) => why.fmt(out),
            Self::WithoutEffect { operation } => write!(
                out,
                "its operation {} changes nothing of the {}: take it out first",
                operation + 1,
                Kind::OgxServer.name()
            ),
            Self::NoBlock => out.write_str("the patch is a text in quotes or a folded one: write it as a block, `|-`"),
            Self::NoHeader => out.write_str("it has no apiVersion and kind of the resource"),
            Self::Unread { file } => write!(out, "{file} has to change with it, and cannot be read"),
            Self::Foreign(files) => write!(
                out,
                "{} patch it, or are patched with it, and have to be migrated together: name them too",
                files.join(", ")
            ),
            Self::NotBuilt { by } => write!(out, "{by} has a patch that does not apply: see `kubectl kustomize`"),
            Self::Built { by, place: Some(place) } => {
                write!(out, "{by} would build something else afterwards: {place}")
            }
            Self::Built { by, place: None } => write!(out, "{by} would build something else afterwards"),
        }
    }
}
