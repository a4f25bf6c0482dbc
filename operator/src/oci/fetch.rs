//! One image: its manifest, its labels, and the config that they lead to.

use super::layer::{Wanted, scan};
use super::remote::{self, Remote, Trouble};
use super::{
    BASE64_LABEL, Credential, DEFAULT_LABEL, FILE_LABEL, LAYER_LABEL, Limits, OciConfig, OciError, PATH_LABEL,
    VERSION_LABEL,
};
use crate::served::Labels;
use base64::Engine as _;
use oci_client::Reference;
use oci_client::manifest::{
    IMAGE_MANIFEST_LIST_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE, ImageIndexEntry, OCI_IMAGE_INDEX_MEDIA_TYPE,
    OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest, OciManifest,
};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Bytes of the name of a file that a label may name.
const FILE_NAME: usize = 253;
/// Bytes of the image's own description, which holds the labels.
const DESCRIPTION: usize = 8 << 20;

/// What is looked for, and how registries are asked: limits, trusted certificates, and those that may be asked without TLS.
#[derive(Debug)]
pub(super) struct Fetcher {
    pub(super) labels: Labels,
    pub(super) limits: Limits,
    pub(super) insecure: Vec<String>,
    pub(super) trusted: Vec<String>,
    pub(super) authorities: Option<Vec<u8>>,
}

