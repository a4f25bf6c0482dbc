//! The image of a resource, and the base configuration that goes with it.

use super::Refusal;
use super::status::config_source;
use crate::oci::{Keychain, OciConfig, OciError, Registry};
use crate::operator_config::OperatorConfig;
use crate::queue::Key;
use crate::served::Served;
use llsd_generator::api::status::{ConfigSource, ResolvedDistribution};
use llsd_generator::distribution::{BaseConfig, Distributions};
use llsd_generator::generate::{Base, BaseSource};
use llsd_generator::names::{Namespace, ObjectName};
use llsd_generator::ogx;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// How long a reconcile waits for a registry. The question goes on without it, and the answer is there for the next one:
/// slow registries must not keep the places of other resources.
const PATIENCE: Duration = Duration::from_secs(2);
/// How soon a registry in trouble is asked again, if it does not say itself.
const AGAIN: Duration = Duration::from_secs(60);

/// Where images are looked up.
pub struct Registries {
    registry: Arc<Registry>,
    keychain: Keychain,
}

/// Why it is not known what a resource runs.
#[derive(Debug)]
pub enum Unresolved {
    /// The image cannot be told, or its labels have to be read and cannot be.
    Refused(Refusal),
    /// The registry has not answered yet.
    Pending,
}

impl From<Refusal> for Unresolved {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Registries {
    /// Labels are read through `registry`, with the pods' own credentials.
    #[must_use]
    pub fn new(registry: Registry, keychain: Keychain) -> Self {
        Self { registry: Arc::new(registry), keychain }
    }
}

/// The image that a resource runs, and the base config that goes with it.
#[derive(Debug)]
pub struct Resolved {
    /// The image reference, as it goes into the Deployment.
    pub image: String,
    /// The base configuration of the image's labels; `None` where the embedded one counts, if there is one.
    pub base: Option<Base>,
    /// The same as the status shows it.
    pub distribution: ResolvedDistribution,
    /// Trouble with the registry that did not stand in the way.
    pub trouble: Option<String>,
    /// When to ask the registry again.
    pub again: Option<Duration>,
}

/// The image: the override of the operator's ConfigMap, else that of the distribution, else the resource's own.
///
/// # Errors
/// The name stands for nothing, or there is neither name nor image.
pub fn image(object: &Value, config: &OperatorConfig, served: &Served) -> Result<String, Refusal> {
    let distribution = &object["spec"]["distribution"];
    if let Some(name) = distribution["name"].as_str().filter(|name| !name.is_empty()) {
        if served.is_ogx() {
            let known = config.images.get(name).cloned().or_else(|| ogx::image(name));
            return known.ok_or_else(|| unknown(name, config));
        }
        let known = Distributions::embedded()
            .get(name)
            .map_err(|error| Refusal::resources(format!("failed to validate distribution: {error}")))?;
        return Ok(config.images.get(name).cloned().unwrap_or_else(|| known.image.clone()));
    }
    match distribution["image"].as_str().filter(|image| !image.is_empty()) {
        Some(image) => Ok(image.to_owned()),
        None => Err(Refusal::resources(
            "failed to validate distribution: either distribution.name or distribution.image must be set",
        )),
    }
}

/// A name of ogx's distributions that stands for nothing, in upstream's words.
fn unknown(name: &str, config: &OperatorConfig) -> Refusal {
    let known = ogx::distributions().map(|(name, _)| name.to_owned());
    let known: BTreeSet<String> = known.chain(config.images.keys().cloned()).collect();
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Refusal::resources(format!(
        "failed to validate distribution: unknown distribution \"{name}\"; available distributions: {known}"
    ))
}

/// Settles image and base configuration. `named` is the base that the resource itself names, which settles it, `before` is what the resource ran with.
///
/// # Errors
/// See [`Unresolved`].
pub async fn resolve(
    registries: Option<&Registries>,
    object: &Value,
    key: &Key,
    config: &OperatorConfig,
    served: &Served,
    (named, before): (Option<Base>, Option<&ResolvedDistribution>),
) -> Result<Resolved, Unresolved> {
    let image = image(object, config, served)?;
    let mut resolved = Resolved {
        distribution: ResolvedDistribution { image: Some(image.clone()), ..ResolvedDistribution::default() },
        image,
        base: named,
        trouble: None,
        again: None,
    };
    if !super::judge::generates(object, served) || resolved.base.is_some() {
        return Ok(resolved);
    }
    if let Some(registries) = registries {
        let account = object["spec"]["workload"]["overrides"]["serviceAccountName"]
            .as_str()
            .map_or_else(|| crate::resources::Kind::ServiceAccount.name(&key.name), str::to_owned);
        let account = ObjectName::parse(&account)
            .map_err(|error| Refusal::resources(format!("failed to use the service account: {error}")))?;
        let Some(found) = labels(registries, &resolved.image, &key.namespace, &account).await else {
            return Err(Unresolved::Pending);
        };
        match found {
            Ok(Some(config)) => {
                let source = BaseSource::OciLabel { image: resolved.image.clone(), version: config.version };
                resolved.base = Some(Base { text: config.text.into(), source });
            }
            Ok(None) => {}
            Err((error, again)) => trouble(&mut resolved, before, &error, again)?,
        }
    }
    let embedded = || {
        let name = object["spec"]["distribution"]["name"].as_str();
        if served.is_ogx() {
            return ogx::embedded_base(name?, &resolved.image).map(|found| found.text.into_owned());
        }
        BaseConfig::of(name, Some(&resolved.image)).map(|found| found.text.to_owned())
    };
    let text = resolved.base.as_ref().map(|base| base.text.to_string()).or_else(embedded);
    if let Some(text) = text {
        resolved.distribution.config_source = Some(config_source(resolved.base.is_some()));
        resolved.distribution.config_hash = Some(hash(&text));
    }
    Ok(resolved)
}

/// What the labels of an image lead to; `None` while that is not known.
async fn labels(
    registries: &Registries,
    image: &str,
    namespace: &Namespace,
    account: &ObjectName,
) -> Option<Result<Option<OciConfig>, (OciError, Option<Duration>)>> {
    // Without credentials the image may still be open to all.
    let credentials = registries.keychain.credentials(namespace, account).await.unwrap_or_default();
    let (registry, image) = (Arc::clone(&registries.registry), image.to_owned());
    let asking = tokio::spawn(async move {
        match registry.config(&image, &credentials).await {
            Ok(found) => Ok(found),
            Err(error) => Err((error, registry.retry_after(&image, &credentials).await)),
        }
    });
    // What ended in a panic is asked again, as what has not ended is.
    tokio::time::timeout(PATIENCE, asking).await.ok()?.ok()
}

/// A registry in trouble must not change what runs: a configuration that came from labels waits for them, any other
/// goes on with the embedded base.
fn trouble(
    resolved: &mut Resolved,
    before: Option<&ResolvedDistribution>,
    error: &OciError,
    again: Option<Duration>,
) -> Result<(), Refusal> {
    let from_labels = before.is_some_and(|before| {
        before.config_source == Some(ConfigSource::OciLabel) && before.image.as_deref() == Some(&resolved.image)
    });
    if from_labels {
        return Err(Refusal::config(
            "ConfigGenerationFailed",
            format!("the base config in the labels of the image cannot be read: {error}"),
        ));
    }
    resolved.trouble = Some(format!("the labels of the image cannot be read: {error}"));
    resolved.again = Some(again.unwrap_or(AGAIN)).filter(|_| error.is_transient());
    Ok(())
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold("sha256:".to_owned(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}
