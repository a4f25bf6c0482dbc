//! What running servers say about themselves: their version and providers. Asked apart from the reconcile, so that a
//! slow server holds up nobody; a server that does not answer is asked less and less often.
//!
//! The server is whatever the resource's image is, and its answer is read by everybody who may read the resource. So it
//! leads nowhere else, and of what it says only short words of known fields are kept: no settings of providers, of which
//! nobody can tell whether they hold a secret.

use crate::backoff::Backoff;
use crate::queue::{Key, Queue};
use llsd_generator::api::status::{ProviderHealth, ProviderInfo};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// How long a server may take for one answer. One that is up answers at once; its readiness is the kubelet's business.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The first wait before a server is asked again, right after its start.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// The longest wait: what is asked for, a version and the providers, hardly changes while a server runs.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Answers longer than this are not read. The settings of providers, which are not kept, are most of them.
const LARGEST: usize = 256 << 10;
/// Providers that are kept, and bytes of all that is kept of them: it is part of the status of a resource.
const PROVIDERS: usize = 100;
const KEPT: usize = 16 << 10;
/// Characters of a version, a name or a message: it goes into a status that users read in a terminal.
const WORD: usize = 128;
/// Servers that are asked at once: enough that slow ones do not hold up the others, few enough for a small operator.
const AT_ONCE: usize = 8;

/// What a server says about itself, within the bounds of a status.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The version of llama-stack; `None` if it was not told.
    pub version: Option<String>,
    /// Its providers; `None` if it did not tell.
    pub providers: Option<Vec<ProviderInfo>>,
}

struct Watched {
    url: String,
    answer: Option<Arc<Answer>>,
    task: AbortHandle,
}

#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    places: Arc<Semaphore>,
}

/// The servers that are asked.
pub struct Probes {
    client: Option<Client>,
    queue: Queue,
    all: Arc<Mutex<HashMap<Key, Watched>>>,
}

impl Probes {
    /// Has resources looked at again through `queue` when their server says something new. Without `enabled` nobody
    /// is asked.
    #[must_use]
    pub fn new(queue: Queue, enabled: bool) -> Self {
        // The server's certificate is made for its users, not for the cluster's names; what is read is no secret.
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .tls_danger_accept_invalid_certs(true)
            .no_proxy()
            .build();
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Self { client: client.ok().filter(|_| enabled).map(|http| Client { http, places }), queue, all: Arc::default() }
    }

    /// The last answer of a ready server, which is asked from now on.
    #[must_use]
    pub fn ask(&self, key: &Key, url: &str) -> Option<Arc<Answer>> {
        let client = self.client.clone()?;
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watched) = all.get(key).filter(|watched| watched.url == url) {
            return watched.answer.clone();
        }
        let task = tokio::spawn(follow(client, url.to_owned(), key.clone(), Arc::clone(&self.all), self.queue.clone()));
        if let Some(old) =
            all.insert(key.clone(), Watched { url: url.to_owned(), answer: None, task: task.abort_handle() })
        {
            old.task.abort();
        }
        None
    }

    /// The server is not ready, or not there any more.
    pub fn forget(&self, key: &Key) {
        if let Some(old) = self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(key) {
            old.task.abort();
        }
    }
}

async fn follow(client: Client, url: String, key: Key, all: Arc<Mutex<HashMap<Key, Watched>>>, queue: Queue) {
    let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
    loop {
        let answer = {
            // The semaphore is never closed.
            let _place = client.places.acquire().await;
            ask(&client.http, &url).await
        };
        let known = answer.version.is_some() && answer.providers.is_some();
        {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(watched) = all.get_mut(&key).filter(|watched| watched.url == url) else { return };
            if watched.answer.as_deref() != Some(&answer) && (watched.answer.is_some() || answer != Answer::default()) {
                watched.answer = Some(Arc::new(answer));
                queue.add(key.clone());
            }
        }
        let wait = if known { LONGEST_WAIT / 2 + backoff.jitter(LONGEST_WAIT / 2) } else { backoff.next() };
        tokio::time::sleep(wait).await;
    }
}

async fn ask(client: &reqwest::Client, url: &str) -> Answer {
    let version = get(client, &format!("{url}/v1/version")).await.and_then(|body| body["version"].as_str().map(word));
    let providers = get(client, &format!("{url}/v1/providers")).await.and_then(|body| providers(&body));
    Answer { version, providers }
}

async fn get(client: &reqwest::Client, url: &str) -> Option<Value> {
    let mut answer = client.get(url).send().await.ok().filter(|answer| answer.status() == reqwest::StatusCode::OK)?;
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > LARGEST {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

/// The providers of an answer. All fields of a provider are required by the schema, so what a server leaves out is
/// filled in: otherwise the whole status would be refused.
fn providers(body: &Value) -> Option<Vec<ProviderInfo>> {
    let text = |value: &Value| word(value.as_str().unwrap_or_default());
    let provider = |one: &Value| ProviderInfo {
        api: text(&one["api"]),
        provider_id: text(&one["provider_id"]),
        provider_type: text(&one["provider_type"]),
        config: settings(&one["config"]),
        health: ProviderHealth { status: text(&one["health"]["status"]), message: text(&one["health"]["message"]) },
    };
    let mut room = KEPT;
    let fits = |provider: &ProviderInfo| {
        let size = serde_json::to_vec(provider).map_or(usize::MAX, |text| text.len());
        let left = room.checked_sub(size);
        room = left.unwrap_or_default();
        left.is_some()
    };
    let all = body["data"].as_array()?.iter().filter(|one| one.is_object()).take(PROVIDERS).map(provider);
    Some(all.take_while(fits).collect())
}

/// Which settings a provider has, without their values.
fn settings(config: &Value) -> Value {
    let keys = config.as_object().into_iter().flatten().take(PROVIDERS).map(|(key, _)| (word(key), Value::from("…")));
    Value::Object(keys.collect())
}

/// The text, on one line and of a length that a word may have.
fn word(text: &str) -> String {
    text.chars().take(WORD).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_server_leaves_out_is_filled_in() {
        let body = json!({"data": [{"api": "inference", "provider_id": "vllm"}, 7]});
        let found = providers(&body).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].provider_type.as_str(), &found[0].config), ("", &json!({})));
        assert_eq!(providers(&json!({"data": "x"})), None);
    }

    #[test]
    fn little_is_kept_of_what_a_server_says() {
        let one = json!({
            "api": "inference", "provider_id": "x".repeat(5_000), "provider_type": "a\nb",
            "config": {"url": "http://internal", "password": "secret", "nested": {"a": 1}},
            "health": {"status": "OK", "message": ""},
        });
        let found = providers(&json!({"data": vec![one; 5_000]})).unwrap();
        assert!(!found.is_empty() && found.len() <= PROVIDERS);
        let text = serde_json::to_string(&found).unwrap();
        assert!(text.len() <= KEPT + PROVIDERS && !text.contains("secret") && !text.contains("internal"), "{text}");
        assert_eq!(found[0].provider_type, "a b");
        assert_eq!(found[0].config, json!({"url": "…", "password": "…", "nested": "…"}));
    }
}
