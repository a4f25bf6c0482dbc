//! Rules beyond the CRD that speak of `OGXServer` alone, one file each, as in [`crate::check::rules`].

#![allow(missing_docs, reason = "each rule has a summary, from which the documentation is made")]

pub mod adoption;
pub mod ids;
pub mod image;
pub mod no_effect;
pub mod pod;
pub mod policy;
pub mod refused;
pub mod watch;

use crate::check::rule::Group;

/// Every file of rules. Checks run in this order, in which a reader meets the fields.
pub(crate) static GROUPS: &[&Group] = &[
    &adoption::GROUP,
    &image::GROUP,
    &ids::GROUP,
    &no_effect::GROUP,
    &policy::GROUP,
    &pod::GROUP,
    &watch::GROUP,
    // found by the verdict on the generated config
    &refused::GROUP,
];
