//! What to tell about a migration: data that every surface words alike.

use super::difference::{Class, Difference, grouped};
use super::environment::Bound;
use crate::check::finding::Finding;
use crate::path::Path;
use std::fmt;

/// What a migration did, and whether anything notices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MigrationReport {
    /// Where the server or the resource is not as it was, worst first: the config after substitution, the environment,
    /// and every field of the resource were compared.
    pub differences: Vec<Difference>,
    /// What was folded and what was not.
    pub notes: Vec<Note>,
    /// What the rules of v1alpha2 refuse about the result, as `check` says it, and did not refuse before.
    pub refused: Vec<Finding>,
    /// Where the server has its config from.
    pub config: ConfigChange,
}

/// Where the server has its config from after a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConfigChange {
    /// From where it had it before: a ConfigMap, or the image.
    #[default]
    Untouched,
    /// It is generated now, and was compared with what the server read before.
    Generated {
        /// The distribution whose base config both sides were compared on.
        base: String,
    },
}

/// One thing that was done or left.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// The content of a ConfigMap is said in the resource now.
    Folded {
        /// `metadata.name` of the ConfigMap whose config was folded.
        config_map: String,
    },
    /// Something stays as it is.
    Kept {
        /// The part of the resource that is as it was.
        what: Kept,
        /// The reason, as [`Why`] words it.
        why: Why,
    },
    /// A variable is gone from the environment: its value stands in the resource.
    Moved {
        /// The name of the variable, as it stood in `env`.
        variable: String,
        /// The path in the new resource where the value stands.
        place: Path,
    },
    /// A variable is gone from the environment: nothing reads it.
    Dropped {
        /// The name of the variable, as it stood in `env`.
        variable: String,
        /// Whether another variable of this name stands behind it, which is the one that counts.
        repeated: bool,
    },
    /// An annotation is gone that was true of the old file alone.
    DroppedAnnotation {
        /// The key of the annotation.
        name: String,
    },
    /// A field of a draft, which no API server took, is said in the present words.
    Draft {
        /// The path in the draft.
        from: Path,
        /// The path in v1alpha2 as released.
        to: Path,
    },
    /// A reference to a variable in a form of older versions was written anew.
    Renewed {
        /// The reference as the config has it: `${env.NAME:default}`.
        from: String,
        /// The reference in the form that all supported versions read: `${env.NAME:=default}`.
        to: String,
    },
    /// Parts of the hand-written config that llama-stack passes over, and that were left out.
    PassedOver {
        /// The places in the config.
        places: Vec<String>,
    },
}

/// What stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The config of the ConfigMap with this name: the resource refers to it by `overrideConfig`.
    ConfigMap(String),
    /// The whole `env` of the server container.
    Variables,
    /// The environment variable with this name.
    Variable(String),
}

/// Why something stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// There is no base config to generate from: an image of one's own, or a name that this program does not know.
    NoBase {
        /// The name of the distribution, where it has one.
        name: Option<String>,
    },
    /// The resource itself says how the server starts, or with which config: a generated one would not count.
    OwnStart {
        /// The field or variable that says so.
        place: String,
    },
    /// The ConfigMap is in none of the files.
    NotHere,
    /// More than one file has a ConfigMap of this name.
    SeveralFiles,
    /// The ConfigMap has no config.
    NoKey {
        /// The keys that it has.
        keys: Vec<String>,
    },
    /// The config is no mapping, or not well-formed.
    Unreadable,
    /// The ConfigMap is looked for in another namespace than the one that the server has it from.
    OtherNamespace,
    /// What the resource would say is refused.
    Refused {
        /// The place in the resource; the root for none.
        path: Path,
        /// Why, as `check` says it.
        message: String,
    },
    /// The server would not be the same.
    Differs(Vec<Difference>),
    /// There is nothing in it that the distribution's own config does not say.
    NothingToSay,
    /// The variable is needed where it is.
    Bound(Bound),
}

