//! HTTP as registries speak it, for what is read here: manifests and blobs, with the login that a registry asks for. Every
//! answer has a bound; what a registry says is not repeated, because whoever reads our messages may not be whom it says
//! it to.

use super::address::{Guard, same_site};
use super::credentials::Login;
use super::{Credential, Limits};
use oci_client::Reference;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Certificate, Client, Response, StatusCode, Url};
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::Mutex;

/// Bytes of a manifest: what registries themselves take.
pub(super) const MANIFEST: usize = 4 << 20;
/// Bytes of the answer to a login, and of one that says what is wrong.
const ANSWER: usize = 64 << 10;
/// Redirects of one blob: a registry, its storage, and one in between.
const HOPS: usize = 3;

/// Why a registry gave no answer that counts.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It does not let us in.
    Refused,
    /// It has no such image.
    Unknown,
    /// It failed: how, in our words.
    Failed(String),
}

/// One registry, asked for one image with one login.
pub(super) struct Remote<'a> {
    client: Client,
    guard: Guard,
    base: String,
    repository: &'a str,
    login: Option<&'a Credential>,
    /// What the registry wants to see with each request, once that is known.
    authorization: Mutex<Option<HeaderValue>>,
    /// Hosts that may have the login beside the registry's own site.
    trusted: &'a [String],
}

#[derive(Deserialize)]
struct Token {
    #[serde(alias = "access_token")]
    token: String,
}

#[derive(Default, Deserialize)]
struct Failure {
    #[serde(default)]
    errors: Vec<Code>,
}

#[derive(Deserialize)]
struct Code {
    #[serde(default)]
    code: String,
}

impl<'a> Remote<'a> {
    /// `insecure` are registries without TLS; `authorities` (PEM) are trusted beside those of the system.
    pub(super) fn new(
        image: &'a Reference,
        login: Option<&'a Credential>,
        limits: &Limits,
        (insecure, trusted): (&[String], &'a [String]),
        authorities: Option<&[u8]>,
    ) -> Result<Self, Trouble> {
        let registry = image.resolve_registry();
        let is_insecure = insecure.iter().any(|one| one == registry);
        let guard = Guard::new(registry, is_insecure);
        let mut builder = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .dns_resolver(guard.clone())
            .connect_timeout(limits.time.min(Duration::from_secs(5)))
            .read_timeout(limits.time)
            .user_agent(concat!("llsd-operator/", env!("CARGO_PKG_VERSION")));
        if let Some(pem) = authorities {
            let certificates = Certificate::from_pem_bundle(pem).map_err(|error| failed(&error))?;
            builder = builder.tls_certs_merge(certificates);
        }
        let scheme = if is_insecure { "http" } else { "https" };
        Ok(Self {
            client: builder.build().map_err(|error| failed(&error))?,
            guard,
            base: format!("{scheme}://{registry}/v2/{}", image.repository()),
            repository: image.repository(),
            login,
            authorization: Mutex::new(None),
            trusted,
        })
    }

    /// A manifest, by tag or digest.
    pub(super) async fn manifest(&self, what: &str, accept: &str) -> Result<Vec<u8>, Trouble> {
        let response = self.ask(&format!("{}/manifests/{what}", self.base), accept).await?;
        if response.status().is_redirection() {
            return Err(Trouble::Failed("it redirects a manifest, which is followed for blobs alone".to_owned()));
        }
        body(response, MANIFEST).await
    }

    /// A blob, as a stream. Storage elsewhere is followed, without what the registry wanted to see.
    pub(super) async fn blob(&self, digest: &str) -> Result<Response, Trouble> {
        if !is_digest(digest) {
            return Err(Trouble::Failed("it names a blob by what is no SHA-256 digest".to_owned()));
        }
        let mut response = self.ask(&format!("{}/blobs/{digest}", self.base), "*/*").await?;
        for _ in 0..=HOPS {
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
            let target = target.and_then(|target| response.url().join(target).ok());
            let target = target.filter(|target| self.guard.allows(target)).ok_or_else(elsewhere)?;
            response = self.client.get(target).send().await.map_err(|error| failed(&error))?;
            if !response.status().is_redirection() {
                response = good(response).await?;
            }
        }
        Err(Trouble::Failed(format!("it redirects a blob more than {HOPS} times")))
    }

    /// One request, repeated once with the login that the registry asks for.
    async fn ask(&self, url: &str, accept: &str) -> Result<Response, Trouble> {
        let url = Url::parse(url).map_err(|_| Trouble::Failed("its address is none".to_owned()))?;
        if !self.guard.allows(&url) {
            return Err(elsewhere());
        }
        let known = self.authorization.lock().await.clone();
        let mut response = self.send(&url, accept, known.as_ref()).await?;
        if response.status() == StatusCode::UNAUTHORIZED && known.is_none() {
            let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|text| text.to_str().ok());
            let authorization = self.log_in(challenge.unwrap_or_default()).await?;
            *self.authorization.lock().await = Some(authorization.clone());
            response = self.send(&url, accept, Some(&authorization)).await?;
        }
        if response.status().is_redirection() { Ok(response) } else { good(response).await }
    }

    async fn send(&self, url: &Url, accept: &str, authorization: Option<&HeaderValue>) -> Result<Response, Trouble> {
        let mut request = self.client.get(url.clone()).header(ACCEPT, accept);
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        request.send().await.map_err(|error| failed(&error))
    }

