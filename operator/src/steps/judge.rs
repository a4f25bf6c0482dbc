//! The verdict on a resource, in the words of every other surface, and the configuration that is generated from it.

use super::Refusal;
use super::dereference::Dereferenced;
use crate::extent::extent_fault;
use crate::resources::Derived;
use crate::resources::FeatureFlags;
use crate::resources::derived;
use crate::resources::ogx;
use crate::served::Served;
use llsd_generator::api::CrdRule;
use llsd_generator::api::v1alpha2::LlamaStackDistributionSpec;
use llsd_generator::check::finding::{Cause, Finding, Severity};
use llsd_generator::check::rules::references::{NO_KEY, NOT_FOUND};
use llsd_generator::check::{Facts, Request, reading_findings, reference_findings, required_references, verdict_on};
use llsd_generator::generate::{Base, ConfigSource, GenerateError, Generated};
use llsd_generator::names::Namespace;
use llsd_generator::ogx::generate::Source;
use llsd_generator::ogx::rules::adoption;
use llsd_generator::ogx::rules::image::LABELS_UNREADABLE;
use llsd_generator::path::Path;
use llsd_generator::references::{NeededBy, ReferenceKind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A resource that holds more than can be judged.
#[must_use]
pub fn beyond(fault: &str) -> Refusal {
    Refusal::resources(format!("failed to judge the resource: {fault}"))
}

/// What became of a resource that passed.
#[derive(Debug)]
pub struct Judged {
    /// The typed spec of the resource.
    pub spec: LlamaStackDistributionSpec,
    /// Where the server's configuration comes from.
    pub source: ConfigSource,
    /// The generated configuration, where one is generated.
    pub generated: Option<Generated>,
    /// What the user may want to know.
    pub warnings: Vec<String>,
    /// For a resource that says who may connect: whether the operator sees to it.
    pub restricts: Option<bool>,
}

/// Judges resources apart from the threads that serve connections and watches: some take long. A few at a time, however
/// long each takes and whether or not somebody still waits for it.
#[derive(Clone)]
pub struct Judge {
    places: Arc<Semaphore>,
}

impl Judge {
    /// With room for so many verdicts at a time; more wait.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)) }
    }

    /// [`judge`], once there is a place.
    ///
    /// # Errors
    /// As [`judge`].
    ///
    /// # Panics
    /// If judging panics: the caller's own guard tells of it.
    pub async fn judge(
        &self,
        object: &Arc<Value>,
        image: &str,
        base: Option<&Base>,
        flags: FeatureFlags,
        served: &'static Served,
    ) -> Result<Judged, Refusal> {
        // The semaphore is never closed.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (object, image, base) = (Arc::clone(object), image.to_owned(), base.cloned());
        let judging = tokio::task::spawn_blocking(move || {
            let _place = place;
            judge(&object, &image, base.as_ref(), &flags, served)
        });
        match judging.await {
            Ok(judged) => judged,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The process ends.
                Err(_) => Err(Refusal::resources("the operator is ending")),
            },
        }
    }
}

/// Judges the resource. A resource that exists is not refused for rules about its creation.
///
/// # Errors
/// The errors that `llsd check` shows for it.
pub fn judge(
    object: &Value,
    image: &str,
    base: Option<&Base>,
    flags: &FeatureFlags,
    served: &Served,
) -> Result<Judged, Refusal> {
    if let Some(fault) = extent_fault(object) {
        return Err(beyond(&fault));
    }
    let unknown = BTreeSet::new();
    let facts =
        Facts { image: Some(image.to_owned()), network_policies: Some(flags.network_policy), ..Facts::default() };
    let request =
        Request { version: served.version, value: object, old: Some(object), unknown: &unknown, facts: &facts };
    let outcome = verdict_on(&request, base);
    let errors: Vec<_> = outcome.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let generates = generates(object, served);
    if let Some(first) = errors.first() {
        let message = lines(&errors);
        if errors.iter().any(|finding| *finding.rule == adoption::BROKEN) {
            return Err(Refusal::adoption(message));
        }
        return Err(if generates { Refusal::config(reason(first), message) } else { Refusal::resources(message) });
    }
    let malformed = || {
        let kind = served.kind().name();
        Refusal::resources(format!("the resource does not have the form of a {kind}"))
    };
    let spec = if served.is_ogx() {
        ogx::common(object).map_err(|_| malformed())?
    } else {
        outcome.model.ok_or_else(malformed)?.spec().clone()
    };
    let source = match &spec.override_config {
        Some(config) => ConfigSource::Override { config_map: config.config_map_name.clone() },
        None if generates => ConfigSource::Generated,
        None => ConfigSource::Image,
    };
    if source == ConfigSource::Generated && outcome.generated.is_none() {
        return Err(no_base(image, served));
    }
    let warnings = outcome.findings.iter().filter(|finding| finding.severity == Severity::Warning);
    // This operator has a base of its own.
    let warnings = warnings.filter(|finding| *finding.rule != LABELS_UNREADABLE).map(line).collect();
    let says_who = spec.networking.as_ref().is_some_and(|networking| networking.allowed_from.is_some());
    let restricts = (says_who && !served.is_ogx()).then_some(flags.network_policy);
    Ok(Judged { spec, source, generated: outcome.generated, warnings, restricts })
}

/// Nothing is known that a config could be generated from.
fn no_base(image: &str, served: &Served) -> Refusal {
    let error = GenerateError::BaseConfigRequired;
    let message = if served.is_ogx() {
        format!("no base config is known for the image \"{image}\": name a ConfigMap with one in spec.baseConfig")
    } else {
        error.to_string()
    };
    Refusal::config(error.reason(), message)
}

