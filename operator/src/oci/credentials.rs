//! Pull secrets: which credentials they hold, and for which images.

use base64::Engine as _;
use oci_client::Reference;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// A user name and a password, or a token, for the images below a place.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Credential {
    host: String,
    path: String,
    login: Login,
}

/// What a registry is told.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Login {
    Password { user: String, password: String },
    Token(String),
}

impl fmt::Debug for Credential {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Credential({self})")
    }
}

/// Place and user name, never the secret.
impl fmt::Display for Credential {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.login {
            Login::Password { user, .. } => write!(out, "user {user:?} for {}{}", self.host, self.path),
            Login::Token(_) => write!(out, "a token for {}{}", self.host, self.path),
        }
    }
}

impl Credential {
    pub(super) fn login(&self) -> &Login {
        &self.login
    }

    fn covers(&self, host: &str, repository: &str) -> bool {
        let path = self.path.trim_matches('/');
        let below = repository.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        host_matches(&self.host, host) && (path.is_empty() || below)
    }
}

/// `*` stands for a whole part of a name, as the kubelet has it; the port must be the same.
pub(super) fn host_matches(pattern: &str, host: &str) -> bool {
    let split = |text: &str| {
        let (name, port) = text.split_once(':').unwrap_or((text, ""));
        (name.split('.').map(str::to_owned).collect::<Vec<_>>(), port.to_owned())
    };
    let ((pattern, pattern_port), (host, port)) = (split(pattern), split(host));
    pattern_port == port
        && pattern.len() == host.len()
        && pattern.iter().zip(&host).all(|(part, name)| part == "*" || part == name)
}

/// The credentials that are for an image, the most specific first; else in their order.
pub(super) fn matching(all: &[Credential], image: &Reference) -> Vec<Credential> {
    let hosts = [image.registry(), image.resolve_registry()];
    let mut found: Vec<_> = all
        .iter()
        .filter(|credential| hosts.iter().any(|host| credential.covers(host, image.repository())))
        .cloned()
        .collect();
    found.sort_by_key(|credential| std::cmp::Reverse(credential.path.len()));
    found.dedup();
    found
}

/// Why a pull secret cannot be read. What it holds is not quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// Not JSON of that form.
    #[error("it is not a Docker config: error at line {line}, column {column}")]
    Syntax {
        /// Line of the fault, counted from 1.
        line: usize,
        /// Column of the fault, counted from 1.
        column: usize,
    },
    /// An entry without usable credentials.
    #[error("{} has no usable auth, username and password, or registrytoken", entry_of(registry.as_deref()))]
    Entry {
        /// The key of the entry below `auths`, if it reads as a registry: anything else may be what was to stay secret.
        registry: Option<String>,
    },
}

fn entry_of(registry: Option<&str>) -> String {
    registry.map_or_else(|| "one of its entries".to_owned(), |registry| format!("its entry for \"{registry}\""))
}

/// Bytes of the key of an entry that is repeated: a host has 253 at most.
const REGISTRY: usize = 300;

