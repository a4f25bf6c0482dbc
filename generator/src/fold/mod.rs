//! Older ways to say the same: v1alpha1 resources with a hand-written config or with
//! environment variables that the distribution's config reads.

mod config;
mod difference;
mod environment;
mod ground;
mod meaning;
mod migrate;
mod patch;
mod provider;
mod quickstart;
mod report;
mod spec;
mod whole;

pub use difference::{Cause, Class, Difference, Part};
pub use environment::Bound;
pub use migrate::{MigrateError, Migration, Options, UserConfig, migrate, migrate_with};
pub use patch::{Met, Unmoved, differences, merge_patch, operation};
pub use quickstart::is_quickstart;
pub use report::{ConfigChange, Kept, Line, LineKind, MigrationReport, Note, Why};
