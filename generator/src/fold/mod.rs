//! Older ways to say the same: drafts of earlier proposals, and v1alpha1 resources with a hand-written config or with
//! environment variables that the distribution's config reads.

mod config;
mod drafts;
mod meaning;
mod migrate;
mod provider;
mod spec;

pub use drafts::drafts;
pub use meaning::Difference;
pub use migrate::{ConfigChange, Migration, MigrationReport, Options, migrate, migrate_with};
