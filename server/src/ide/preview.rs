//! The config that a resource stands for, with the origin of every line.

use super::document::{DocumentAnalysis, Resource};
use super::types::{LineOrigin, OriginKind, Preview, PreviewEnv};
use super::{Analysis, Span, place};
use llsd_generator::api::ApiVersion;
use llsd_generator::check::finding::{Severity, Target};
use llsd_generator::generate::{ConfigSource, EnvSource, Generated, Origin};
use llsd_generator::path::Path;
use std::ops::Range;

pub(crate) fn preview(analysis: &Analysis, number: usize, resource: usize) -> Option<Preview> {
    let located = analysis.document(number)?;
    let document = located.document;
    let resource = document.resources().get(resource)?;
    let Some(generated) = document.generated(resource) else {
        return Some(nothing(resource, &reason(document, resource)));
    };
    Some(Preview {
        name: resource.name().to_owned(),
        text: generated.text.clone(),
        lines: generated.lines.iter().map(|origin| line(document, resource, origin, located.offset)).collect(),
        env: generated
            .env
            .iter()
            .map(|variable| PreviewEnv {
                name: variable.name.clone(),
                source: source(&variable.source),
                path: variable.origin.to_string(),
            })
            .collect(),
        hash: generated.hash.clone(),
        warnings: generated.warnings.iter().map(|finding| finding.message.clone()).collect(),
    })
}

/// The lines that the field at `path` produced, counted from 0.
pub(super) fn produced(generated: &Generated, path: &Path) -> Vec<Range<usize>> {
    generated.produced.get(path).cloned().unwrap_or_default()
}

fn line(document: &DocumentAnalysis, resource: &Resource, origin: &Origin, offset: usize) -> LineOrigin {
    match origin {
        Origin::Resource(path) => LineOrigin {
            kind: OriginKind::Resource,
            path: path.to_string(),
            source_span: Some(source_span(document, resource, path).shift(offset)),
        },
        Origin::Base { line } => LineOrigin { kind: OriginKind::Base, path: (line + 1).to_string(), source_span: None },
        Origin::Default(what) => LineOrigin { kind: OriginKind::Default, path: (*what).to_owned(), source_span: None },
        Origin::Rule(what) => LineOrigin { kind: OriginKind::Rule, path: (*what).to_owned(), source_span: None },
    }
}

fn source_span(document: &DocumentAnalysis, resource: &Resource, path: &Path) -> Span {
    place::span(document.tree(), &place::steps(&resource.base, path), Target::Key)
}

fn source(source: &EnvSource) -> String {
    match source {
        EnvSource::Secret(secret) => format!("Secret {}, key {}", secret.name, secret.key),
        EnvSource::Derived(secret) => format!("derived Secret, key {}", secret.key),
    }
}

fn reason(document: &DocumentAnalysis, resource: &Resource) -> String {
    if resource.version == ApiVersion::V1Alpha1 {
        return "A v1alpha1 resource generates no config: migrate it to v1alpha2.".to_owned();
    }
    let outcome = document.outcome(resource);
    if let Some(error) = outcome.findings.iter().find(|finding| finding.severity == Severity::Error) {
        return format!("No config while this is wrong: {}", error.message);
    }
    match outcome.model.as_ref().map(|model| ConfigSource::of(model.spec())) {
        Some(ConfigSource::Override { config_map }) => {
            format!("Nothing is generated: the server uses the config of ConfigMap \"{config_map}\".")
        }
        Some(ConfigSource::Image) => {
            "Nothing is generated: the resource declares no providers, resources, storage or disabled APIs, so the \
             server uses the config of its image."
                .to_owned()
        }
        Some(ConfigSource::Generated) => {
            "The base config is in the labels of the image, which are read in the cluster only.".to_owned()
        }
        None => "The resource is not complete.".to_owned(),
    }
}

fn nothing(resource: &Resource, reason: &str) -> Preview {
    Preview {
        name: resource.name().to_owned(),
        text: format!("# {}\n", reason.replace('\n', " ")),
        lines: vec![LineOrigin { kind: OriginKind::Rule, path: reason.to_owned(), source_span: None }],
        env: Vec::new(),
        hash: String::new(),
        warnings: Vec::new(),
    }
}
