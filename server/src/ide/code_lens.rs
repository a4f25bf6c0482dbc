//! Lines above a resource that say what it comes to, and open it.

use super::document::DocumentAnalysis;
use super::ids::{self, Role};
use super::resource::Resource;
use super::{Analysis, Span, place};
use llsd_generator::api::ApiVersion;
use llsd_generator::path::Path;

/// What happens on a click on a lens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LensAction {
    /// Shows the config that is generated for the resource.
    Preview,
    /// Rewrites the resource in the newer version.
    Migrate {
        /// Number of the document in the file, from 0.
        document: usize,
    },
    /// Shows a list of these places of the same file.
    References(Vec<Span>),
}

/// A line of text that editors show above the line in which `span` begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// What it speaks of; on one line.
    pub span: Span,
    /// The text of the lens.
    pub title: String,
    /// What happens on a click.
    pub action: LensAction,
}

/// The lenses of the file, in the order of the text.
pub(crate) fn lenses(analysis: &Analysis) -> Vec<Lens> {
    let mut found = Vec::new();
    for located in analysis.documents() {
        let (number, document) = (located.number, located.document);
        let is_part = document.is_part();
        for resource in document.resources() {
            let Some(root) = document.tree().find(&place::steps(&resource.base, &Path::root())) else { continue };
            let mut lenses = Vec::new();
            let mut head = |title: String, action| lenses.push(Lens { span: place::name_span(root), title, action });
            match resource.version {
                // a patch follows its resource
                ApiVersion::V1Alpha1 if is_part => {}
                ApiVersion::V1Alpha1 => {
                    head("Migrate to v1alpha2".to_owned(), LensAction::Migrate { document: number });
                }
                ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => {
                    head("Preview config.yaml".to_owned(), LensAction::Preview);
                    if let Some(size) = size(document, resource) {
                        head(size, LensAction::Preview);
                    }
                    references(document, resource, &mut lenses);
                }
            }
            for lens in &mut lenses {
                lens.span = lens.span.shift(located.offset);
                if let LensAction::References(places) = &mut lens.action {
                    places.iter_mut().for_each(|place| *place = place.shift(located.offset));
                }
            }
            found.extend(lenses);
        }
        found.extend(patches(document).into_iter().map(|span| Lens {
            span: span.shift(located.offset),
            title: "Preview config.yaml".to_owned(),
            action: LensAction::Preview,
        }));
    }
    found.sort_by_key(|lens| lens.span.start);
    found
}

/// Where the patches begin that stand in a document as texts, and whose resources' configs are generated.
fn patches(document: &DocumentAnalysis) -> Vec<Span> {
    let newer = |patch: &DocumentAnalysis| match patch.resources().first() {
        Some(resource) => resource.version != ApiVersion::V1Alpha1,
        None => patch.facts().part.as_ref().is_some_and(|part| {
            !part.wholes.is_empty() && part.version.is_some_and(|version| version != ApiVersion::V1Alpha1)
        }),
    };
    let all = document.embedded().iter().filter(|one| newer(&one.document));
    let begins = all.map(|one| (one, one.outer(document.tree(), Span::new(0, 0))));
    // a client asks by the place
    begins.filter(|(one, span)| one.inside(document.tree(), span.start).is_some()).map(|(_, span)| span).collect()
}

/// `14 providers, 2 models` of the generated config.
fn size(document: &DocumentAnalysis, resource: &Resource) -> Option<String> {
    let generated = document.generated(resource)?;
    let is_model = |line: &&str| line.trim_start_matches([' ', '-']).starts_with("model_id:");
    let models = generated.config.text().lines().filter(is_model).count();
    Some(format!("{}, {}", count(generated.providers, "provider"), count(models, "model")))
}

/// A lens for each provider that models of the resource name.
fn references(document: &DocumentAnalysis, resource: &Resource, lenses: &mut Vec<Lens>) {
    let uses = ids::uses(document, resource);
    for declared in uses.iter().filter(|one| one.role != Role::Reference) {
        let places: Vec<Span> = uses
            .iter()
            .filter(|one| one.role == Role::Reference && one.id == declared.id)
            .map(|one| one.node.span())
            .collect();
        if !places.is_empty() {
            let title = count(places.len(), "reference");
            lenses.push(Lens { span: declared.node.span(), title, action: LensAction::References(places) });
        }
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