/// Places that are named in one line; the rest is counted. More would not fit on a screen.
const SHOWN: usize = 6;

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBase { name: Some(name) } => {
                write!(out, "llsd has no base config of distribution \"{name}\", which only some operators know")
            }
            Self::NoBase { name: None } => {
                out.write_str("the base config of an image of your own is in the image, and not known here")
            }
            Self::OwnStart { place } => write!(out, "{place} decides how the server starts and which config it reads"),
            Self::NotHere => out.write_str("it is in none of these files"),
            Self::SeveralFiles => out.write_str("more than one file has a ConfigMap of this name"),
            Self::NoKey { keys } if keys.is_empty() => out.write_str("it has no data"),
            Self::NoKey { keys } => write!(out, "it has no key config.yaml, only {}", keys.join(", ")),
            Self::Unreadable => out.write_str("its config.yaml is no YAML mapping"),
            Self::OtherNamespace => out.write_str(
                "configMapNamespace names another namespace, but the server has the ConfigMap from the resource's own",
            ),
            Self::Refused { path, message } => {
                if *path != Path::root() {
                    write!(out, "{path}: ")?;
                }
                out.write_str(message)
            }
            Self::Differs(differences) => {
                out.write_str("v1alpha2 cannot say all of it: ")?;
                for (number, difference) in differences.iter().take(SHOWN).enumerate() {
                    write!(out, "{}{difference}", if number == 0 { "" } else { "; " })?;
                }
                match differences.len().saturating_sub(SHOWN) {
                    0 => Ok(()),
                    more => write!(out, "; and {more} more"),
                }
            }
            Self::NothingToSay => out.write_str("it says nothing that the distribution's own config does not say"),
            Self::Bound(why) => why.fmt(out),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folded { config_map } => {
                write!(out, "ConfigMap \"{config_map}\" is folded into the resource, which no longer uses it")
            }
            Self::Kept { what: Kept::ConfigMap(name), why } => {
                write!(out, "ConfigMap \"{name}\" stays as overrideConfig: {why}")
            }
            Self::Kept { what: Kept::Variables, why } => write!(out, "environment variables stay as they are: {why}"),
            Self::Kept { what: Kept::Variable(name), why } => write!(out, "{name} stays in the environment: {why}"),
            Self::Moved { variable, place } => write!(out, "{variable} becomes {place}"),
            Self::Dropped { variable, repeated: false } => {
                write!(out, "{variable} is dropped: nothing reads it any more")
            }
            Self::Dropped { variable, repeated: true } => {
                write!(out, "{variable} is there twice, and the first is dropped: the last one counts")
            }
            Self::DroppedAnnotation { name } => {
                write!(out, "annotation {name} is dropped: it describes what was applied before")
            }
            Self::Draft { from, to } => write!(out, "{from} is a draft that was never served: it becomes {to}"),
            Self::Renewed { from, to } => write!(out, "{from} is written {to}, which llama-stack reads"),
            Self::PassedOver { places } => {
                write!(out, "llama-stack passes over these parts of the config, and they are left out: ")?;
                out.write_str(&places.join(", "))
            }
        }
    }
}

/// What a line of a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineKind {
    /// A rule of v1alpha2 refuses the result.
    Refused,
    /// A difference, or several of one kind.
    Difference(Class),
    /// Something that was done or left.
    Note,
    /// Nothing differs: config, environment and fields mean the same before and after.
    Same,
}

/// One line for a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What the line reports. Surfaces choose icons and order by it, never by the text.
    pub kind: LineKind,
    /// What it says, on one line, without a full stop.
    pub text: String,
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.kind {
            LineKind::Refused => "refused",
            LineKind::Difference(class) => class.word(),
            LineKind::Note | LineKind::Same => "note",
        };
        write!(out, "{word}: {}", self.text)
    }
}

impl MigrationReport {
    /// Whether everything that was there is as it was. There may be more than there was.
    #[must_use]
    pub fn means_the_same(&self) -> bool {
        self.differences.iter().all(|difference| difference.class == Class::Added)
    }

    /// The report in lines, what matters most first.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let refused = self
            .refused
            .iter()
            .map(|finding| Line { kind: LineKind::Refused, text: format!("{}: {}", finding.path, finding.message) });
        let (added, worse): (Vec<_>, Vec<_>) = self.differences.iter().partition(|one| one.class == Class::Added);
        let worse = worse.into_iter().map(|one| Line { kind: LineKind::Difference(one.class), text: one.to_string() });
        let added = grouped(&added).into_iter().map(|group| Line {
            kind: LineKind::Difference(Class::Added),
            text: format!("by the distribution: {group}"),
        });
        let notes = self.notes.iter().map(|note| Line { kind: LineKind::Note, text: note.to_string() });
        let mut lines: Vec<Line> = refused.chain(worse).chain(notes).chain(added).collect();
        // a draft was never served: there is nothing that its server could be compared with
        let is_draft = self.notes.iter().any(|note| matches!(note, Note::Draft { .. }));
        if self.means_the_same() && self.refused.is_empty() && !is_draft {
            lines.push(Line { kind: LineKind::Same, text: self.same() });
        }
        lines
    }

    fn same(&self) -> String {
        let what = if self.differences.is_empty() { "everything" } else { "everything that was there" };
        match &self.config {
            ConfigChange::Untouched => format!("{what} means the same as before"),
            ConfigChange::Generated { base } => {
                format!("{what} means the same as before, on the base config that llsd has of \"{base}\"")
            }
        }
    }
}
