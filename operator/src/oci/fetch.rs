//! One image: its manifest, its labels, and the config that they lead to.

use super::layer::{Wanted, scan};
use super::{BASE64_LABEL, Credential, LAYER_LABEL, Limits, OciConfig, OciError, PATH_LABEL, VERSION_LABEL};
use base64::Engine as _;
use futures_util::StreamExt as _;
use oci_client::client::{Certificate, CertificateEncoding, ClientConfig, ClientProtocol};
use oci_client::errors::{OciDistributionError, OciErrorCode};
use oci_client::manifest::{ImageIndexEntry, OciDescriptor, OciImageManifest};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use serde::Deserialize;
use std::collections::HashMap;
use std::time::Duration;

/// Bytes of the image's own description, which holds the labels.
const DESCRIPTION: usize = 8 << 20;

/// How to ask registries.
#[derive(Debug)]
pub(super) struct Fetcher {
    pub(super) limits: Limits,
    pub(super) insecure: Vec<String>,
    pub(super) authorities: Option<Vec<u8>>,
}

/// What an image turned out to carry.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) digest: String,
    pub(super) config: Option<OciConfig>,
}

/// The part of an image's description that matters here. Docker and OCI agree on it.
#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    config: Option<Settings>,
}

#[derive(Default, Deserialize)]
struct Settings {
    #[serde(rename = "Labels", default)]
    labels: Option<HashMap<String, String>>,
}

/// Reads an image reference.
pub(super) fn reference(image: &str) -> Result<Reference, OciError> {
    let broken = |reason: String| OciError::Reference { image: image.to_owned(), reason };
    let reference: Reference = image.parse().map_err(|error: oci_client::ParseError| broken(error.to_string()))?;
    // The library completes a short name without looking at its letters.
    if reference.repository().contains(|letter: char| letter.is_ascii_uppercase()) {
        return Err(broken("repository name must be lowercase".to_owned()));
    }
    Ok(reference)
}

impl Fetcher {
    /// The image's digest and the config that it carries, with the first credentials that are let in. If it is still
    /// the image that is known, nothing but its manifest is transferred.
    pub(super) async fn config(
        &self,
        image: &Reference,
        credentials: &[Credential],
        known: Option<&Known>,
    ) -> Result<Known, OciError> {
        let logins = credentials.iter().map(Credential::auth).chain([RegistryAuth::Anonymous]);
        for login in logins {
            let client = self.client(image.resolve_registry());
            match client.pull_image_manifest_and_list_digest(image, &login).await {
                Ok((manifest, digest, list)) => {
                    let digest = list.unwrap_or(digest);
                    if let Some(known) = known.filter(|known| known.digest == digest) {
                        return Ok(known.clone());
                    }
                    let config = self.labelled(&client, image, &manifest, digest.clone()).await?;
                    return Ok(Known { digest, config });
                }
                Err(error) if is_refusal(&error) => {
                    tracing::debug!(%image, %error, "credentials were refused");
                }
                Err(error) => return Err(failure(image, &error)),
            }
        }
        let tried: Vec<_> =
            credentials.iter().map(ToString::to_string).chain(["anonymous access".to_owned()]).collect();
        Err(OciError::Denied { image: image.to_string(), tried: tried.join(", ") })
    }

