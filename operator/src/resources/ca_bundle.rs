//! The ConfigMap of trusted certificates: assembled from the user's and Open Data Hub's.

use super::{COMPONENT, Child, Desired, INSTANCE, Kind, MANAGED_BY, Owner};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::collections::BTreeMap;
use x509_parser::parse_x509_certificate;

/// The key of the assembled bundle, and of a user's where the resource names none.
pub const BUNDLE_KEY: &str = "ca-bundle.crt";
/// Where the bundle is mounted.
pub(super) const MOUNT_PATH: &str = "/etc/ssl/certs/ca-bundle";
/// Most certificates in a bundle, as the Go operator has it: each is parsed, and servers load them all.
pub const MAX_CERTIFICATES: usize = 1000;
/// Most bytes of the sources of a bundle, as the Go operator has it. What comes out has to fit into a ConfigMap anyway.
pub const MAX_BYTES: usize = 10 * 1024 * 1024;
/// Most bytes that the API server lets a ConfigMap hold, its keys included.
const MAX_CONFIG_MAP: usize = 1024 * 1024;

/// Why a bundle cannot be assembled. The texts are those that users of the Go operator know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaError {
    /// A key that no ConfigMap can have.
    #[error(
        "failed to validate CA bundle ConfigMap keys: key '{0}' must be 1 to 253 characters long, begin and end with a letter or digit, and otherwise hold only letters, digits, '-', '_' and '.', never '..'"
    )]
    InvalidKey(String),
    /// The ConfigMap does not exist.
    #[error("failed to find referenced CA bundle ConfigMap {namespace}/{name}")]
    NoConfigMap {
        /// `metadata.namespace` of the ConfigMap.
        namespace: String,
        /// `metadata.name` of the ConfigMap.
        name: String,
    },
    /// The ConfigMap is in another namespace, and does not exist or is not shared.
    #[error(
        "failed to find referenced CA bundle ConfigMap {namespace}/{name}: one of another namespace is used only if it has \
         the label llamastack.io/watch: \"true\", or if the operator's ConfigMap names its namespace in \
         ca-bundle-namespaces"
    )]
    NotShared {
        /// `metadata.namespace` of the ConfigMap.
        namespace: String,
        /// `metadata.name` of the ConfigMap.
        name: String,
    },
    /// The ConfigMap lacks a key.
    #[error("failed to find CA bundle key '{key}' in ConfigMap {namespace}/{name}")]
    NoKey {
        /// The key of `data` that is missing.
        key: String,
        /// `metadata.namespace` of the ConfigMap.
        namespace: String,
        /// `metadata.name` of the ConfigMap.
        name: String,
    },
    /// A value that is not empty holds no certificate.
    #[error("failed to find valid certificates in CA bundle key '{0}'")]
    NoCertificate(String),
    /// A block called CERTIFICATE is none.
    #[error("failed to parse X.509 certificate from key '{key}': {reason}")]
    Certificate {
        /// The key of `data` whose value holds the block.
        key: String,
        /// What is wrong with the block, as a clause.
        reason: String,
    },
    /// The values together are larger than [`MAX_BYTES`], before anything was parsed.
    #[error("failed to process CA bundle: total size exceeds maximum allowed size of {MAX_BYTES} bytes")]
    TooLarge,
    /// There are more than [`MAX_CERTIFICATES`] certificates.
    #[error("failed to process CA bundle: contains more than {MAX_CERTIFICATES} certificates (maximum allowed)")]
    TooMany,
    /// Too much for the ConfigMap that is to hold it.
    #[error(
        "failed to process CA bundle: its {0} bytes do not fit into a ConfigMap, which holds {MAX_CONFIG_MAP} bytes"
    )]
    DoesNotFit(usize),
}

/// A ConfigMap that a resource names.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// `metadata.namespace` of the ConfigMap.
    pub namespace: &'a str,
    /// `metadata.name` of the ConfigMap.
    pub name: &'a str,
    /// The keys to use, in this order; [`BUNDLE_KEY`] if there are none.
    pub keys: &'a [String],
    /// The `data` of the ConfigMap, read just now.
    pub data: &'a BTreeMap<String, String>,
}

/// The certificates of all sources, checked and joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Its certificates as PEM, an empty line between them.
    pub pem: String,
    /// Number of certificates in `pem`.
    pub certificates: usize,
    /// Keys of Open Data Hub's ConfigMap that were left out, and why.
    pub skipped: Vec<(String, CaError)>,
}

