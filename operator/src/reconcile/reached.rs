//! How far the steps of a reconcile got, and why they ended.

use crate::api::ApiError;
use crate::steps::Refusal;
use crate::steps::adopt::Adoption;
use crate::steps::apply::{Applied, ApplyError};
use crate::steps::judge::{Judged, Secrets};
use crate::steps::resolve::{Resolved, Unresolved};

/// How far the steps got, with what they came to.
pub(super) enum Reached {
    Nothing,
    Resolved(Resolved),
    Judged(Resolved, Verdict),
    Secrets(Resolved, Verdict, Secrets),
    Adopted(Resolved, Verdict, Secrets, Adoption),
    Applied(Resolved, Verdict, Secrets, Adoption, Applied),
}

/// A resource that passed validation, with what follows from its spec.
pub(super) struct Verdict {
    pub(super) judged: Judged,
    pub(super) port: u16,
}

impl Reached {
    pub(super) fn resolved(&self) -> Option<&Resolved> {
        match self {
            Self::Nothing => None,
            Self::Resolved(resolved)
            | Self::Judged(resolved, ..)
            | Self::Secrets(resolved, ..)
            | Self::Adopted(resolved, ..)
            | Self::Applied(resolved, ..) => Some(resolved),
        }
    }

    pub(super) fn verdict(&self) -> Option<&Verdict> {
        match self {
            Self::Nothing | Self::Resolved(_) => None,
            Self::Judged(_, verdict)
            | Self::Secrets(_, verdict, _)
            | Self::Adopted(_, verdict, ..)
            | Self::Applied(_, verdict, ..) => Some(verdict),
        }
    }

    pub(super) fn secrets(&self) -> Option<&Secrets> {
        match self {
            Self::Secrets(.., secrets) | Self::Adopted(_, _, secrets, _) | Self::Applied(_, _, secrets, ..) => {
                Some(secrets)
            }
            _ => None,
        }
    }

    pub(super) fn adoption(&self) -> Option<&Adoption> {
        match self {
            Self::Adopted(.., adoption) | Self::Applied(_, _, _, adoption, _) => Some(adoption),
            _ => None,
        }
    }

    pub(super) fn applied(&self) -> Option<&Applied> {
        match self {
            Self::Applied(.., applied) => Some(applied),
            _ => None,
        }
    }

    pub(super) fn conflicts(&self) -> &[String] {
        self.applied().map(|applied| applied.conflicts.as_slice()).unwrap_or_default()
    }
}

/// Why the steps ended early.
pub(super) enum Stop {
    /// The resource asks for what cannot be.
    Refused(Refusal),
    /// The API server does not let the operator do it.
    Denied(Refusal),
    /// A request to the API server failed; the queue tries again later.
    Failed(ApiError),
    /// Something was found that the stores did not know.
    Again,
    /// A registry has not answered yet.
    Pending,
}

impl From<Unresolved> for Stop {
    fn from(reason: Unresolved) -> Self {
        match reason {
            Unresolved::Refused(refusal) => refusal.into(),
            Unresolved::Pending => Self::Pending,
        }
    }
}

impl From<ApplyError> for Stop {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Refused(message) => Self::Denied(Refusal::resources(message)),
            ApplyError::Request(error) => error.into(),
            ApplyError::Again => Self::Again,
        }
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}
