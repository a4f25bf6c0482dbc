//! By which version of the server a place is judged, and what tells it.

use super::Analysis;
use super::document::DocumentAnalysis;
use super::resource::Resource;
use llsd_generator::config::mounting::{self, Told};
use llsd_generator::config::named;

/// The answer for one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedBy {
    /// The versions in words, such as `llama-stack 0.4.7` or `llama-stack 0.4.7 to 0.7.3`; empty where none is known.
    pub versions: String,
    /// What tells them, in words.
    pub reason: String,
}

/// The versions for the config at `offset`, else for the resource there, else for the first config of the document.
/// `None`: there is neither.
#[must_use]
pub fn judged_by(analysis: &Analysis, offset: usize) -> Option<JudgedBy> {
    let (located, inside) = analysis.at(offset)?;
    let document = &located.document;
    let here = document.config_at(inside).map(|(config, _)| config);
    let resource = document.resources().get(document.resource_number_at(inside));
    match (here, resource) {
        (None, Some(resource)) => Some(of_resource(document, resource)),
        (here, _) => {
            let (versions, reason) = here.or_else(|| document.configs().first())?.judged_by(document.facts());
            Some(JudgedBy { versions, reason })
        }
    }
}

fn of_resource(document: &DocumentAnalysis, resource: &Resource) -> JudgedBy {
    let Told { version, by, is_assumed } = mounting::told(resource.version, &resource.value, &resource.unknown);
    let settings = document.facts().llama_stack_version.as_deref();
    let (version, reason) = match (version, settings) {
        (Some(version), None) => (version, by),
        (Some(version), Some(_)) if !is_assumed => (version, by),
        (_, Some(version)) => (version.to_owned(), "the version that the settings name".to_owned()),
        (None, None) => {
            let reason = "neither the distribution, its image nor the settings tell the version";
            return JudgedBy { versions: String::new(), reason: reason.to_owned() };
        }
    };
    JudgedBy { versions: named(&version), reason }
}
