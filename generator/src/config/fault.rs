//! What one version of the server has to say about one place of a config.

use crate::check::finding::{Fix, Severity};
use crate::path::{Path, Segment};

/// The step of a path that numbers an entry: the third, behind section and list.
const ITEM: usize = 2;

/// What kind of fault it is. Each kind is one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// A key that the section does not have.
    UnknownKey,
    /// A key that this version reads under another name or at another place.
    RenamedKey,
    /// A value of the wrong type, or outside of what is accepted.
    WrongValue,
    /// A key without which the server does not start.
    MissingKey,
    /// An API that the version does not have, or that takes no providers.
    UnknownApi,
    /// A provider type that the version does not have.
    UnknownType,
    /// A key or type that is on its way out.
    Deprecated,
    /// Two providers of one API with the same id, or two registrations of one name.
    Duplicate,
    /// A name that leads to nothing: a provider, a storage backend, a model.
    DanglingName,
    /// An API that is served without what it needs, or a provider that nobody serves.
    ApiMismatch,
    /// A default that turns into a value of the wrong type once it is substituted.
    WrongDefault,
    /// A secret in plain text.
    PlainSecret,
    /// Two storage backends that use one file.
    SharedStorage,
}

/// One fault, as one version sees it.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) kind: Kind,
    pub(super) severity: Severity,
    pub(super) path: Path,
    /// Whether it speaks of the key at `path` and not of its value.
    pub(super) at_key: bool,
    /// The sentence, without the version: that is put in front when findings are made.
    pub(super) message: String,
    pub(super) fix: Option<Fix>,
}

impl Fault {
    pub(super) fn error(kind: Kind, path: Path, message: impl Into<String>) -> Self {
        Self { kind, severity: Severity::Error, path, at_key: false, message: message.into(), fix: None }
    }

    pub(super) fn warning(kind: Kind, path: Path, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(kind, path, message) }
    }

    pub(super) fn on_key(mut self) -> Self {
        self.at_key = true;
        self
    }

    /// Has it speak of item `position` of the list in which its entry stands: `providers.inference[position]`.
    pub(super) fn stand_in_item(&mut self, position: usize) {
        let moved = |path: &Path| -> Path {
            let segments = path.segments().iter().enumerate();
            segments.map(|(at, segment)| if at == ITEM { Segment::Index(position) } else { segment.clone() }).collect()
        };
        self.path = moved(&self.path);
        for edit in self.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.paths_mut().into_iter().for_each(|path| *path = moved(path));
        }
    }

    pub(super) fn with(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }
}
