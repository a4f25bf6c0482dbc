//! What a migration is offered as.

use serde::{Deserialize, Serialize};

/// What a resource or config is to become.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MigrationTarget {
    /// The resource in v1alpha2.
    #[default]
    Newer,
    /// All resources of the document as `OGXServer`.
    Ogx {
        /// Whether they keep their names, in place of adopting volume and Service of the old.
        same_name: bool,
    },
    /// A config of the document for another version of the server.
    Config {
        /// Its number in the document, from 0.
        number: usize,
        /// The version, which has a catalog.
        to: String,
    },
}

/// One way to migrate one resource or config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationOffer {
    /// What the menu shows, in the imperative: `Migrate to v1alpha2`.
    pub title: String,
    /// What comes of it. What `fold`, `remove` and `deletes` say counts for [`MigrationTarget::Newer`] alone.
    pub target: MigrationTarget,
    /// Number of the document in the file, from 0.
    pub document: usize,
    /// Number of the resource in the document, from 0.
    pub resource: usize,
    /// Whether a known ConfigMap or known variables are said in the resource from now on.
    pub fold: bool,
    /// Whether the document of the ConfigMap that was folded goes.
    pub remove: bool,
    /// Whether a file goes with it, which has nothing else.
    pub deletes: bool,
    /// Why it cannot be done, where a user would wonder that it is not offered.
    pub refused: Option<String>,
}
