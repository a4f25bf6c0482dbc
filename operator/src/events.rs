//! Events: what happened to a resource, for `kubectl describe`.

use crate::served::Served;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long writing one may hold up a reconcile. An Event is help, not state: it may be lost.
const PATIENCE: Duration = Duration::from_secs(5);
/// An event that says the same again is not written within this time.
const REPEAT: Duration = Duration::from_secs(600);
/// Events that are remembered: some of each of thousands of resources. Beyond that the oldest half is forgotten, and those
/// may repeat.
const REMEMBERED: usize = 32_768;

/// UID of the resource, and the event's reason.
type EventKey = (String, &'static str);
/// A digest of the event's text, and when it was written.
type Said = (u64, Instant);

/// Writes Events about resources. One that repeats the last of its kind about a resource is left out.
pub struct Events {
    recorder: Recorder,
    last: Mutex<HashMap<EventKey, Said>>,
}

impl Events {
    /// Events of the replica called `instance`, about resources of the kind `served`.
    #[must_use]
    pub fn new(client: Client, instance: &str, served: &Served) -> Self {
        let reporter = Reporter { controller: served.manager.to_owned(), instance: Some(instance.to_owned()) };
        Self { recorder: Recorder::new(client, reporter), last: Mutex::default() }
    }

    /// Writes an Event of type `Normal`. A failure to write it is logged and nothing else.
    pub async fn normal(&self, about: &ObjectReference, reason: &'static str, note: &str) {
        self.publish(EventType::Normal, about, reason, note).await;
    }

    /// Writes an Event of type `Warning`. A failure to write it is logged and nothing else.
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
        match tokio::time::timeout(PATIENCE, self.recorder.publish(&event, about)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, reason, "an event could not be written"),
            Err(_) => tracing::debug!(reason, "an event was not written in time"),
        }
    }

    fn is_news(&self, uid: String, reason: &'static str, note: &str) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if last.len() >= REMEMBERED {
            forget_older_half(&mut last);
        }
        let known = last.get(&(uid.clone(), reason));
        if known.is_some_and(|(said, at)| *said == digest(note) && now.duration_since(*at) < REPEAT) {
            return false;
        }
        last.insert((uid, reason), (digest(note), now));
        true
    }
}

/// What was said last stays known: if all were forgotten at once, all events would be written again at once.
fn forget_older_half(last: &mut HashMap<EventKey, Said>) {
    let mut times: Vec<Instant> = last.values().map(|(_, at)| *at).collect();
    let middle = times.len() / 2;
    let (_, middle, _) = times.select_nth_unstable(middle);
    let middle = *middle;
    last.retain(|_, (_, at)| *at > middle);
}

fn digest(note: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(note.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_last_stays_known() {
        let start = Instant::now();
        let mut last: HashMap<EventKey, Said> = (0..1_000)
            .map(|at| ((at.to_string(), "Reason"), (digest("note"), start + Duration::from_secs(at))))
            .collect();
        forget_older_half(&mut last);
        assert!((400..=500).contains(&last.len()), "{}", last.len());
        assert!(last.contains_key(&("999".to_owned(), "Reason")) && !last.contains_key(&("0".to_owned(), "Reason")));
    }
}