/// What an image turned out to carry.
#[derive(Clone, Debug)]
pub(super) struct FetchedImage {
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

/// Reads an image reference and completes short names as Docker does.
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
        known: Option<&FetchedImage>,
    ) -> Result<FetchedImage, OciError> {
        let failed = |trouble| failure(image, trouble);
        for login in credentials.iter().map(Some).chain([None]) {
            let lists = (self.insecure.as_slice(), self.trusted.as_slice());
            let remote = Remote::new(image, login, &self.limits, lists, self.authorities.as_deref()).map_err(failed)?;
            match manifest(&remote, image).await {
                Ok((manifest, digest)) => {
                    if let Some(known) = known.filter(|known| known.digest == digest) {
                        return Ok(known.clone());
                    }
                    let config = self.labelled(&remote, image, &manifest, digest.clone()).await?;
                    return Ok(FetchedImage { digest, config });
                }
                Err(Trouble::Refused) => tracing::debug!(%image, "credentials were refused"),
                Err(trouble) => return Err(failed(trouble)),
            }
        }
        Err(OciError::Denied { image: image.to_string(), logins: credentials.len() })
    }

    async fn labelled(
        &self,
        remote: &Remote<'_>,
        image: &Reference,
        manifest: &OciImageManifest,
        digest: String,
    ) -> Result<Option<OciConfig>, OciError> {
        let description = self.description(remote, image, &manifest.config).await?;
        let Some(labels) = description.config.unwrap_or_default().labels else { return Ok(None) };
        let text = match self.labels {
            Labels::LlamaStack => self.of_llama_stack(remote, image, manifest, &labels).await?,
            Labels::Ogx => self.of_ogx(image, &labels)?,
        };
        Ok(text.map(|text| OciConfig { text, digest, version: labels.get(VERSION_LABEL).cloned() }))
    }

    /// The file that the labels of ogx's images name as the config. They have it in themselves.
    fn of_ogx(&self, image: &Reference, labels: &HashMap<String, String>) -> Result<Option<String>, OciError> {
        let broken = |label, reason| OciError::Label { image: image.to_string(), label, reason };
        let Some(file) = labels.get(DEFAULT_LABEL) else { return Ok(None) };
        if file.is_empty() || file.len() > FILE_NAME {
            return Err(broken(DEFAULT_LABEL, format!("it is no name of a file: 1 to {FILE_NAME} bytes")));
        }
        let label = format!("{FILE_LABEL}{file}");
        let held =
            labels.get(&label).ok_or_else(|| broken(DEFAULT_LABEL, format!("the image has no label {label:?}")))?;
        self.decoded(held).map(Some).map_err(|reason| broken(FILE_LABEL, format!("the file {file:?}: {reason}")))
    }

    async fn of_llama_stack(
        &self,
        remote: &Remote<'_>,
        image: &Reference,
        manifest: &OciImageManifest,
        labels: &HashMap<String, String>,
    ) -> Result<Option<String>, OciError> {
        let broken = |label, reason: String| OciError::Label { image: image.to_string(), label, reason };
        let text = match (labels.get(BASE64_LABEL), labels.get(LAYER_LABEL), labels.get(PATH_LABEL)) {
            (Some(text), _, _) => self.decoded(text).map_err(|reason| broken(BASE64_LABEL, reason))?,
            (None, Some(layer), Some(path)) => {
                let Some(layer) = manifest.layers.iter().find(|candidate| candidate.digest == *layer) else {
                    return Err(broken(LAYER_LABEL, format!("the image has no layer {layer:?}")));
                };
                self.layered(remote, image, layer, path).await?
            }
            (None, Some(_), None) => return Err(broken(PATH_LABEL, "it is missing beside the layer's".to_owned())),
            (None, None, Some(_)) => return Err(broken(LAYER_LABEL, "it is missing beside the path's".to_owned())),
            (None, None, None) => return Ok(None),
        };
        Ok(Some(text))
    }

    async fn description(
        &self,
        remote: &Remote<'_>,
        image: &Reference,
        descriptor: &OciDescriptor,
    ) -> Result<Description, OciError> {
        let failed = |reason: String| OciError::Registry { image: image.to_string(), reason };
        let mut response = remote.blob(&descriptor.digest).await.map_err(|trouble| failure(image, trouble))?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failure(image, remote::failed(&error)))? {
            if bytes.len() + chunk.len() > DESCRIPTION {
                return Err(failed(format!("the image's description is larger than {DESCRIPTION} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        check(&descriptor.digest, Sha256::digest(&bytes).as_slice()).map_err(|trouble| failure(image, trouble))?;
        serde_json::from_slice(&bytes).map_err(|_| failed("the image's description is not in its form".to_owned()))
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
        remote: &Remote<'_>,
        image: &Reference,
        layer: &OciDescriptor,
        path: &str,
    ) -> Result<String, OciError> {
        let broken = |label, reason: String| OciError::Label { image: image.to_string(), label, reason };
        let too_large = || broken(LAYER_LABEL, format!("the layer is larger than {} bytes", self.limits.layer));
        if u64::try_from(layer.size).is_ok_and(|size| size > self.limits.layer) {
            return Err(too_large());
        }
        let mut response = remote.blob(&layer.digest).await.map_err(|trouble| failure(image, trouble))?;
        let (chunks, arrived) = tokio::sync::mpsc::channel(4);
        let wanted = Wanted { path: path.to_owned(), size: self.limits.config, unpacked: self.limits.unpacked };
        let scanning = tokio::task::spawn_blocking(move || scan(arrived, &wanted));
        let (mut size, mut digest, mut whole) = (0, Sha256::new(), true);
        while let Some(chunk) = response.chunk().await.map_err(|error| failure(image, remote::failed(&error)))? {
            size += chunk.len() as u64;
            if size > self.limits.layer {
                return Err(too_large());
            }
            digest.update(&chunk);
            if chunks.send(chunk).await.is_err() {
                // The scan has failed; its reason is below.
                whole = false;
                break;
            }
        }
        drop(chunks);
        let scanned = scanning.await.map_err(|error| broken(LAYER_LABEL, error.to_string()))?;
        let found = scanned.map_err(|error| broken(LAYER_LABEL, error.to_string()))?;
        if whole {
            check(&layer.digest, digest.finalize().as_slice()).map_err(|trouble| failure(image, trouble))?;
        }
        let bytes = found.ok_or_else(|| broken(PATH_LABEL, format!("the layer has no file {path:?}")))?;
        String::from_utf8(bytes).map_err(|_| broken(PATH_LABEL, "the config is not UTF-8".to_owned()))
    }
}

fn platform(entries: &[ImageIndexEntry]) -> Option<String> {
    oci_client::client::current_platform_resolver(entries)
        .or_else(|| oci_client::client::linux_amd64_resolver(entries))
        .or_else(|| entries.first().map(|entry| entry.digest.clone()))
}

/// The manifest of the image for one platform, and the digest that the reference stands for: that of the list of
/// platforms, where there is one.
async fn manifest(remote: &Remote<'_>, image: &Reference) -> Result<(OciImageManifest, String), Trouble> {
    let accept =
        [OCI_IMAGE_MEDIA_TYPE, OCI_IMAGE_INDEX_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE, IMAGE_MANIFEST_LIST_MEDIA_TYPE]
            .join(", ");
    let wanted = image.digest().or_else(|| image.tag()).unwrap_or("latest");
    let (found, digest) = read_manifest(remote, wanted, &accept, image.digest()).await?;
    let list = match found {
        OciManifest::Image(manifest) => return Ok((manifest, digest)),
        OciManifest::ImageIndex(list) => list,
    };
    let entry = platform(&list.manifests)
        .filter(|entry| remote::is_digest(entry))
        .ok_or_else(|| Trouble::Failed("its list of platforms names no image by a SHA-256 digest".to_owned()))?;
    match read_manifest(remote, &entry, &accept, Some(&entry)).await? {
        (OciManifest::Image(manifest), _) => Ok((manifest, digest)),
        (OciManifest::ImageIndex(_), _) => Err(Trouble::Failed("its list of platforms leads to a list".to_owned())),
    }
}

async fn read_manifest(
    remote: &Remote<'_>,
    wanted: &str,
    accept: &str,
    digest: Option<&str>,
) -> Result<(OciManifest, String), Trouble> {
    let bytes = remote.manifest(wanted, accept).await?;
    let sum = Sha256::digest(&bytes);
    if let Some(digest) = digest {
        check(digest, sum.as_slice())?;
    }
    let manifest = serde_json::from_slice(&bytes)
        .map_err(|_| Trouble::Failed("its answer is no manifest of an image".to_owned()))?;
    Ok((manifest, digest.map_or_else(|| written(sum.as_slice()), str::to_owned)))
}

/// Compares what came with what was asked for. The sum of what came is not told.
fn check(digest: &str, sum: &[u8]) -> Result<(), Trouble> {
    if digest == written(sum) {
        return Ok(());
    }
    Err(Trouble::Failed("what it sent does not have the digest that was asked for".to_owned()))
}

fn written(sum: &[u8]) -> String {
    sum.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

fn failure(image: &Reference, trouble: Trouble) -> OciError {
    let image = image.to_string();
    match trouble {
        Trouble::Unknown => OciError::NotFound { image },
        Trouble::Refused => OciError::Denied { image, logins: 0 },
        Trouble::Failed(reason) => OciError::Registry { image, reason },
    }
}