    /// Each set of credentials has a client of its own: the client keeps the first ones that it is given.
    fn client(&self, registry: &str) -> Client {
        let host = registry.rsplit_once(':').map_or(registry, |(host, _)| host).trim_matches(['[', ']']);
        let loopback = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|host| host.is_loopback());
        let mut plain = self.insecure.clone();
        if loopback {
            plain.push(registry.to_owned());
        }
        let authorities = self.authorities.iter();
        Client::new(ClientConfig {
            protocol: ClientProtocol::HttpsExcept(plain),
            extra_root_certificates: authorities
                .map(|pem| Certificate { encoding: CertificateEncoding::Pem, data: pem.clone() })
                .collect(),
            // Labels are the same for all platforms: any Linux one will do where ours is missing.
            platform_resolver: Some(Box::new(platform)),
            connect_timeout: Some(self.limits.time.min(Duration::from_secs(5))),
            read_timeout: Some(self.limits.time),
            user_agent: concat!("llsd-operator/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        })
    }

    async fn labelled(
        &self,
        client: &Client,
        image: &Reference,
        manifest: &OciImageManifest,
        digest: String,
    ) -> Result<Option<OciConfig>, OciError> {
        let description = self.description(client, image, &manifest.config).await?;
        let Some(labels) = description.config.unwrap_or_default().labels else { return Ok(None) };
        let broken = |label, reason: String| OciError::Label { image: image.to_string(), label, reason };
        let text = match (labels.get(BASE64_LABEL), labels.get(LAYER_LABEL), labels.get(PATH_LABEL)) {
            (Some(text), _, _) => self.decoded(text).map_err(|reason| broken(BASE64_LABEL, reason))?,
            (None, Some(layer), Some(path)) => {
                let Some(layer) = manifest.layers.iter().find(|candidate| candidate.digest == *layer) else {
                    return Err(broken(LAYER_LABEL, format!("the image has no layer {layer:?}")));
                };
                self.layered(client, image, layer, path).await?
            }
            (None, Some(_), None) => return Err(broken(PATH_LABEL, "it is missing beside the layer's".to_owned())),
            (None, None, Some(_)) => return Err(broken(LAYER_LABEL, "it is missing beside the path's".to_owned())),
            (None, None, None) => return Ok(None),
        };
        Ok(Some(OciConfig { text, digest, version: labels.get(VERSION_LABEL).cloned() }))
    }

    async fn description(
        &self,
        client: &Client,
        image: &Reference,
        descriptor: &OciDescriptor,
    ) -> Result<Description, OciError> {
        let failed = |reason: String| OciError::Registry { image: image.to_string(), reason };
        let mut bytes = Vec::new();
        let mut stream =
            client.pull_blob_stream(image, descriptor).await.map_err(|error| failure(image, &error))?.stream;
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| failed(error.to_string()))?;
            if bytes.len() + chunk.len() > DESCRIPTION {
                return Err(failed(format!("the image's description is larger than {DESCRIPTION} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&bytes).map_err(|error| failed(format!("the image's description: {error}")))
    }

    fn decoded(&self, label: &str) -> Result<String, String> {
        if label.len() > self.limits.config / 3 * 4 + 4 {
            return Err(format!("the config is larger than {} bytes", self.limits.config));
        }
        let text: String = label.split_ascii_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| "the config is not UTF-8".to_owned())
    }

    /// Reads one file out of a layer, while the layer passes by: it is never held as a whole.
    async fn layered(
        &self,
        client: &Client,
        image: &Reference,
        layer: &OciDescriptor,
        path: &str,
    ) -> Result<String, OciError> {
        let broken = |label, reason: String| OciError::Label { image: image.to_string(), label, reason };
        let too_large = || broken(LAYER_LABEL, format!("the layer is larger than {} bytes", self.limits.layer));
        if u64::try_from(layer.size).is_ok_and(|size| size > self.limits.layer) {
            return Err(too_large());
        }
        let mut stream = client.pull_blob_stream(image, layer).await.map_err(|error| failure(image, &error))?.stream;
        let (chunks, arrived) = tokio::sync::mpsc::channel(4);
        let wanted = Wanted { path: path.to_owned(), size: self.limits.config, unpacked: self.limits.unpacked };
        let scanning = tokio::task::spawn_blocking(move || scan(arrived, &wanted));
        let mut size = 0;
        while let Some(chunk) = stream.next().await {
            let chunk =
                chunk.map_err(|error| OciError::Registry { image: image.to_string(), reason: error.to_string() })?;
            size += chunk.len() as u64;
            if size > self.limits.layer {
                return Err(too_large());
            }
            if chunks.send(chunk).await.is_err() {
                // The scan has failed; its reason is below.
                break;
            }
        }
        drop(chunks);
        let scanned = scanning.await.map_err(|error| broken(LAYER_LABEL, error.to_string()))?;
        let found = scanned.map_err(|error| broken(LAYER_LABEL, error.to_string()))?;
        let bytes = found.ok_or_else(|| broken(PATH_LABEL, format!("the layer has no file {path:?}")))?;
        String::from_utf8(bytes).map_err(|_| broken(PATH_LABEL, "the config is not UTF-8".to_owned()))
    }
}

fn platform(entries: &[ImageIndexEntry]) -> Option<String> {
    oci_client::client::current_platform_resolver(entries)
        .or_else(|| oci_client::client::linux_amd64_resolver(entries))
        .or_else(|| entries.first().map(|entry| entry.digest.clone()))
}

/// Whether other credentials may be let in.
fn is_refusal(error: &OciDistributionError) -> bool {
    match error {
        OciDistributionError::AuthenticationFailure(_) | OciDistributionError::UnauthorizedError { .. } => true,
        OciDistributionError::ServerError { code, .. } => matches!(code, 401 | 403),
        OciDistributionError::RegistryError { envelope, .. } => {
            envelope.errors.iter().any(|error| matches!(error.code, OciErrorCode::Unauthorized | OciErrorCode::Denied))
        }
        _ => false,
    }
}

fn failure(image: &Reference, error: &OciDistributionError) -> OciError {
    let image = image.to_string();
    let unknown = match error {
        OciDistributionError::ImageManifestNotFoundError(_) => true,
        OciDistributionError::ServerError { code, .. } => *code == 404,
        OciDistributionError::RegistryError { envelope, .. } => envelope.errors.iter().any(|error| {
            matches!(error.code, OciErrorCode::ManifestUnknown | OciErrorCode::NameUnknown | OciErrorCode::NotFound)
        }),
        _ => false,
    };
    if unknown {
        return OciError::NotFound { image };
    }
    // The causes say what a bare "error sending request" does not.
    let mut reason = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !reason.contains(&text) {
            reason = format!("{reason}: {text}");
        }
        cause = inner.source();
    }
    OciError::Registry { image, reason }
}
