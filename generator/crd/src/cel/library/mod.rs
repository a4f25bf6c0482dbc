//! The functions that rules of CRDs can call: CEL's own, its extensions for strings, lists, sets and optionals, and
//! those of Kubernetes.

pub(crate) mod arithmetic;
pub(crate) mod convert;
pub(crate) mod formats;
pub(crate) mod lists;
pub(crate) mod network;
pub(crate) mod optionals;
pub(crate) mod print;
pub(crate) mod quantity;
pub(crate) mod regexes;
pub(crate) mod semver;
pub(crate) mod strings;
pub(crate) mod times;

use super::program::Function;

/// The function of this name. `count` is the number of arguments; with `member` the first is what it is called on.
pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    arithmetic::function(name, member, count)
        .or_else(|| convert::function(name, member, count))
        .or_else(|| strings::function(name, member, count))
        .or_else(|| lists::function(name, member, count))
        .or_else(|| regexes::function(name, member, count))
        .or_else(|| network::function(name, member, count))
        .or_else(|| quantity::function(name, member, count))
        .or_else(|| semver::function(name, member, count))
        .or_else(|| formats::function(name, member, count))
        .or_else(|| optionals::function(name, member, count))
        .or_else(|| times::function(name, member, count))
}
