//! Which resources are to be looked at, and when. A resource is worked on by one task at a time; what happens to it
//! meanwhile has it looked at once more. Failures wait longer each time.

use crate::backoff::Backoff;
use llsd_generator::names::{NameError, Namespace, ObjectName};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Namespace and name of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// `metadata.namespace` of the resource.
    pub namespace: Namespace,
    /// `metadata.name` of the resource.
    pub name: ObjectName,
}

impl Key {
    /// The key of these two.
    ///
    /// # Errors
    /// One of them is no name; the API server has no such object.
    pub fn new(namespace: &str, name: &str) -> Result<Self, NameError> {
        Ok(Self { namespace: Namespace::parse(namespace)?, name: ObjectName::parse(name)? })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.namespace, self.name)
    }
}

/// The wait after a first failure: most are conflicts, which are over at once.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait between two tries: an administrator who mended something should not have to restart the operator.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// How soon a resource is tried again whose work failed while something happened to it: not at once, because what
/// happened may be what the work itself wrote.
const SOON: Duration = Duration::from_secs(1);

#[derive(Default)]
struct State {
    /// When to look at a resource next; those being worked on are not in it.
    due: Due,
    /// Being worked on; what came in meanwhile.
    active: HashMap<Key, Option<Instant>>,
    failing: HashMap<Key, Failing>,
}

/// Failures of a resource that followed each other without a success between them.
struct Failing {
    times: u32,
    backoff: Backoff,
}

impl Failing {
    fn new() -> Self {
        Self { times: 0, backoff: Backoff::new(FIRST_WAIT, LONGEST_WAIT) }
    }
}

/// Times by key, and the keys in the order of their times.
#[derive(Default)]
struct Due {
    times: HashMap<Key, Instant>,
    order: BTreeSet<(Instant, Key)>,
}

impl Due {
    /// At `at`, or earlier if it is there with an earlier time.
    fn add(&mut self, key: Key, at: Instant) {
        match self.times.get(&key) {
            Some(known) if *known <= at => return,
            Some(known) => {
                self.order.remove(&(*known, key.clone()));
            }
            None => {}
        }
        self.times.insert(key.clone(), at);
        self.order.insert((at, key));
    }

    /// The key that is due at `now`, or when the first one will be.
    fn take(&mut self, now: Instant) -> Result<Key, Option<Instant>> {
        match self.order.first() {
            Some((at, _)) if *at > now => Err(Some(*at)),
            _ => {
                let (_, key) = self.order.pop_first().ok_or(None)?;
                self.times.remove(&key);
                Ok(key)
            }
        }
    }
}

/// The queue. Clones share it.
#[derive(Clone, Default)]
pub struct Queue {
    state: Arc<Mutex<State>>,
    changed: Arc<Notify>,
}

impl fmt::Debug for Queue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (waiting, active) = self.lengths();
        write!(out, "Queue({waiting} waiting, {active} active)")
    }
}

impl Queue {
    /// Has a resource looked at as soon as possible.
    pub fn add(&self, key: Key) {
        self.add_at(key, Instant::now());
    }

    /// Has a resource looked at then, unless it is looked at earlier anyway.
    fn add_at(&self, key: Key, at: Instant) {
        let mut state = self.lock();
        if let Some(later) = state.active.get_mut(&key) {
            *later = Some(later.map_or(at, |known| known.min(at)));
            return;
        }
        state.due.add(key, at);
        drop(state);
        self.changed.notify_one();
    }

    /// The next resource to look at; waits for one. The caller says when it is [`done`](Self::done) with it.
    pub async fn next(&self) -> Key {
        loop {
            let changed = self.changed.notified();
            let wait = match self.take() {
                Ok(key) => return key,
                Err(wait) => wait,
            };
            match wait {
                Some(at) => tokio::select! {
                    () = changed => {}
                    () = tokio::time::sleep_until(at) => {}
                },
                None => changed.await,
            }
        }
    }

    /// The key that is due, or when the first one will be.
    fn take(&self) -> Result<Key, Option<Instant>> {
        let mut state = self.lock();
        let key = state.due.take(Instant::now())?;
        state.active.insert(key.clone(), None);
        let more = !state.due.order.is_empty();
        drop(state);
        if more {
            self.changed.notify_one();
        }
        Ok(key)
    }

    /// The work on a resource has ended, and went well: it is looked at again when something happens, or `after`.
    pub fn done(&self, key: Key, after: Option<Duration>) {
        let mut state = self.lock();
        state.failing.remove(&key);
        Self::release(&mut state, key, after);
        drop(state);
        self.changed.notify_one();
    }

    /// The work on a resource was not begun: it is taken up after `wait`, or at once if something happened to it.
    pub fn defer(&self, key: Key, wait: Duration) {
        let mut state = self.lock();
        Self::release(&mut state, key, Some(wait));
        drop(state);
        self.changed.notify_one();
    }

    /// The work on a resource has failed: it is tried again after a wait that grows. What happened meanwhile may have
    /// mended it, so that it is tried soon then. Returns the wait.
    pub fn failed(&self, key: Key) -> Duration {
        self.failed_for(key, Duration::ZERO)
    }

