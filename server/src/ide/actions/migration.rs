//! The ways to rewrite a resource or config: a v1alpha1 resource as v1alpha2 here, for ogx in [`successor`].

use super::objects::{self, Changes};
use super::offer::{MigrationOffer, MigrationTarget};
use super::successor;
use crate::ide::diagnostics::touches;
use crate::ide::file::Located;
use crate::ide::file_names::file_name;
use crate::ide::migrate::{self, Migrated, NotMigrated};
use crate::ide::names::{LocatedOccurrence, Query, Symbol, TextId};
use crate::ide::objects::ObjectKey;
use crate::ide::resource::Resource;
use crate::ide::types::TextEdit;
use crate::ide::{Span, place};
use llsd_generator::fold::{Options, UserConfig};
use llsd_generator::path::Path;
use serde_json::Value;
use std::mem;

/// The ways to migrate the resources that `span` touches. Nothing is rewritten yet.
pub(crate) fn offers(query: &Query<'_>, span: Span) -> Vec<MigrationOffer> {
    let Some(analysis) = query.analysis else { return Vec::new() };
    let mut found = Vec::new();
    for located in analysis.documents() {
        let here = Span::new(located.offset, located.offset + located.document.tree().text().len());
        if !touches(here, span) {
            continue;
        }
        let inside = Span::new(span.start.saturating_sub(located.offset), span.end.saturating_sub(located.offset));
        let touched = located.document.resources().iter().enumerate().find(|(_, resource)| {
            let root = located.document.tree().find(&place::steps(&resource.base, &Path::root()));
            let whole = resource.base.segments().is_empty();
            migrate::is_possible(located.document, resource).is_ok()
                && (whole || root.is_some_and(|root| touches(root.span(), inside)))
        });
        if let Some((number, resource)) = touched {
            of_resource(query, located, number, resource, &mut found);
        }
        successor::of_resources(query, located, inside, &mut found);
        successor::of_configs(located, inside, &mut found);
    }
    found
}

fn of_resource(
    query: &Query<'_>,
    located: Located<'_>,
    number: usize,
    resource: &Resource,
    found: &mut Vec<MigrationOffer>,
) {
    let config_map = migrate::user_config(resource).filter(|key| knows(query, key));
    let is_bound = migrate::is_bound(query);
    let refused = match is_bound {
        true => migrate::of_group(query, Options::default()).err().map(|why| why.to_string()),
        false => None,
    };
    let mut offer = |title: String, fold: bool, remove: Option<bool>| {
        let (remove, deletes) = (remove.is_some(), remove == Some(true));
        let refused = refused.clone();
        found.push(MigrationOffer {
            title,
            target: MigrationTarget::Newer,
            document: located.number,
            resource: number,
            fold,
            remove,
            deletes,
            refused,
        });
    };
    if is_bound {
        return offer("Migrate to v1alpha2 together with its patches".to_owned(), true, None);
    }
    offer("Migrate to v1alpha2".to_owned(), true, None);
    if let Some((_, name)) = &config_map
        && let Some(removal) = removable(query, located, resource)
    {
        let file = match &removal.found.place {
            TextId::File(file) if removal.whole => format!(", with the file {}", file_name(file)),
            _ => objects::in_file(query, &removal.found),
        };
        offer(format!("Migrate to v1alpha2 and remove ConfigMap \"{name}\"{file}"), true, Some(removal.whole));
    }
    let has_variables = Path::parse("spec.server.containerSpec.env")
        .find(&resource.value)
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty());
    if config_map.is_some() {
        offer("Migrate to v1alpha2, keeping the ConfigMap".to_owned(), false, None);
    } else if has_variables {
        offer("Migrate to v1alpha2, keeping all variables".to_owned(), false, None);
    }
}

