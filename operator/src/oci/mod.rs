//! Base configs that images carry in their labels.
//!
//! An image is asked for once per digest and set of credentials; a tag is looked up again after a while. What was
//! found stays good while the registry is in trouble, and a registry in trouble is left alone for a time that grows.

mod address;
mod credentials;
mod fetch;
mod keychain;
mod layer;
mod remote;

pub use credentials::{Credential, CredentialError, parse_docker_config};
pub use keychain::Keychain;

use crate::backoff::Backoff;
use crate::served::Labels;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;

/// The label with the config itself, in base64.
pub const BASE64_LABEL: &str = "io.llamastack.config.base64";
/// The label with the digest of the layer that holds the config.
pub const LAYER_LABEL: &str = "io.llamastack.config.layer";
/// The label with the config's path in that layer.
pub const PATH_LABEL: &str = "io.llamastack.config.path";
/// The label with the version of the config's format.
pub const VERSION_LABEL: &str = "io.llamastack.config.version";

/// The label of ogx's images with the name of the file that is the config. The operator of ogx reads it.
pub const DEFAULT_LABEL: &str = "com.ogx.distribution.default-config";
/// What precedes the name of a file in the label of ogx's images that holds it, in base64.
pub const FILE_LABEL: &str = "com.ogx.config.";

/// Images that are asked for at once: each may bring some megabytes, and slow registries must not add up.
const FETCHES: usize = 16;
/// Images whose answer is remembered. Each may hold a config of [`Limits::config`] bytes.
const REMEMBERED: usize = 512;

/// Bounds on what a registry may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// For one image, from the first request to the config.
    pub time: Duration,
    /// Bytes of a layer as it is transferred.
    pub layer: u64,
    /// Bytes of a layer when unpacked.
    pub unpacked: u64,
    /// Bytes of the config that an image carries. It goes into a ConfigMap, which holds 1 MiB.
    pub config: usize,
    /// How long a tag is taken to mean the same image.
    pub tag: Duration,
    /// The first and the longest wait after a failure.
    pub retry: (Duration, Duration),
}

impl Default for Limits {
    /// 20 seconds, 128 MiB, 512 MiB, 1 MiB; ten minutes for a tag; 5 seconds to 10 minutes after failures.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(20),
            layer: 128 << 20,
            unpacked: 512 << 20,
            config: 1 << 20,
            tag: Duration::from_secs(600),
            retry: (Duration::from_secs(5), Duration::from_secs(600)),
        }
    }
}

/// A config that an image carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciConfig {
    /// The YAML text of the config.
    pub text: String,
    /// Digest of the image's manifest (of the list of platforms, where there is one).
    pub digest: String,
    /// What the image says about the version of the config's format.
    pub version: Option<String>,
}

/// Why it is not known whether an image carries a config, or which.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OciError {
    /// The reference is not one.
    #[error("{image:?} is not an image reference: {reason}")]
    Reference {
        /// The text that was given as a reference.
        image: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No credentials let us in.
    #[error(
        "the registry refuses access to {image}, without a login and with {logins} logins of pull secrets: add its pull \
         secret to the service account's imagePullSecrets"
    )]
    Denied {
        /// The image reference.
        image: String,
        /// How many logins of pull secrets were tried. Whose they are is not for everybody who reads events.
        logins: usize,
    },
    /// The registry is not on the list that `--registries` gives.
    #[error("the registry {registry} is not among those that the operator asks (--registries)")]
    NotAsked {
        /// Host of the registry, and its port if the reference names one.
        registry: String,
    },
    /// There is no such image.
    #[error("the registry has no image {image}")]
    NotFound {
        /// The image reference.
        image: String,
    },
    /// The registry did not answer in time.
    #[error("the registry of {image} did not answer within {seconds} seconds")]
    Timeout {
        /// The image reference.
        image: String,
        /// The limit in seconds, for all requests about the image together.
        seconds: u64,
    },
    /// The registry answered with an error, or with something that is no answer.
    #[error("the registry of {image} failed: {reason}")]
    Registry {
        /// The image reference.
        image: String,
        /// What went wrong, as a clause.
        reason: String,
    },
    /// The labels do not lead to a config.
    #[error("label {label} of {image}: {reason}")]
    Label {
        /// The image reference.
        image: String,
        /// The key of the label.
        label: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl OciError {
    /// Whether asking again may help. A broken label stays broken until the image changes.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        !matches!(self, Self::Reference { .. } | Self::Label { .. } | Self::NotAsked { .. })
    }
}

/// The file `path` in a layer, as [`Registry::config`] looks for it in what a registry sends.
///
/// # Errors
/// The layer is none, or it, the file or a name in it goes beyond `limits`.
pub fn file_in_layer(layer: &[u8], path: &str, limits: &Limits) -> std::io::Result<Option<Vec<u8>>> {
    let (chunks, arrived) = tokio::sync::mpsc::channel(1);
    let wanted = layer::Wanted { path: path.to_owned(), size: limits.config, unpacked: limits.unpacked };
    chunks.try_send(layer.to_vec()).map_err(std::io::Error::other)?;
    drop(chunks);
    layer::scan(arrived, &wanted)
}

type Lookup = Result<Option<OciConfig>, OciError>;

/// Whose answer it is: with other credentials, an image may not be there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    image: String,
    credentials: u64,
}

#[derive(Debug)]
struct Entry {
    /// The last answer; `None` before the first.
    found: Option<Lookup>,
    /// The last answer that the registry gave without an error.
    good: Option<fetch::FetchedImage>,
    /// When to ask again; `None`: never.
    again: Option<Instant>,
    used: Instant,
    backoff: Backoff,
}

