//! What is not as it was before a migration, as data.

use std::fmt;

/// How bad a difference is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Something is gone, or the server looks for its state at another place.
    Loss,
    /// A value differs, so that the server may behave otherwise. Nothing is gone.
    Change,
    /// It cannot be told from what is known here whether it means the same.
    Unknown,
    /// The server has something besides what it had; all that was there is as before.
    Added,
}

impl Class {
    /// The word for it in front of a message.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Change => "change",
            Self::Unknown => "not known",
            Self::Added => "added",
        }
    }
}

/// Which part of the whole a place belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The config that the server reads, its variables filled in.
    Config,
    /// The environment of the server's container.
    Environment,
    /// Everything else that the resource says: image, command, ports, volumes, scaling, network.
    Resource,
}

/// Why a difference is there, where it is not what it looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The config has the value under a key, or in a form, of older versions of llama-stack, which the present one does
    /// not read.
    OlderForm,
}

/// A place at which the server, or the resource, is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How much the difference matters. Lists of differences are ordered by it, worst first.
    pub class: Class,
    /// What the place belongs to.
    pub part: Part,
    /// The place: `providers.inference[vllm].config.max_tokens` of a config, the name of a variable, the path of a field
    /// of the old resource.
    pub place: String,
    /// What was there before; `None` if nothing. Values that may be secret are hidden.
    pub before: Option<String>,
    /// What is there now; `None` if nothing.
    pub after: Option<String>,
    /// Why, where that is known to be harmless or meant.
    pub cause: Option<Cause>,
}

impl Difference {
    /// Whether it stands in the way of a folding: nothing may get lost or change by it, but for what an older form of
    /// the config meant to say.
    #[must_use]
    pub fn stands_in_the_way(&self) -> bool {
        self.class != Class::Added && self.cause.is_none()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, before, after, .. } = self;
        match (before, after) {
            (Some(before), Some(after)) => write!(out, "{place}: {before} becomes {after}")?,
            (Some(before), None) => write!(out, "{place}: {before} is gone")?,
            (None, Some(after)) => write!(out, "{place}: {after} is new")?,
            (None, None) => write!(out, "{place}")?,
        }
        match self.cause {
            Some(Cause::OlderForm) => out.write_str(" (written in a form that this llama-stack no longer reads)"),
            None => Ok(()),
        }
    }
}

/// Additions in a few lines, one for each kind of thing: all providers that the distribution brings are one line.
pub(super) fn grouped(additions: &[&Difference]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for one in additions {
        let named = one.place.split_once('[').and_then(|(list, rest)| Some((list, rest.strip_suffix(']')?)));
        let (kind, name) = match named.map(|(list, name)| (list.split_once('.'), list, name)) {
            Some((Some((kind, list)), _, name)) => (kind, format!("{list}/{name}")),
            Some((None, list, name)) => (list, name.to_owned()),
            None => ("sections", one.place.split('.').next().unwrap_or(&one.place).to_owned()),
        };
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push((kind, vec![name])),
        }
    }
    groups.into_iter().map(|(kind, names)| format!("{kind} ({}): {}", names.len(), names.join(", "))).collect()
}
