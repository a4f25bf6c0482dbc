//! Events: what happened to a resource, for `kubectl describe`.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An event that says the same again is not written within this time.
const REPEAT: Duration = Duration::from_secs(600);
/// Resources whose last events are remembered; then all are forgotten, and events may repeat.
const REMEMBERED: usize = 4096;

/// UID of the resource, and the event's reason.
type Subject = (String, &'static str);
/// The event's text, and when it was written.
type Said = (String, Instant);

/// Writes events, each once.
pub struct Events {
    recorder: Recorder,
    last: Mutex<HashMap<Subject, Said>>,
}

impl Events {
    /// Events of the replica called `instance`.
    #[must_use]
    pub fn new(client: Client, instance: &str) -> Self {
        let reporter = Reporter { controller: "llama-stack-operator".to_owned(), instance: Some(instance.to_owned()) };
        Self { recorder: Recorder::new(client, reporter), last: Mutex::default() }
    }

    /// Something went well.
    pub async fn normal(&self, about: &ObjectReference, reason: &'static str, note: &str) {
        self.publish(EventType::Normal, about, reason, note).await;
    }

    /// Something needs attention.
    pub async fn warning(&self, about: &ObjectReference, reason: &'static str, note: &str) {
        self.publish(EventType::Warning, about, reason, note).await;
    }

    async fn publish(&self, type_: EventType, about: &ObjectReference, reason: &'static str, note: &str) {
        if !self.is_news(about.uid.clone().unwrap_or_default(), reason, note) {
            return;
        }
        let (namespace, name) = (about.namespace.as_deref(), about.name.as_deref());
        match type_ {
            EventType::Normal => tracing::info!(namespace, name, reason, "{note}"),
            EventType::Warning => tracing::warn!(namespace, name, reason, "{note}"),
        }
        // The API server takes 1,024 bytes.
        let end = (0..=note.len().min(1000)).rev().find(|end| note.is_char_boundary(*end)).unwrap_or_default();
        let event = Event {
            type_,
            reason: reason.to_owned(),
            note: Some(note[..end].to_owned()),
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        // Nothing depends on events.
        if let Err(error) = self.recorder.publish(&event, about).await {
            tracing::debug!(%error, reason, "an event could not be written");
        }
    }

    fn is_news(&self, uid: String, reason: &'static str, note: &str) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= REMEMBERED {
            last.clear();
        }
        let now = Instant::now();
        let known = last.get(&(uid.clone(), reason));
        if known.is_some_and(|(text, at)| text == note && now.duration_since(*at) < REPEAT) {
            return false;
        }
        last.insert((uid, reason), (note.to_owned(), now));
        true
    }
}