    /// What the registry wants to see, by its challenge: RFC 7235, and the token protocol of Docker's registry.
    async fn log_in(&self, challenge: &str) -> Result<HeaderValue, Trouble> {
        let (scheme, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
        let login = self.login.map(Credential::login);
        match (scheme.to_ascii_lowercase().as_str(), login) {
            (_, Some(Login::Token(token))) => secret(format!("Bearer {token}")),
            ("basic", Some(Login::Password { user, password })) => secret(basic(user, password)),
            ("bearer", login) => self.token(rest, login).await,
            _ => Err(Trouble::Refused),
        }
    }

    async fn token(&self, challenge: &str, login: Option<&Login>) -> Result<HeaderValue, Trouble> {
        let realm = parameter(challenge, "realm").and_then(|realm| Url::parse(realm).ok());
        let mut realm = realm.filter(|realm| self.guard.allows(realm)).ok_or_else(elsewhere)?;
        {
            let mut query = realm.query_pairs_mut();
            if let Some(service) = parameter(challenge, "service") {
                query.append_pair("service", service);
            }
            query.append_pair("scope", &format!("repository:{}:pull", self.repository));
        }
        let mut request = self.client.get(realm.clone());
        if let Some(Login::Password { user, password }) = login {
            let host = realm.host_str().unwrap_or_default();
            let own = Url::parse(&self.base).ok().and_then(|base| base.host_str().map(str::to_owned));
            if !same_site(host, &own.unwrap_or_default()) && !self.trusted.iter().any(|trusted| trusted == host) {
                return Err(Trouble::Failed(
                    "it asks for the login at another site; --registries names those that may have it".to_owned(),
                ));
            }
            request = request.header(AUTHORIZATION, secret(basic(user, password))?);
        }
        let response = request.send().await.map_err(|error| failed(&error))?;
        if response.status().is_redirection() {
            return Err(elsewhere());
        }
        let body = body(good(response).await?, ANSWER).await?;
        let token = serde_json::from_slice::<Token>(&body)
            .map_err(|_| Trouble::Failed("its answer to the login is no token".to_owned()))?;
        secret(format!("Bearer {}", token.token))
    }
}

fn basic(user: &str, password: &str) -> String {
    use base64::Engine as _;
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}")))
}

/// A header that is shown in no debug output.
fn secret(text: String) -> Result<HeaderValue, Trouble> {
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| Trouble::Failed("its login has signs that no header has".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Whether a text is a digest of the kind that is compared here. It becomes a part of a path.
pub(super) fn is_digest(text: &str) -> bool {
    let sum = text.strip_prefix("sha256:");
    sum.is_some_and(|sum| sum.len() == 64 && sum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}

/// A parameter of a challenge: `name="value"`.
fn parameter<'t>(challenge: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = challenge;
    loop {
        let (key, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        if key.trim_start_matches([',', ' ']).eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after;
    }
}

/// The answer, if it is one of success.
async fn good(response: Response) -> Result<Response, Trouble> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = body(response, ANSWER).await.unwrap_or_default();
    let failure: Failure = serde_json::from_slice(&body).unwrap_or_default();
    // The codes of the distribution specification; whatever else may be there is not ours to repeat.
    let codes = [
        "UNAUTHORIZED",
        "DENIED",
        "MANIFEST_UNKNOWN",
        "NAME_UNKNOWN",
        "BLOB_UNKNOWN",
        "NAME_INVALID",
        "TOOMANYREQUESTS",
        "UNSUPPORTED",
    ];
    let code = failure.errors.iter().find_map(|error| codes.into_iter().find(|code| *code == error.code));
    Err(match (status, code) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) | (_, Some("UNAUTHORIZED" | "DENIED")) => {
            Trouble::Refused
        }
        (StatusCode::NOT_FOUND, _) | (_, Some("MANIFEST_UNKNOWN" | "NAME_UNKNOWN")) => Trouble::Unknown,
        (status, Some(code)) => Trouble::Failed(format!("it answered {} {code}", status.as_u16())),
        (status, None) => Trouble::Failed(format!("it answered {status}")),
    })
}

/// The whole body, if it is not larger than `limit`.
async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if bytes.len() + chunk.len() > limit {
            return Err(Trouble::Failed(format!("its answer is larger than {limit} bytes")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn elsewhere() -> Trouble {
    Trouble::Failed(
        "it refers to an address that is not asked: only HTTPS, and no network in which it is not itself".to_owned(),
    )
}

/// What went wrong below HTTP. The causes are for the log: they tell of networks.
pub(super) fn failed(error: &reqwest::Error) -> Trouble {
    let mut causes = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        causes.push(inner.to_string());
        cause = inner.source();
    }
    tracing::info!(causes = causes.join(": "), "a request to a registry failed");
    let what = match () {
        () if error.is_timeout() => "it does not answer in time",
        () if error.is_connect() => "there is no connection to it; the operator's log has the cause",
        () => "the connection to it broke",
    };
    Trouble::Failed(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_no_path() {
        assert!(is_digest(&format!("sha256:{}", "0a".repeat(32))));
        for text in ["", "sha256:", "sha256:../../x", "sha512:00", &format!("sha256:{}?x=", "0".repeat(61))] {
            assert!(!is_digest(text), "{text}");
        }
    }

    #[test]
    fn challenges_are_read() {
        let challenge = r#"realm="https://auth.example.com/token",service="r, x", scope="repository:a:pull""#;
        assert_eq!(parameter(challenge, "realm"), Some("https://auth.example.com/token"));
        assert_eq!(parameter(challenge, "Service"), Some("r, x"));
        assert_eq!(parameter(challenge, "scope"), Some("repository:a:pull"));
        assert_eq!(parameter(challenge, "error"), None);
        assert_eq!(parameter("realm=", "realm"), None);
    }
}