    /// As [`failed`](Self::failed), with a wait of at least so long while nothing happens.
    pub fn failed_for(&self, key: Key, least: Duration) -> Duration {
        let mut state = self.lock();
        let failing = state.failing.entry(key.clone()).or_insert_with(Failing::new);
        failing.times += 1;
        let wait = failing.backoff.next().max(least);
        let meanwhile = state.active.remove(&key).flatten();
        let wait = if meanwhile.is_some() { wait.min(SOON) } else { wait };
        state.due.add(key, Instant::now() + wait);
        drop(state);
        self.changed.notify_one();
        wait
    }

    /// How often in a row the work on a resource has failed.
    #[must_use]
    pub fn failures(&self, key: &Key) -> u32 {
        self.lock().failing.get(key).map_or(0, |failing| failing.times)
    }

    fn release(state: &mut State, key: Key, after: Option<Duration>) {
        let meanwhile = state.active.remove(&key).flatten();
        let later = after.map(|wait| Instant::now() + wait);
        let at = match (meanwhile, later) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if let Some(at) = at {
            state.due.add(key, at);
        }
    }

    /// How many resources wait for their turn, and how many are being worked on. Those that are to be looked at later do
    /// not wait.
    #[must_use]
    pub fn lengths(&self) -> (usize, usize) {
        let now = Instant::now();
        let state = self.lock();
        (state.due.order.iter().take_while(|(at, _)| *at <= now).count(), state.active.len())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new("ns", name).expect("names")
    }

    #[tokio::test(start_paused = true)]
    async fn one_key_is_given_out_once_and_again_after_a_change() {
        let queue = Queue::default();
        queue.add(key("a"));
        queue.add(key("a"));
        assert_eq!(queue.next().await, key("a"));
        assert_eq!(queue.lengths(), (0, 1));
        queue.add(key("a"));
        assert_eq!(queue.lengths(), (0, 1), "not while it is worked on");
        queue.done(key("a"), None);
        assert_eq!(queue.next().await, key("a"));
        queue.done(key("a"), None);
        assert_eq!(queue.lengths(), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_wait_longer_each_time_and_a_success_forgets_them() {
        let queue = Queue::default();
        queue.add(key("a"));
        let mut waits = Vec::new();
        for _ in 0..8 {
            let next = queue.next().await;
            waits.push(queue.failed(next));
        }
        assert!(waits[7] > 20 * waits[0], "{waits:?}");
        let next = queue.next().await;
        queue.done(next, None);
        queue.add(key("a"));
        let next = queue.next().await;
        assert!(queue.failed(next) <= FIRST_WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn what_happens_during_a_failure_is_looked_at_soon() {
        let queue = Queue::default();
        queue.add(key("a"));
        for _ in 0..12 {
            let next = queue.next().await;
            queue.failed(next);
        }
        let next = queue.next().await;
        assert_eq!(queue.failures(&next), 12);
        queue.add(key("a"));
        assert!(queue.failed(next) <= SOON);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_deferred_keeps_its_failures_and_comes_back() {
        let queue = Queue::default();
        queue.add(key("a"));
        let next = queue.next().await;
        queue.failed(next);
        let (next, start) = (queue.next().await, Instant::now());
        queue.add(key("b"));
        queue.defer(next, Duration::from_secs(1));
        assert_eq!(queue.failures(&key("a")), 1);
        assert_eq!(queue.next().await, key("b"));
        let next = queue.next().await;
        assert_eq!((next.clone(), start.elapsed().as_secs()), (key("a"), 1));
        queue.add(key("a"));
        queue.defer(next, Duration::from_secs(60));
        assert_eq!(queue.next().await, key("a"), "something happened to it");
    }

    #[tokio::test(start_paused = true)]
    async fn the_earlier_of_two_times_counts() {
        let queue = Queue::default();
        let start = Instant::now();
        queue.add_at(key("a"), Instant::now() + Duration::from_secs(60));
        queue.add_at(key("b"), Instant::now() + Duration::from_secs(5));
        queue.add_at(key("a"), Instant::now() + Duration::from_secs(30));
        assert_eq!(queue.next().await, key("b"));
        assert_eq!(queue.next().await, key("a"));
        assert_eq!(start.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_due_first_comes_first_and_what_is_due_later_does_not_wait() {
        let queue = Queue::default();
        queue.add_at(key("c"), Instant::now() + Duration::from_secs(60));
        queue.add(key("b"));
        tokio::time::advance(Duration::from_millis(1)).await;
        queue.add(key("a"));
        queue.add(key("b"));
        assert_eq!(queue.lengths(), (2, 0));
        assert_eq!(queue.next().await, key("b"));
        assert_eq!(queue.next().await, key("a"));
        assert_eq!(queue.lengths(), (0, 2));
        queue.done(key("a"), Some(Duration::from_secs(90)));
        queue.done(key("b"), None);
        assert_eq!(queue.next().await, key("c"));
        assert_eq!(queue.next().await, key("a"));
    }
}
