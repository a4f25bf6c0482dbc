//! The ways to rewrite a v1alpha1 resource as v1alpha2.

use crate::ide::diagnostics::touches;
use crate::ide::document::Resource;
use crate::ide::facts::Reference;
use crate::ide::file::Located;
use crate::ide::migrate::{self, Migrated};
use crate::ide::types::TextEdit;
use crate::ide::workspace::ObjectKey;
use crate::ide::{Analysis, Span, place};
use llsd_generator::api::ApiVersion;
use llsd_generator::fold::Options;
use llsd_generator::path::Path;
use serde_json::Value;

/// One way to migrate one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationOffer {
    /// In the imperative.
    pub title: String,
    /// Number of the document in the file, from 0.
    pub document: usize,
    /// Number of the resource in the document, from 0.
    pub resource: usize,
    /// Whether a known ConfigMap or known variables are said in the resource from now on.
    pub fold: bool,
    /// Whether the document of the ConfigMap that was folded goes.
    pub remove: bool,
}

/// The ways to migrate the resources that `span` touches. Nothing is rewritten yet.
pub(crate) fn offers(analysis: &Analysis, span: Span) -> Vec<MigrationOffer> {
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
            migrate::is_possible(located.document, resource)
                && (whole || root.is_some_and(|root| touches(root.span(), inside)))
        });
        if let Some((number, resource)) = touched {
            of_resource(analysis, located, number, resource, &mut found);
        }
    }
    found
}

fn of_resource(
    analysis: &Analysis,
    located: Located<'_>,
    number: usize,
    resource: &Resource,
    found: &mut Vec<MigrationOffer>,
) {
    let config_map = user_config(resource).filter(|key| knows(located, key));
    let mut offer = |title: String, fold: bool, remove: bool| {
        found.push(MigrationOffer { title, document: located.number, resource: number, fold, remove });
    };
    offer("Migrate to v1alpha2".to_owned(), true, false);
    if let Some((_, name)) = &config_map
        && removable(analysis, located, resource).is_some()
    {
        offer(format!("Migrate to v1alpha2 and remove ConfigMap \"{name}\""), true, true);
    }
    let has_variables = Path::parse("spec.server.containerSpec.env")
        .find(&resource.value)
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty());
    if config_map.is_some() {
        offer("Migrate to v1alpha2, keeping the ConfigMap".to_owned(), false, false);
    } else if has_variables {
        offer("Migrate to v1alpha2, keeping all variables".to_owned(), false, false);
    }
}

/// The rewrite that was offered; `None` if the text has changed so that there is none.
pub(crate) fn edits(analysis: &Analysis, offer: &MigrationOffer) -> Option<Migrated> {
    let located = analysis.document(offer.document)?;
    let resource = located.document.resources().get(offer.resource)?;
    let options = Options { config_map: offer.fold, env: offer.fold };
    let (mut migrated, value) = migrate::migrate_with(located.document, resource, options)?;
    migrated.edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
    let folded = Path::parse("spec.overrideConfig").find(&value).is_none();
    if offer.remove
        && folded
        && let Some(span) = removable(analysis, located, resource)
    {
        migrated.edits.push(TextEdit { span, new_text: String::new() });
    }
    Some(migrated)
}

/// Namespace and name of the ConfigMap with the server's config.
fn user_config(resource: &Resource) -> Option<ObjectKey> {
    if resource.version != ApiVersion::V1Alpha1 {
        return None;
    }
    let name = Path::parse("spec.server.userConfig.configMapName").find(&resource.value)?.as_str()?;
    Some((resource.namespace().to_owned(), name.to_owned()))
}

fn knows(located: Located<'_>, key: &ObjectKey) -> bool {
    located.document.facts().config_maps.as_ref().is_some_and(|known| known.contains_key(key))
}

/// The document of the ConfigMap that only this resource refers to, if it holds nothing else.
fn removable(analysis: &Analysis, at: Located<'_>, resource: &Resource) -> Option<Span> {
    let (namespace, name) = user_config(resource)?;
    let refers = |reference: &Reference| matches!(reference, Reference::ConfigMap((_, other)) if *other == name);
    let referring = analysis.documents().filter(|located| located.document.references().iter().any(refers)).count();
    if referring != 1 || at.document.resources().len() != 1 {
        return None;
    }
    let mut holding = analysis.documents().filter(|located| {
        let document = located.document;
        let kind = document.tree().root().and_then(|root| root.get("kind")).map(|kind| kind.value().into_owned());
        let mut known = document.objects().config_maps.keys();
        kind.as_deref() == Some("ConfigMap")
            && known.any(|(other, known)| {
                *known == name && (*other == namespace || other.is_empty() || namespace.is_empty())
            })
    });
    let found = holding.next().filter(|_| holding.next().is_none())?;
    Some(Span::new(found.offset, found.offset + found.document.tree().text().len()))
}
