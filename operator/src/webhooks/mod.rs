//! The HTTPS endpoint that the API server asks: conversion between the versions, and admission.
//!
//! Every replica serves it, leader or not: while no replica answers, the API server can neither read the resource in
//! the version that is not stored nor take a write. So serving starts before anything is read from the API server
//! that would need it, and ends last.

mod admit;
mod admit_ogx;
mod bundle;
mod certificates;
mod convert;
mod listener;
mod mounted;
mod own;
mod review;
mod routes;
mod secret;
mod surroundings;

pub use admit::VALIDATE_PATH;
pub use admit_ogx::VALIDATE_OGX_PATH;
pub use bundle::Endpoint;
pub use certificates::{CertificateError, unexpired};
pub use routes::CONVERT_PATH;
pub use secret::SECRET_NAME;
pub use surroundings::Surroundings;

use crate::webhooks::listener::Identity;
use kube::Client;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

/// Name of the webhook in the `ValidatingWebhookConfiguration`, which has a name of its own.
pub const WEBHOOK_NAME: &str = "vllamastackdistribution.kb.io";
/// Name of the one of `OGXServer`, which stands beside it where that kind is served.
pub const OGX_WEBHOOK_NAME: &str = "vogxserver.kb.io";

/// How the endpoint is served.
#[derive(Clone)]
pub struct Options {
    /// The address and port to listen on.
    pub bind: SocketAddr,
    /// Where the certificate comes from.
    pub certificates: Certificates,
    /// Whom to ask for what is beside a resource that is written, to warn of what is missing. `None`: nobody.
    pub surroundings: Option<Surroundings>,
    /// How long connections are still taken after the end was asked for: until every API server has heard that this
    /// replica is leaving. Requests that are under way are answered in any case.
    pub drain: Duration,
}

/// Where the serving certificate comes from.
#[derive(Clone)]
pub enum Certificates {
    /// Made here, shared by all replicas through the Secret [`SECRET_NAME`], renewed when a third of its time is
    /// left, and made known to the API server.
    Own {
        /// Reads and writes the certificate and the places that must know it.
        client: Client,
        /// The operator's namespace, where the Secret is.
        namespace: String,
        /// Where the API server reaches the endpoint.
        endpoint: Endpoint,
        /// Name of the `ValidatingWebhookConfiguration`; where there is none, nothing is missed.
        configuration: String,
        /// How long a new certificate is valid.
        lifetime: Duration,
    },
    /// Files `tls.crt` and `tls.key` of a folder, as cert-manager and OpenShift write them into a mounted Secret.
    /// They are read again when they change. Whoever writes them also makes them known to the API server.
    Mounted {
        /// The folder with `tls.crt`, `tls.key` and perhaps `ca.crt`, as cert-manager mounts them.
        folder: PathBuf,
    },
}

/// Whether the endpoint can be asked: it listens, has a certificate that has not expired, and the API server knows whom to
/// trust.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<AtomicI64>);

impl Readiness {
    /// Whether it can be asked now.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        OffsetDateTime::now_utc().unix_timestamp() < self.0.load(Ordering::Relaxed)
    }

    /// It can be asked until then.
    fn until(&self, moment: OffsetDateTime) {
        self.0.store(moment.unix_timestamp(), Ordering::Relaxed);
    }
}

/// Why the endpoint is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address that was to be listened on.
        address: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The TLS library refuses its own defaults.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// What the endpoint answers to the body of a review; `None` if it is none, or the path is not served. The bounds on
/// bodies are those of the connection, and not looked at here.
#[must_use]
pub fn answer(path: &str, body: &[u8]) -> Option<String> {
    match path {
        CONVERT_PATH => convert::review(body).ok(),
        VALIDATE_PATH => admit::review(body).ok().map(|admission| admission.review.to_string()),
        VALIDATE_OGX_PATH => admit_ogx::review(body).ok().map(|admission| admission.review.to_string()),
        _ => None,
    }
}

/// Serves until `end` is cancelled, and answers what is under way then. Whatever goes wrong with certificates or with
/// the API server is logged and tried again: what works goes on being served.
///
/// # Errors
/// If it cannot start to listen.
pub async fn serve(options: Options, readiness: Readiness, end: CancellationToken) -> Result<(), ServeError> {
    let Options { bind, certificates, surroundings, drain } = options;
    let identity = Arc::new(Identity::default());
    let listener = crate::serving::listen(bind).await.map_err(|source| ServeError::Bind { address: bind, source })?;
    let config = listener::config(Arc::clone(&identity))?;
    let keep = async {
        match certificates {
            Certificates::Own { client, namespace, endpoint, configuration, lifetime } => {
                let keeper = own::Keeper::new(client, &namespace, endpoint, configuration, lifetime);
                keeper.run(&identity, &readiness).await;
            }
            Certificates::Mounted { folder } => mounted::watch(&folder, &identity, &readiness).await,
        }
    };
    let stop = CancellationToken::new();
    let ending = async {
        tokio::select! {
            () = end.cancelled() => {}
            // Certificates are kept in step as long as connections are taken; neither ends by itself.
            () = keep => {}
        }
        readiness.until(OffsetDateTime::UNIX_EPOCH);
        tokio::time::sleep(drain).await;
        stop.cancel();
    };
    tokio::join!(ending, listener::accept(listener, config, routes::router(surroundings), &stop));
    Ok(())
}
