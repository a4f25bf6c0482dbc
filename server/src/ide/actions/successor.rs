//! The ways to ogx: a resource of llama-stack as `OGXServer`, a config for another version of the server.

use super::offer::{MigrationOffer, MigrationTarget};
use crate::ide::diagnostics::touches;
use crate::ide::file::Located;
use crate::ide::migrate::ogx::ToOgx;
use crate::ide::migrate::together_ogx::{old_readers, read_by, unwatched};
use crate::ide::migrate::{self, Migrated, NotMigrated};
use crate::ide::names::Query;
use crate::ide::resource::Resource;
use crate::ide::{Span, ToOgxOptions, place};
use llsd_generator::api::Kind;
use llsd_generator::catalog::Catalog;
use llsd_generator::config::{ConfigMigration, named};
use llsd_generator::ogx;
use llsd_generator::path::Path;

/// The ways of the resources of llama-stack in a document to `OGXServer`.
pub(super) fn of_resources(query: &Query<'_>, located: Located<'_>, inside: Span, found: &mut Vec<MigrationOffer>) {
    let is_touched = |resource: &Resource| {
        let root = located.document.tree().find(&place::steps(&resource.base, &Path::root()));
        resource.version.kind() == Kind::LlamaStackDistribution
            && migrate::is_readable(located.document, resource).is_ok()
            && (resource.base.segments().is_empty() || root.is_some_and(|root| touches(root.span(), inside)))
    };
    if !located.document.resources().iter().any(is_touched) {
        return;
    }
    let version = target(query);
    let is_bound = migrate::is_bound(query);
    let patches = if is_bound { " together with its patches" } else { "" };
    for (same_name, words) in [(false, ""), (true, ", keeping the name")] {
        let refused = if is_bound { of_group(query, same_name).err().map(|why| why.to_string()) } else { None };
        found.push(MigrationOffer {
            title: format!("Migrate to OGXServer with ogx {version}{patches}{words}"),
            document: located.number,
            target: MigrationTarget::Ogx { same_name },
            refused,
            ..MigrationOffer::default()
        });
    }
}

/// The rewrite of all that kustomizations patch together with what is asked about.
fn of_group(query: &Query<'_>, same_name: bool) -> Result<ToOgx, NotMigrated> {
    migrate::patched_ogx::of_group(query, &ToOgxOptions { version: target(query), same_name }, &|_| true)
}

/// The ways of a config to other versions of the server.
pub(super) fn of_configs(located: Located<'_>, inside: Span, found: &mut Vec<MigrationOffer>) {
    for (number, config) in located.document.configs().iter().enumerate() {
        let at = config.embedding().inner(inside.start);
        if at.is_none() && !config.embedding().is_document() {
            continue;
        }
        let judged = &config.versions(located.document.facts());
        for version in ConfigMigration::newer_versions(judged) {
            found.push(MigrationOffer {
                title: format!("Migrate the config to {}", named(version)),
                document: located.number,
                target: MigrationTarget::Config { number, to: version.to_owned() },
                ..MigrationOffer::default()
            });
        }
    }
}

/// The version of ogx that will run: that of the settings, if they name one.
fn target(query: &Query<'_>) -> &'static str {
    ogx::target_version(query.analysis.and_then(|analysis| analysis.workspace().assumed_version()))
}

/// The rewrite of all resources of a document as `OGXServer`, or of the whole file where kustomizations patch it.
pub(super) fn to_ogx(query: &Query<'_>, document: usize, same_name: bool) -> Result<Migrated, NotMigrated> {
    let options = ToOgxOptions { version: target(query), same_name };
    let made = match migrate::is_bound(query) {
        true => of_group(query, same_name)?,
        false => migrate::ogx::of_query(query, document, &options, &|_| true)?,
    };
    let mut further = made.lines();
    for object in &made.concerned.configs {
        let readers = old_readers(query, object, Some(document));
        let left = readers.iter().filter(|name| made.renamed.iter().all(|one| one.old != **name));
        further.extend(left.map(|name| read_by(name, object)));
    }
    further.extend(made.concerned.elsewhere.iter().map(unwatched));
    Ok(Migrated { edits: made.edits, others: made.others, further, ..Migrated::default() })
}

/// The rewrite of one config for another version.
pub(super) fn config(query: &Query<'_>, document: usize, number: usize, to: &str) -> Result<Migrated, NotMigrated> {
    let analysis = query.analysis.ok_or(NotMigrated::NoResource)?;
    let to = Catalog::for_version(to).filter(|known| known.version() == to).ok_or(NotMigrated::NoResource)?;
    let made = migrate::config::of_one(analysis, document, number, to.version())?;
    Ok(Migrated { edits: made.edits, further: made.migration.lines(), ..Migrated::default() })
}
