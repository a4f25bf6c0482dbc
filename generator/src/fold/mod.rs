//! Older ways to say the same: drafts of earlier proposals, and v1alpha1 resources with a hand-written config or with
//! environment variables that the distribution's config reads.

mod drafts;

pub use drafts::drafts;
