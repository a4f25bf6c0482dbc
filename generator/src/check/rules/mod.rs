//! Rules beyond the CRD, one file each.
//!
//! A rule looks at a [`Subject`], which may be broken or partly unknown, and says nothing about what it cannot know.

mod command_file;
mod config_key;
mod cross_namespace;
mod disabled;
mod distribution;
mod drafts;
mod duplicate_id;
mod endpoint;
mod env;
mod generation;
mod header;
mod label_key;
mod metadata;
mod misplaced;
mod model_provider;
mod name;
mod placeholder;
mod plain_secret;
mod provider_fields;
mod provider_type;
mod references;
mod schema;
mod secret_variable;
mod settings;
mod unquoted_variable;

pub use references::{Reference, ReferenceKind};
pub(super) use references::{check as judge_references, is_about_objects, references};
pub use unquoted_variable::unquoted_variables;

use super::finding::Severity;
use super::subject::{Report, Subject};
use std::sync::LazyLock;

/// What a rule is, for `llsd explain` and the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// The stable id, as findings carry it.
    pub id: &'static str,
    /// How much its findings weigh; some may weigh less.
    pub severity: Severity,
    /// What it looks for, in one sentence.
    pub summary: &'static str,
    /// Why that matters: what would happen otherwise.
    pub why: &'static str,
    /// A piece of a resource that it speaks of.
    pub example: &'static str,
}

/// Every rule that a finding can name, by id.
#[must_use]
pub fn rules() -> &'static [RuleInfo] {
    static RULES: LazyLock<Vec<RuleInfo>> = LazyLock::new(|| {
        let files: [&[RuleInfo]; 24] = [
            command_file::RULES,
            config_key::RULES,
            cross_namespace::RULES,
            distribution::RULES,
            drafts::RULES,
            duplicate_id::RULES,
            endpoint::RULES,
            env::RULES,
            generation::RULES,
            header::RULES,
            label_key::RULES,
            metadata::RULES,
            misplaced::RULES,
            model_provider::RULES,
            name::RULES,
            placeholder::RULES,
            plain_secret::RULES,
            provider_fields::RULES,
            provider_type::RULES,
            references::RULES,
            schema::RULES,
            secret_variable::RULES,
            settings::RULES,
            unquoted_variable::RULES,
        ];
        let mut all: Vec<RuleInfo> = files.into_iter().flatten().copied().collect();
        all.sort_by_key(|rule| rule.id);
        all
    });
    &RULES
}

/// Runs every rule, in the order in which a reader meets the fields.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let all: [fn(&Subject<'_>, &mut Report); 20] = [
        metadata::check,
        name::check,
        misplaced::check,
        distribution::check,
        provider_type::check,
        duplicate_id::check,
        disabled::check,
        provider_fields::check,
        endpoint::check,
        secret_variable::check,
        settings::check,
        model_provider::check,
        label_key::check,
        env::check,
        plain_secret::check,
        command_file::check,
        config_key::check,
        cross_namespace::check,
        references::check,
        placeholder::check,
    ];
    for rule in all {
        rule(subject, report);
    }
}