/// Checks keys before anything is looked up.
///
/// # Errors
/// The first key that is none.
pub fn check_keys(keys: &[String]) -> Result<(), CaError> {
    let edge = |char: char| char.is_ascii_alphanumeric();
    let valid = |key: &str| {
        key.len() <= 253
            && key.starts_with(edge)
            && key.ends_with(edge)
            && !key.contains("..")
            && key.chars().all(|char| edge(char) || "-_.".contains(char))
    };
    match keys.iter().find(|key| !valid(key)) {
        Some(key) => Err(CaError::InvalidKey(key.clone())),
        None => Ok(()),
    }
}

/// Assembles the certificates of the user's ConfigMaps in the order of their keys, then those of Open Data Hub's in the
/// order of its sorted keys. Only certificates are taken: never keys, and no text between them. `None` if there is no
/// certificate and nothing but white space: such a bundle is the same as none.
///
/// # Errors
/// What is wrong with one of the user's ConfigMaps, or the limits of the whole. What is wrong in Open Data Hub's is skipped.
pub fn assemble(explicit: &[Source<'_>], odh: Option<&BTreeMap<String, String>>) -> Result<Option<Assembled>, CaError> {
    let mut found = Vec::new();
    let mut skipped = Vec::new();
    for source in explicit {
        check_keys(source.keys)?;
        let default = [BUNDLE_KEY.to_owned()];
        for key in if source.keys.is_empty() { &default } else { source.keys } {
            let text = source.data.get(key).ok_or_else(|| CaError::NoKey {
                key: key.clone(),
                namespace: source.namespace.to_owned(),
                name: source.name.to_owned(),
            })?;
            found.extend(certificates(key, text)?);
        }
    }
    for (key, text) in odh.into_iter().flatten() {
        match certificates(key, text) {
            Ok(certificates) => found.extend(certificates),
            Err(error) => skipped.push((key.clone(), error)),
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    if found.len() > MAX_CERTIFICATES {
        return Err(CaError::TooMany);
    }
    let certificates = found.len();
    let pem = found.join("\n");
    if pem.len() > MAX_BYTES {
        return Err(CaError::TooLarge);
    }
    if pem.len() + BUNDLE_KEY.len() > MAX_CONFIG_MAP {
        return Err(CaError::DoesNotFit(pem.len()));
    }
    Ok(Some(Assembled { pem, certificates, skipped }))
}

/// The certificates in one value, each as PEM.
fn certificates(key: &str, text: &str) -> Result<Vec<String>, CaError> {
    let mut found = Vec::new();
    for der in blocks(text) {
        let reason = match parse_x509_certificate(&der) {
            Ok(([], _)) => None,
            Ok(_) => Some("data after the certificate".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(reason) = reason {
            return Err(CaError::Certificate { key: key.to_owned(), reason });
        }
        found.push(encode(&der));
    }
    if found.is_empty() && !text.trim().is_empty() {
        return Err(CaError::NoCertificate(key.to_owned()));
    }
    Ok(found)
}

/// The contents of the blocks called CERTIFICATE. A block without an end or with other than base64 in it is passed
/// over, like text between blocks.
fn blocks(text: &str) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        let line = line.trim();
        if line == "-----BEGIN CERTIFICATE-----" {
            open = Some(String::new());
        } else if line.starts_with("-----") {
            if let Some(body) = open.take()
                && line == "-----END CERTIFICATE-----"
                && let Ok(der) = STANDARD.decode(body)
            {
                blocks.push(der);
            }
        } else if let Some(body) = &mut open
            && !line.contains(':')
        {
            body.extend(line.chars().filter(|char| !char.is_whitespace()));
        }
    }
    blocks
}

/// Whether two texts hold the same certificates in the same order, however their lines are broken.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    blocks(one) == blocks(other)
}

fn encode(der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let mut pem = String::with_capacity(body.len() + body.len() / 64 + 60);
    pem.push_str("-----BEGIN CERTIFICATE-----\n");
    let mut rest = body.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        pem.push_str(line);
        pem.push('\n');
        rest = after;
    }
    pem.push_str("-----END CERTIFICATE-----\n");
    pem
}

pub(super) fn build(desired: &Desired<'_>) -> Option<Child> {
    let bundle = desired.ca_bundle?;
    let Owner { served, name, .. } = desired.owner;
    let labels = [(MANAGED_BY, served.manager), (INSTANCE, name), (COMPONENT, "ca-bundle"), (served.watch, "true")];
    let labels = labels.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let parts = json!({"data": {BUNDLE_KEY: bundle.pem}});
    Some(super::metadata::child(Kind::CaBundle, desired.owner, labels, parts))
}
