//! Rules beyond the CRD, one file each.
//!
//! A file has its rules as statics, their check, and what mends their findings. A new one needs a `mod` and a line in
//! [`GROUPS`]. A check looks at a [`RuleContext`], which may be broken or partly unknown, and says nothing about what it cannot
//! know.

#![allow(missing_docs, reason = "each rule has a summary, from which the documentation is made")]

pub mod allowed_from;
pub mod annotations;
pub mod becomes_number;
pub mod command_file;
pub mod config_key;
pub mod crd_rule;
pub mod cross_namespace;
pub mod disabled;
pub mod distribution;
pub mod drafts;
pub mod duplicate_id;
pub mod endpoint;
pub mod env;
pub mod exposed;
pub mod external_id;
pub mod generation;
pub mod header;
pub mod ignore;
pub mod invisible;
pub mod kustomize;
pub mod label_key;
pub mod metadata;
pub mod misplaced;
pub mod model_provider;
pub mod mounted_config;
pub mod name;
pub mod object_name;
pub mod placeholder;
pub mod plain_secret;
pub mod provider_fields;
pub mod provider_type;
pub mod references;
pub mod replicas;
pub mod schema;
pub mod secret_in_settings;
pub mod secret_variable;
pub mod server_config;
pub mod server_settings;
pub mod settings;
pub mod substitution;
pub mod unquoted_variable;
pub mod yaml;

pub(super) use references::required;
pub use unquoted_variable::unquoted_variables;

use super::context::{Report, RuleContext};
use super::rule::{Group, Rule};
use crate::api::Kind;
use std::sync::LazyLock;

/// Every file of rules for `LlamaStackDistribution`. Checks run in this order, in which a reader meets the fields.
static GROUPS: &[&Group] = &[
    &drafts::GROUP,
    &metadata::GROUP,
    &annotations::GROUP,
    &name::GROUP,
    &misplaced::GROUP,
    &distribution::GROUP,
    &provider_type::GROUP,
    &duplicate_id::GROUP,
    &disabled::GROUP,
    &provider_fields::GROUP,
    &endpoint::GROUP,
    &secret_variable::GROUP,
    &secret_in_settings::GROUP,
    &settings::GROUP,
    &substitution::GROUP,
    &external_id::GROUP,
    &model_provider::GROUP,
    &label_key::GROUP,
    &allowed_from::GROUP,
    &exposed::GROUP,
    &env::GROUP,
    &becomes_number::GROUP,
    &plain_secret::GROUP,
    &command_file::GROUP,
    &config_key::GROUP,
    &replicas::GROUP,
    &server_settings::GROUP,
    &cross_namespace::GROUP,
    &object_name::GROUP,
    &references::GROUP,
    &placeholder::GROUP,
    &invisible::GROUP,
    // found by others: the schema, generation, the reader of the text
    &crd_rule::GROUP,
    &generation::GROUP,
    &header::GROUP,
    &ignore::GROUP,
    &kustomize::GROUP,
    &schema::GROUP,
    &mounted_config::GROUP,
    &server_config::GROUP,
    &unquoted_variable::GROUP,
    &yaml::GROUP,
];

/// Every rule that a finding can name, by id.
#[must_use]
pub fn all() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        let groups = GROUPS.iter().chain(crate::ogx::rules::GROUPS);
        let mut all: Vec<&'static Rule> = groups.flat_map(|group| group.rules).copied().collect();
        all.sort_by_key(|rule| rule.id);
        all
    });
    &ALL
}

/// The rule of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    let all = all();
    all.binary_search_by_key(&id, |rule| rule.id).ok().map(|position| all[position])
}

/// Those that speak of fields which every kind has, in the same order.
static OF_EVERY_KIND: &[&Group] = &[
    &metadata::GROUP,
    &annotations::GROUP,
    &name::GROUP,
    &misplaced::GROUP,
    &env::GROUP,
    &becomes_number::GROUP,
    &plain_secret::GROUP,
    &command_file::GROUP,
    &object_name::GROUP,
    &references::GROUP,
    &placeholder::GROUP,
    &invisible::GROUP,
];

/// Runs every check of the resource's kind.
pub(super) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let groups: Vec<&Group> = match context.version.kind() {
        Kind::LlamaStackDistribution => GROUPS.to_vec(),
        Kind::OgxServer => OF_EVERY_KIND.iter().chain(crate::ogx::rules::GROUPS).copied().collect(),
    };
    for check in groups.into_iter().filter_map(|group| group.check) {
        check(context, report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_every_rule_is_documented() {
        for pair in all().windows(2) {
            assert_ne!(pair[0].id, pair[1].id);
        }
        for rule in all() {
            assert_eq!(rule.id.split("::").count(), 3, "{rule}");
            assert!(rule.id.starts_with("llsd::"), "{rule}");
            assert!(!rule.summary.is_empty() && !rule.why.is_empty() && !rule.example.is_empty(), "{rule}");
        }
    }
}
