//! The config that a resource stands for, with the origin of every line.

mod diff;
mod folded;
mod patched;

use super::document::DocumentAnalysis;
use super::resource::Resource;
use super::types::{LineOrigin, OriginKind, Preview, PreviewEnv, Problem};
use super::{Analysis, Span, knowledge, place};
use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::check::Outcome;
use llsd_generator::check::finding::{Severity, Target};
use llsd_generator::distribution::Distributions;
use llsd_generator::generate::{ConfigSource, EnvSource, Generated, Origin};
use llsd_generator::ogx::generate as ogx;
use llsd_generator::path::Path;
use serde_json::Value;
use std::ops::Range;

pub use diff::Hunk;
pub(crate) use diff::hunks;
pub(crate) use folded::folded;

pub(crate) fn preview(analysis: &Analysis, number: usize, resource: usize) -> Option<Preview> {
    let located = analysis.document(number)?;
    let document = located.document;
    match document.resources().get(resource) {
        Some(found) => {
            let source = |path: &Path| Some(source_span(document, found, path).shift(located.offset));
            Some(of_resource(document, found, located.offset, &source))
        }
        None if document.operations().is_some() => patched::of_operations(document, located.offset),
        None => patched::within(analysis, located, resource - document.resources().len()),
    }
}

/// The config of a resource of a document that begins at `offset`. `source`: where a place of it is written in the file.
fn of_resource(
    document: &DocumentAnalysis,
    resource: &Resource,
    offset: usize,
    source_of: &dyn Fn(&Path) -> Option<Span>,
) -> Preview {
    let shown = Preview {
        name: resource.name().to_owned(),
        namespace: resource.namespace().to_owned(),
        image: image(resource),
        llama_stack_version: resource.target_version(),
        ..Preview::default()
    };
    let Some(generated) = document.generated(resource) else {
        let reason = reason(document, resource);
        let problems = problems(document, resource, offset);
        return Preview { problems, ..nothing(shown, &reason) };
    };
    Preview {
        text: generated.config.text().to_owned(),
        lines: generated.config.lines().iter().map(|origin| line(origin, source_of)).collect(),
        env: generated
            .env
            .iter()
            .map(|variable| PreviewEnv {
                name: variable.name.clone(),
                source: source(&variable.source),
                path: variable.origin.to_string(),
                secret: secret(&variable.source),
            })
            .collect(),
        hash: generated.config.hash().to_owned(),
        warnings: generated.warnings.iter().map(ToString::to_string).collect(),
        ..shown
    }
}

/// The config that the resource had before its text gave none any more: marked as stale, with what is wrong now, and
/// with the places of today. `now` is its preview today; it comes back as it is if nothing is wrong with it.
pub(crate) fn keep(good: &Preview, now: Preview, analysis: &Analysis, number: usize, resource: usize) -> Preview {
    let located = analysis.document(number);
    let found = located.and_then(|located| Some((located, located.document.resources().get(resource)?)));
    let Some((located, resource)) = found.filter(|_| !now.problems.is_empty()) else { return now };
    let again = |line: &LineOrigin| LineOrigin {
        source_span: line
            .source_span
            .map(|_| source_span(located.document, resource, &Path::parse(&line.path)).shift(located.offset)),
        ..line.clone()
    };
    Preview {
        stale: true,
        text: good.text.clone(),
        lines: good.lines.iter().map(again).collect(),
        env: good.env.clone(),
        hash: good.hash.clone(),
        warnings: good.warnings.clone(),
        ..now
    }
}

fn image(resource: &Resource) -> Option<String> {
    match knowledge::distribution(resource.version, &resource.value) {
        (_, Some(image)) => Some(image.to_owned()),
        (Some(name), None) if resource.version.kind() == Kind::OgxServer => llsd_generator::ogx::image(name),
        (Some(name), None) => Some(Distributions::embedded().get(name).ok()?.image.clone()),
        (None, None) => None,
    }
}

/// What is wrong with a resource so that it has no config.
fn problems(document: &DocumentAnalysis, resource: &Resource, offset: usize) -> Vec<Problem> {
    if resource.version == ApiVersion::V1Alpha1 {
        return Vec::new();
    }
    let findings = resource.early.iter().chain(&document.outcome(resource).findings);
    findings
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| Problem {
            message: finding.message.clone(),
            path: finding.path.to_string(),
            span: place::span(document.tree(), &place::steps(&resource.base, &finding.path), finding.target)
                .shift(offset),
        })
        .collect()
}

/// The lines that the field at `path` produced, counted from 0.
pub(super) fn produced(generated: &Generated, path: &Path) -> Vec<Range<usize>> {
    generated.config.produced().get(path).cloned().unwrap_or_default()
}

fn line(origin: &Origin, source_of: &dyn Fn(&Path) -> Option<Span>) -> LineOrigin {
    match origin {
        Origin::Resource(path) => {
            LineOrigin { kind: OriginKind::Resource, path: path.to_string(), source_span: source_of(path) }
        }
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

fn secret(source: &EnvSource) -> Option<(String, String)> {
    match source {
        EnvSource::Secret(secret) => Some((secret.name.clone(), secret.key.clone())),
        EnvSource::Derived(_) => None,
    }
}

fn reason(document: &DocumentAnalysis, resource: &Resource) -> String {
    if resource.version == ApiVersion::V1Alpha1 {
        return "A v1alpha1 resource generates no config: migrate it to v1alpha2.".to_owned();
    }
    let outcome = document.outcome(resource);
    if resource.version.kind() == Kind::OgxServer {
        return ogx_reason(outcome, &resource.value);
    }
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
            "The base config is in the labels of the image, which are read in the cluster only: give it with --base, or \
             in llsd.toml."
                .to_owned()
        }
        None if document.is_part() => "This is a patch, and no resource is known that it is merged into.".to_owned(),
        None => "The resource is not complete.".to_owned(),
    }
}

/// Why an `OGXServer` has no config.
fn ogx_reason(outcome: &Outcome, object: &Value) -> String {
    if let Some(error) = outcome.findings.iter().find(|finding| finding.severity == Severity::Error) {
        return format!("No config while this is wrong: {}", error.message);
    }
    match ogx::Source::of(object) {
        ogx::Source::Override(config_map) => {
            format!("Nothing is generated: the server uses the config of ConfigMap \"{config_map}\".")
        }
        ogx::Source::Image => {
            "There is nothing to generate: the resource declares no providers, resources, storage or \
                               disabledAPIs, so the server uses the config of its image."
                .to_owned()
        }
        ogx::Source::Generated => match object["spec"]["baseConfig"]["name"].as_str() {
            Some(config_map) => format!(
                "The base config is in ConfigMap \"{config_map}\", which is not among the files that are known here: give it \
                 with --base."
            ),
            None => "The base config is in the labels of the image, which are read in the cluster only: give it with --base, \
                     in llsd.toml, or in a ConfigMap that baseConfig names."
                .to_owned(),
        },
    }
}

fn nothing(shown: Preview, reason: &str) -> Preview {
    Preview {
        text: format!("# {}\n", reason.replace('\n', " ")),
        lines: vec![LineOrigin { kind: OriginKind::Rule, path: reason.to_owned(), source_span: None }],
        ..shown
    }
}