/// Whether a configuration is to be generated for the resource, even if it is not valid.
pub(crate) fn generates(object: &Value, served: &Served) -> bool {
    if served.is_ogx() {
        return Source::of(object) == Source::Generated;
    }
    let spec = &object["spec"];
    let speaks_tls = spec["networking"]["tls"]["enabled"] == true && !spec["distribution"]["name"].is_null();
    (speaks_tls || ["providers", "resources", "storage", "disabled"].iter().any(|field| !spec[field].is_null()))
        && spec["overrideConfig"].is_null()
}

/// The condition's reason for a finding.
fn reason(finding: &Finding) -> &'static str {
    match &finding.cause {
        Cause::Generation(error) => error.reason(),
        Cause::Plain | Cause::Crd(_) | Cause::Object(..) => "ConfigGenerationFailed",
    }
}

/// A finding with its place.
fn line(finding: &Finding) -> String {
    match finding.path.to_string() {
        path if path.is_empty() || names_its_place(&finding.cause) => finding.message.clone(),
        path => format!("{path}: {}", finding.message),
    }
}

/// Whether the message begins with the place already.
fn names_its_place(cause: &Cause) -> bool {
    match cause {
        Cause::Generation(error) => matches!(**error, GenerateError::DisabledConflict { .. }),
        Cause::Crd(rule) => matches!(rule, CrdRule::Enabled(_) | CrdRule::NameDots | CrdRule::NameLength),
        Cause::Plain | Cause::Object(..) => false,
    }
}

fn lines(findings: &[&Finding]) -> String {
    match findings {
        // A single message stays as the checks word it, so that it can be searched for.
        [one] => one.message.clone(),
        several => several.iter().map(|finding| line(finding)).collect::<Vec<_>>().join("; "),
    }
}

/// What the resource's Secrets come to.
#[derive(Debug, Default)]
pub struct Secrets {
    /// How many are referred to.
    pub count: usize,
    /// All problems with them together.
    pub problem: Option<Refusal>,
    /// Whether the server could not start without what is missing.
    pub blocks: bool,
    /// Problems with ConfigMaps, as the Go operator words them.
    pub config_maps: Vec<String>,
    /// The Secrets to make from them.
    pub derived: Vec<Derived>,
    /// Digest over the content of those that the pods read.
    pub digest: Option<String>,
}

/// Looks at the Secrets and ConfigMaps that the resource refers to.
#[must_use]
pub fn secrets(
    object: &Value,
    judged: &Judged,
    image: &str,
    namespace: &Namespace,
    found: &Dereferenced,
    served: &Served,
) -> Secrets {
    let unknown = BTreeSet::new();
    let facts = Facts { image: Some(image.to_owned()), ..found.facts() };
    let request = Request { version: served.version, value: object, old: None, unknown: &unknown, facts: &facts };
    let mut result = Secrets::default();
    let mut missing = Vec::new();
    let mut reason = "SecretValueRefused";
    let read_otherwise = reading_findings(&request, judged.generated.as_ref());
    for finding in reference_findings(&request).into_iter().chain(read_otherwise) {
        let Cause::Object(kind, needed_by) = finding.cause else { continue };
        if kind == ReferenceKind::ConfigMap {
            if finding.path.starts_with(&Path::parse("spec.overrideConfig")) {
                let config = judged.spec.override_config.as_ref();
                let name = config.map(|config| config.config_map_name.as_str()).unwrap_or_default();
                result.config_maps.push(match *finding.rule == NOT_FOUND {
                    true => format!("failed to find referenced ConfigMap {namespace}/{name}"),
                    false => finding.message,
                });
            }
            continue;
        }
        if *finding.rule == NOT_FOUND {
            reason = "SecretNotFound";
        } else if *finding.rule == NO_KEY && reason != "SecretNotFound" {
            reason = "SecretKeyMissing";
        }
        // Variables and volumes of the user's own are between the user and the kubelet, which waits for them.
        result.blocks |= needed_by == NeededBy::Server;
        missing.push(finding.message);
    }
    let mut read = BTreeSet::new();
    let mut referred = BTreeSet::new();
    let references = required_references(&request);
    for reference in references.iter().filter(|reference| reference.kind == ReferenceKind::Secret) {
        let keys: BTreeSet<&str> = reference.keys.iter().map(|(key, _)| *key).collect();
        referred.insert((reference.name, keys));
        if reference.needed_by == NeededBy::Server {
            read.insert(reference.name.to_owned());
        }
    }
    result.count = referred.len();
    for derived in judged.generated.iter().flat_map(|generated| &generated.derived_secrets) {
        let source = found.get(ReferenceKind::Secret, namespace, &derived.source.name);
        let Some(value) = source.and_then(|content| content.data.get(&derived.source.key)) else { continue };
        match derived::parts(derived.kind, value) {
            Ok(data) => result.derived.push(Derived { name: derived.name.clone(), data }),
            Err(error) => {
                reason = "SecretKeyMissing";
                result.blocks = true;
                let (name, key) = (&derived.source.name, &derived.source.key);
                missing.push(format!(
                    "Secret \"{name}\" in namespace \"{namespace}\", key \"{key}\": {error}. Referenced by: {}",
                    derived.origin
                ));
            }
        }
    }
    if !missing.is_empty() {
        result.problem = Some(Refusal::secrets(reason, missing.join("; ")));
    }
    let digests: Vec<_> = read
        .iter()
        .filter_map(|name| Some((name.as_str(), found.get(ReferenceKind::Secret, namespace, name)?.digest.as_bytes())))
        .collect();
    result.digest = (!digests.is_empty()).then(|| crate::resources::content_digest(digests));
    result
}