/// The rewrite that was offered.
///
/// # Errors
/// There is none: the text has changed, or something would be lost.
pub(crate) fn edits(query: &Query<'_>, offer: &MigrationOffer) -> Result<Migrated, NotMigrated> {
    match &offer.target {
        MigrationTarget::Newer => {}
        MigrationTarget::Ogx { same_name } => return successor::to_ogx(query, offer.document, *same_name),
        MigrationTarget::Config { number, to } => return successor::config(query, offer.document, *number, to),
    }
    let analysis = query.analysis.ok_or(NotMigrated::NoResource)?;
    let located = analysis.document(offer.document).ok_or(NotMigrated::NoResource)?;
    let resource = located.document.resources().get(offer.resource).ok_or(NotMigrated::NoResource)?;
    let options = Options { config_map: offer.fold, env: offer.fold };
    if migrate::is_bound(query) {
        return migrate::of_group(query, options);
    }
    let (mut migrated, overrides) = migrate::of_one(analysis, (offer.document, offer.resource), options)?;
    if offer.remove
        && !overrides
        && let Some(removal) = removable(query, located, resource)
    {
        let name = removal.found.occurrence.symbol.name().to_owned();
        let comments = removal.comments.into_iter().chain(mem::take(&mut migrated.left)).collect();
        migrated.removed = Some((name, comments));
        let gone = TextEdit { span: removal.span, new_text: String::new() };
        match &removal.found.place {
            TextId::File(file) if removal.whole => migrated.deletes = Some(file.clone()),
            _ => {
                let mut changes = Changes::default();
                changes.add(query, &removal.found, vec![gone]).ok_or(NotMigrated::NoResource)?;
                migrated.edits.extend(changes.own);
                migrated.others.extend(changes.others);
            }
        }
    }
    Ok(migrated)
}

fn knows(query: &Query<'_>, key: &ObjectKey) -> bool {
    query.analysis.is_some_and(|analysis| matches!(analysis.user_config(key), UserConfig::Data(_)))
}

/// A ConfigMap that nobody needs any more.
struct Removal {
    /// Where the ConfigMap is declared.
    found: LocatedOccurrence,
    /// The bytes that go: its document, or its item in a list.
    span: Span,
    /// Whether its file has nothing else.
    whole: bool,
    /// Comments beside what it says.
    comments: Vec<String>,
}

/// The ConfigMap that only this resource refers to in the whole workspace, if its document holds nothing else. A file
/// that a kustomization lists is not emptied: nothing could be built then.
fn removable(query: &Query<'_>, at: Located<'_>, resource: &Resource) -> Option<Removal> {
    let object = Symbol::ConfigMap(migrate::user_config(resource)?);
    let found = objects::declared(query, &object)?;
    let refers =
        |one: &&LocatedOccurrence| !one.is_declaration() && matches!(one.occurrence.symbol, Symbol::ConfigMap(_));
    let all = query.named(&object);
    let referring: Vec<&LocatedOccurrence> = all.iter().filter(refers).collect();
    let is_this = |one: &LocatedOccurrence| one.place == query.place && one.document == at.number;
    if at.document.resources().len() != 1 || referring.len() != 1 || !is_this(referring[0]) {
        return None;
    }
    let analysis = found.analysis()?;
    let located = analysis.document(found.document)?;
    let tree = located.document.tree();
    let kind = tree.root().and_then(|root| root.get("kind")).map(|kind| kind.value().into_owned());
    if kind.as_deref() != Some("ConfigMap") {
        return None;
    }
    let others = analysis.documents().filter(|other| other.document.tree().root().is_some()).count();
    let whole = others == 1;
    let TextId::File(file) = &found.place else { return None };
    if whole && analysis.workspace().is_listed(file) {
        return None;
    }
    let comments =
        tree.comments().iter().map(|comment| comment.span.slice(tree.text()).trim_end().to_owned()).collect();
    let span = Span::new(located.offset, located.offset + tree.text().len());
    Some(Removal { found, span, whole, comments })
}
