//! What comes out of a resource that the CRD takes: the config that the operator makes of it, and what the server says of
//! that.

use super::generate::{self, Source, generate, origin_of};
use super::rules::refused;
use super::versions;
use crate::check::Request;
use crate::check::context::{Report, RuleContext};
use crate::check::finding::Finding;
use crate::check::rules::generation as rule;
use crate::config;
use crate::distribution::version_of_image;
use crate::generate::{Base, BaseSource, Generated, Tracked};
use crate::path::{Path, Segment};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A base config for resources whose own is not known: enough to see what becomes of the resource's providers.
const EMPTY: &str = "version: 2\n";

/// Generates the config and judges it. `object` has its defaults, and breaks no rule of the CRD. The config comes back
/// only where the base config is known.
pub(crate) fn judge(
    object: &Value,
    context: &RuleContext<'_>,
    request: &Request<'_>,
    given: Option<&Base>,
    report: &mut Report,
) -> Option<Generated> {
    if Source::of(object) != Source::Generated {
        return None;
    }
    let known = given.cloned().or_else(|| base_of(object, context));
    let base = known.clone().unwrap_or(Base { text: Cow::Borrowed(EMPTY), source: BaseSource::Given });
    let generated = match generate(object, &base) {
        Ok(generated) => generated,
        Err(generate::Error::NoProvider { path, .. }) if known.is_none() => {
            report.not_checked(&rule::NO_PROVIDER, &path, "the providers of the base config are not known here");
            return None;
        }
        // What a template will fill in may be what the error is about, wherever it shows.
        Err(error) if !request.unknown.is_empty() => {
            report.not_checked(
                refused::rule_of(&error),
                &error.path(),
                "values that the config is made from are not known",
            );
            return None;
        }
        Err(error) => {
            report.add(refused::finding(&error));
            return None;
        }
    };
    let version = target(context);
    let verdict = said_by_server(generated.config.tree(), version);
    let of_base = || said_by_server_of_text(&base, version);
    let mut before: Option<Vec<Finding>> = None;
    for said in verdict {
        let place = match origin_of(generated.config.tree(), &said.path) {
            Some(place) => place,
            // Without a base, nothing but the providers is there to be judged.
            None if known.is_none() => continue,
            None => {
                let before = before.get_or_insert_with(of_base);
                let is_old = |old: &Finding| old.rule == said.rule && old.message == said.message;
                match section(object).filter(|_| !before.iter().any(is_old)) {
                    Some(section) => section,
                    None => continue,
                }
            }
        };
        if (known.is_none() && !is_inside_provider(&said)) || !context.is_known(&place) || !context.is_complete(&place)
        {
            continue;
        }
        report.add(refused::by_server(&said, place, object));
    }
    if known.is_none() {
        let (place, reason) = match object["spec"]["baseConfig"]["name"].as_str() {
            Some(name) => ("spec.baseConfig", format!("ConfigMap \"{name}\" with the base config is not known here")),
            None => {
                let labels = "the base config is in the labels of the image, which are not known here";
                ("spec.distribution", labels.to_owned())
            }
        };
        report.not_checked(&rule::NO_BASE_CONFIG, &Path::parse(place), &reason);
    }
    known.map(|_| generated)
}

/// The version of ogx that runs, as far as the image's tag tells; else the one that the caller assumes; else the newest
/// that is known here, which `latest` most likely is.
pub(crate) fn target(context: &RuleContext<'_>) -> &'static str {
    let image = context.text(&Path::parse("spec.distribution.image")).or(context.facts.image.as_deref());
    let told = image.and_then(version_of_image).or_else(|| context.facts.llama_stack_version.clone());
    versions::resolve(told.as_deref())
}

/// The base config that the resource names, if its ConfigMap is known; else that of its distribution.
fn base_of(object: &Value, context: &RuleContext<'_>) -> Option<Base> {
    let named = &object["spec"]["baseConfig"];
    if named.is_null() {
        return super::base::embedded(object["spec"]["distribution"]["name"].as_str()?, target(context));
    }
    let text = |field: &str| named[field].as_str();
    let object = (context.namespace().to_owned(), text("name")?.to_owned());
    // Of what a kustomization makes from files the keys are known, and no text.
    let config = context.facts.config_maps.as_ref()?.get(&object)?.get(text("key")?).filter(|text| !text.is_empty())?;
    Some(Base { text: Cow::Owned(config.clone()), source: BaseSource::Given })
}

/// What the server of a version says of a config.
fn said_by_server(config: &Tracked, version: &str) -> Vec<Finding> {
    let unknown = BTreeSet::new();
    config::check(&config::Request { config: &config.to_json(), unknown: &unknown, version: Some(version) }).findings
}

fn said_by_server_of_text(base: &Base, version: &str) -> Vec<Finding> {
    crate::generate::read_base(base).map(|tree| said_by_server(&tree, version)).unwrap_or_default()
}

/// Whether a finding speaks of one provider alone: `providers.<api>[<number>]` or below.
fn is_inside_provider(finding: &Finding) -> bool {
    let steps = finding.path.segments();
    let in_list = matches!(steps.get(2), Some(Segment::Index(_)));
    in_list && steps.first() == Some(&Segment::Key("providers".to_owned())) && refused::is_about_itself(finding)
}

/// The section to blame for what is wrong with a line of the base that was right before.
fn section(object: &Value) -> Option<Path> {
    let all = ["storage", "providers", "disabledAPIs", "resources"];
    all.into_iter().find(|field| !object["spec"][*field].is_null()).map(|field| Path::parse("spec").key(field))
}
