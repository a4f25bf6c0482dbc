//! `/metrics`, for Prometheus: to everybody in plain text, or over TLS to those whom the API server lets read it.

use crate::serving;
use axum::Router;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse as _;
use axum::routing::get;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The format that Prometheus reads.
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PATH: &str = "/metrics";
/// How long the API server's word on a reader counts.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Readers that are remembered. There are few; more of them forget all.
const READERS: usize = 64;
/// Questions to the API server at the same time: whoever sends tokens of no worth costs it no more than that.
const QUESTIONS: usize = 2;
/// How long the API server may take for its word on a reader, so that a scrape of ten seconds still gets an answer.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// Serves `/metrics`, which is what `text` gives, until `end`. With a client, over TLS, and only to those who have the
/// verb `get` on the non-resource URL `/metrics`.
///
/// # Errors
/// The address cannot be listened on, or no certificate can be made.
pub async fn serve(
    bind: SocketAddr,
    text: Arc<dyn Fn() -> String + Send + Sync>,
    reviewer: Option<Client>,
    end: CancellationToken,
) -> anyhow::Result<()> {
    let tls = reviewer.is_some().then(certificate).transpose()?;
    let gate = reviewer.map(|client| Arc::new(Gate::new(client)));
    let metrics = move |headers: HeaderMap| async move {
        if let Some(gate) = gate
            && let Err(refusal) = gate.admit(&headers).await
        {
            return refusal.into_response();
        }
        ([(CONTENT_TYPE, METRICS_TYPE)], text()).into_response()
    };
    Ok(serving::serve(bind, Router::new().route(PATH, get(metrics)), tls, end).await?)
}

/// A certificate for as long as the process lives. It keeps the token of a reader from being read along; who the operator
/// is it does not prove, because nobody tells the reader of it.
fn certificate() -> anyhow::Result<Arc<ServerConfig>> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    Ok(Arc::new(config))
}

/// Lets in whom the API server knows and lets read the metrics.
struct Gate {
    client: Client,
    /// Digests of tokens that were let in, and when.
    known: Mutex<HashMap<[u8; 32], Instant>>,
    questions: Semaphore,
}

/// What a reader is told who is not let in: status and text.
type HttpRefusal = (StatusCode, &'static str);

impl Gate {
    fn new(client: Client) -> Self {
        Self { client, known: Mutex::default(), questions: Semaphore::new(QUESTIONS) }
    }

    async fn admit(&self, headers: &HeaderMap) -> Result<(), HttpRefusal> {
        let refuse = |code: StatusCode, reason: &'static str| Err((code, reason));
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let Some(token) = bearer.map(str::trim).filter(|token| !token.is_empty()) else {
            return refuse(StatusCode::UNAUTHORIZED, "a bearer token is needed\n");
        };
        let digest: [u8; 32] = Sha256::digest(token).into();
        if self.known().get(&digest).is_some_and(|since| since.elapsed() < REMEMBERED) {
            return Ok(());
        }
        match tokio::time::timeout(ANSWER_TIME, self.ask(token)).await {
            Ok(Ok(Verdict::May)) => {
                let mut known = self.known();
                if known.len() >= READERS {
                    known.clear();
                }
                known.insert(digest, Instant::now());
                Ok(())
            }
            Ok(Ok(Verdict::Unknown)) => refuse(StatusCode::UNAUTHORIZED, "the API server does not know this token\n"),
            Ok(Ok(Verdict::MayNot)) => refuse(
                StatusCode::FORBIDDEN,
                "this account may not \"get\" the non-resource URL /metrics; bind it to a ClusterRole that allows it\n",
            ),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the API server was not asked about a reader of the metrics");
                refuse(StatusCode::INTERNAL_SERVER_ERROR, "the API server cannot be asked\n")
            }
            Err(_) => refuse(StatusCode::SERVICE_UNAVAILABLE, "the API server does not answer\n"),
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Instant>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, token: &str) -> kube::Result<Verdict> {
        // Never closed, so there is always one to be had.
        let _turn = self.questions.acquire().await;
        let review = TokenReview {
            spec: TokenReviewSpec { token: Some(token.to_owned()), ..TokenReviewSpec::default() },
            ..TokenReview::default()
        };
        let reviewed = Api::all(self.client.clone()).create(&PostParams::default(), &review).await?;
        let status = reviewed.status.unwrap_or_default();
        let Some(user) = status.user.filter(|_| status.authenticated == Some(true)) else {
            return Ok(Verdict::Unknown);
        };
        let asked: SubjectAccessReview =
            Api::all(self.client.clone()).create(&PostParams::default(), &access(user)).await?;
        let may = asked.status.is_some_and(|status| status.allowed && status.denied != Some(true));
        Ok(if may { Verdict::May } else { Verdict::MayNot })
    }
}

enum Verdict {
    May,
    MayNot,
    Unknown,
}

fn access(user: UserInfo) -> SubjectAccessReview {
    SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: user.username,
            groups: user.groups,
            uid: user.uid,
            extra: user.extra,
            non_resource_attributes: Some(NonResourceAttributes {
                path: Some(PATH.to_owned()),
                verb: Some("get".to_owned()),
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    }
}