/// Whether a key reads as a host, with a path or without: letters, digits and what stands between them, and a dot or port.
fn reads_as_registry(place: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:/*".contains(&byte);
    place.len() <= REGISTRY && place.bytes().all(is_plain) && place.contains(['.', ':'])
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DockerConfig {
    Current {
        auths: BTreeMap<String, Entry>,
    },
    /// `.dockercfg`: the same without the frame.
    Legacy(BTreeMap<String, Entry>),
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    auth: Option<String>,
    #[serde(default)]
    username: Option<String>,
    #[serde(default)]
    password: Option<String>,
    #[serde(default)]
    registrytoken: Option<String>,
}

/// The credentials in `.dockerconfigjson` or `.dockercfg`. Entries without credentials are left out: another part of
/// the secret may well be good.
///
/// # Errors
/// If the text cannot be read, or if none of its entries can.
pub fn parse_docker_config(text: &[u8]) -> Result<Vec<Credential>, CredentialError> {
    let config: DockerConfig = serde_json::from_slice(text)
        .map_err(|error| CredentialError::Syntax { line: error.line(), column: error.column() })?;
    let (DockerConfig::Current { auths } | DockerConfig::Legacy(auths)) = config;
    let mut unusable = None;
    let mut found = Vec::new();
    for (place, entry) in auths {
        match login(entry) {
            Some(login) => {
                let (host, path) = split(&place);
                found.push(Credential { host, path, login });
            }
            None => {
                let registry = Some(place).filter(|place| reads_as_registry(place));
                unusable = Some(CredentialError::Entry { registry });
            }
        }
    }
    match unusable {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

fn login(entry: Entry) -> Option<Login> {
    if let Some(token) = entry.registrytoken.filter(|token| !token.is_empty()) {
        return Some(Login::Token(token));
    }
    if let (Some(user), Some(password)) = (entry.username.filter(|user| !user.is_empty()), entry.password) {
        return Some(Login::Password { user, password });
    }
    let auth = entry.auth?;
    let engine = base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    );
    let text = String::from_utf8(engine.decode(auth.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    // Some tools pad the text with NUL.
    let password = password.trim_end_matches('\0');
    Some(Login::Password { user: user.to_owned(), password: password.to_owned() })
}

/// Host and path of an entry's key: `https://index.docker.io/v1/`, `quay.io/team`, `*.example.com:5000`.
fn split(place: &str) -> (String, String) {
    let rest = place.split_once("://").map_or(place, |(_, rest)| rest);
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    // The version of the registry's interface, which old tools wrote into the key, is no part of an image's name.
    let path = match path.trim_end_matches('/') {
        "/v1" | "/v2" => "",
        other => other,
    };
    (host.to_owned(), path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(config: serde_json::Value) -> Vec<Credential> {
        parse_docker_config(config.to_string().as_bytes()).expect("a Docker config")
    }

    fn users(all: &[Credential], image: &str) -> Vec<String> {
        let image = image.parse().expect("a reference");
        matching(all, &image)
            .iter()
            .map(|credential| match credential.login() {
                Login::Password { user, password } => format!("{user}:{password}"),
                Login::Token(token) => token.clone(),
            })
            .collect()
    }

    fn basic(user: &str) -> serde_json::Value {
        json!({"auth": base64::engine::general_purpose::STANDARD.encode(format!("{user}:p:w"))})
    }

    #[test]
    fn credentials_are_for_their_place() {
        let all = of(json!({"auths": {
            "https://index.docker.io/v1/": basic("hub"),
            "quay.io": basic("all"),
            "quay.io/team": basic("team"),
            "*.example.com:5000": basic("wild"),
            "127.0.0.1:5000": {"username": "u", "password": "p"},
        }}));
        assert_eq!(users(&all, "llamastack/starter:1"), ["hub:p:w"]);
        assert_eq!(users(&all, "quay.io/team/a:1"), ["team:p:w", "all:p:w"]);
        assert_eq!(users(&all, "quay.io/teams/a:1"), ["all:p:w"]);
        assert_eq!(users(&all, "a.example.com:5000/x:1"), ["wild:p:w"]);
        assert_eq!(users(&all, "a.b.example.com:5000/x:1"), [""; 0]);
        assert_eq!(users(&all, "a.example.com/x:1"), [""; 0]);
        assert_eq!(users(&all, "127.0.0.1:5000/x:1"), ["u:p"]);
        assert_eq!(users(&all, "ghcr.io/x:1"), [""; 0]);
    }

    #[test]
    fn older_forms_and_broken_ones() {
        assert_eq!(users(&of(json!({"quay.io": basic("old")})), "quay.io/a:1"), ["old:p:w"]);
        let unpadded = json!({"auths": {"quay.io": {"auth": "dTpw"}, "ghcr.io": {"auth": "????"}}});
        assert_eq!(users(&of(unpadded), "quay.io/a:1"), ["u:p"]);
        let error = parse_docker_config(br#"{"auths": {"quay.io": {"auth": "c2VjcmV0"}}}"#).expect_err("no colon");
        assert!(!error.to_string().contains("c2VjcmV0"), "{error}");
        assert!(error.to_string().starts_with("its entry for \"quay.io\" has no"), "{error}");
        let long = format!("{}.io", "x".repeat(REGISTRY));
        for key in ["{\\\\\u{7f}\u{7f}", "hunter2", "s3cret=p@ss.word", "", long.as_str()] {
            let error = parse_docker_config(json!({ key: {} }).to_string().as_bytes()).expect_err("no credentials");
            assert!(error.to_string().starts_with("one of its entries has no"), "{error}");
        }
        assert!(matches!(parse_docker_config(b"{"), Err(CredentialError::Syntax { .. })));
        assert_eq!(of(json!({"auths": {}})), []);
    }

    #[test]
    fn secrets_are_not_printed() {
        let all = of(json!({"auths": {"quay.io": basic("me"), "ghcr.io": {"registrytoken": "secret"}}}));
        let text = format!("{all:?}");
        assert!(text.contains("me") && !text.contains("p:w") && !text.contains("secret"), "{text}");
    }
}
