//! Certificates that somebody else writes into a folder.

use super::Readiness;
use super::certificates::{CertificateError, Serving};
use super::listener::Identity;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How often the files are looked at. The kubelet brings a changed Secret within a minute.
const EVERY: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
enum MountedError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// Serves what the folder holds, for ever. Files that are gone or broken leave the last good certificate in place.
pub(super) async fn watch(folder: &Path, identity: &Identity, readiness: &Readiness) {
    let mut last = None;
    loop {
        let files = read(folder).await;
        // Two small files: their bytes say more than their times, which a mounted Secret's links do not change.
        let seen = files.as_ref().map_err(ToString::to_string).cloned();
        if last.as_ref() != Some(&seen) {
            match files
                .map_err(MountedError::from)
                .and_then(|(certificate, key)| Ok(Serving::read(&certificate, &key)?))
            {
                Ok(serving) => {
                    tracing::info!(until = %serving.not_after, "a mounted webhook certificate is served");
                    readiness.until(serving.not_after);
                    identity.set(serving);
                }
                Err(error) => tracing::warn!(folder = %folder.display(), %error, "no webhook certificate"),
            }
            last = Some(seen);
        }
        tokio::time::sleep(EVERY).await;
    }
}

async fn read(folder: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    Ok((tokio::fs::read(folder.join("tls.crt")).await?, tokio::fs::read(folder.join("tls.key")).await?))
}