impl Entry {
    /// What was good last counts while the registry fails.
    fn answer(&self, found: Lookup) -> Lookup {
        self.good.as_ref().map_or(found, |image| Ok(image.config.clone()))
    }
}

/// Asks registries, and remembers what they said.
#[derive(Debug)]
pub struct Registry {
    limits: Limits,
    fetcher: fetch::Fetcher,
    random: RandomState,
    /// Registries that are asked; all, if it is empty.
    asked: Vec<String>,
    fetches: Semaphore,
    known: std::sync::Mutex<HashMap<Key, Arc<Mutex<Entry>>>>,
}

impl Registry {
    /// Nothing known yet. `insecure` are the registries (`host:port`) that are asked over plain HTTP, and that may be on
    /// this machine. `authorities` (PEM) are trusted beside those of the system.
    #[must_use]
    pub fn new(limits: Limits, insecure: Vec<String>, authorities: Option<Vec<u8>>) -> Self {
        // The TLS of the HTTP client takes the process's choice; where there is one already, that is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            fetcher: fetch::Fetcher {
                labels: Labels::LlamaStack,
                limits: limits.clone(),
                insecure,
                trusted: Vec::new(),
                authorities,
            },
            asked: Vec::new(),
            fetches: Semaphore::new(FETCHES),
            limits,
            random: RandomState::new(),
            known: std::sync::Mutex::default(),
        }
    }

    /// Looks for these labels, and not for those of llama-stack's distributions.
    #[must_use]
    pub fn labelled(mut self, labels: Labels) -> Self {
        self.fetcher.labels = labels;
        self
    }

    /// Asks only these (`host` or `host:port`, with `*` for a part of the name); all, if there are none. Those that are
    /// named without a `*` may also be where another registry has its login.
    #[must_use]
    pub fn only(mut self, registries: Vec<String>) -> Self {
        self.fetcher.trusted = registries.clone();
        self.asked = registries;
        self
    }

    /// The config in the labels of `image`; `None` where it has none. The credentials are tried in their order, then
    /// none at all. Callers that ask for the same at the same time share one answer.
    ///
    /// While a registry fails, this returns what it said before, if it ever said something.
    ///
    /// # Errors
    /// If nothing is known of the image: the caller decides what to do without.
    pub async fn config(&self, image: &str, credentials: &[Credential]) -> Lookup {
        let reference = fetch::reference(image)?;
        let hosts = [reference.registry(), reference.resolve_registry()];
        let is_asked = |pattern: &String| hosts.iter().any(|host| credentials::host_matches(pattern, host));
        if !self.asked.is_empty() && !self.asked.iter().any(is_asked) {
            return Err(OciError::NotAsked { registry: reference.registry().to_owned() });
        }
        let matching: Vec<_> = credentials::matching(credentials, &reference);
        let key = Key { image: image.to_owned(), credentials: self.random.hash_one(&matching) };
        let entry = self.entry(key);
        let mut known = entry.lock().await;
        let now = Instant::now();
        known.used = now;
        if let Some(found) = known.found.clone().filter(|_| known.again.is_none_or(|again| again > now)) {
            return known.answer(found);
        }
        // The semaphore is never closed.
        let _place = self.fetches.acquire().await;
        let fetching = self.fetcher.config(&reference, &matching, known.good.as_ref());
        let found = match tokio::time::timeout(self.limits.time, fetching).await {
            Ok(found) => found,
            Err(_) => Err(OciError::Timeout { image: image.to_owned(), seconds: self.limits.time.as_secs() }),
        };
        let now = Instant::now();
        match &found {
            Ok(image) => {
                known.backoff.reset();
                known.again = match reference.digest() {
                    Some(_) => None,
                    None => Some(now + self.limits.tag + known.backoff.jitter(self.limits.tag / 10)),
                };
                known.good = Some(image.clone());
            }
            Err(error) => {
                let wait = if error.is_transient() { known.backoff.next() } else { self.limits.retry.1 };
                known.again = Some(now + wait);
                tracing::warn!(%error, retry = ?wait, "the labels of an image are not known");
                if !error.is_transient() {
                    // The image has changed, and for the worse: what the old one said no longer counts.
                    known.good = None;
                }
            }
        }
        let found = found.map(|image| image.config);
        known.found = Some(found.clone());
        known.answer(found)
    }

    /// When [`Registry::config`] will ask again for an image that failed; `None` where it did not fail.
    pub async fn retry_after(&self, image: &str, credentials: &[Credential]) -> Option<Duration> {
        let reference = fetch::reference(image).ok()?;
        let matching = credentials::matching(credentials, &reference);
        let key = Key { image: image.to_owned(), credentials: self.random.hash_one(&matching) };
        let entry = self.entry(key);
        let known = entry.lock().await;
        matches!(known.found, Some(Err(_)))
            .then(|| known.again.map(|again| again.saturating_duration_since(Instant::now())))?
    }

    fn entry(&self, key: Key) -> Arc<Mutex<Entry>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED && !known.contains_key(&key) {
            // Those in use are locked, and stay.
            let used = |entry: &Arc<Mutex<Entry>>| entry.try_lock().ok().map(|known| known.used);
            let oldest =
                known.iter().filter_map(|(key, entry)| Some((used(entry)?, key))).min_by_key(|(used, _)| *used);
            if let Some(oldest) = oldest.map(|(_, key)| key.clone()) {
                known.remove(&oldest);
            }
        }
        let fresh = || Entry {
            found: None,
            good: None,
            again: None,
            used: Instant::now(),
            backoff: Backoff::new(self.limits.retry.0, self.limits.retry.1),
        };
        Arc::clone(known.entry(key).or_insert_with(|| Arc::new(Mutex::new(fresh()))))
    }
}
