//! Which work waits, which runs, and which must run again: one small state machine per key.
//!
//! There is no debounce. The first request for a key starts at once; requests that arrive while it waits or runs are
//! merged into one more run. A burst of a thousand edits therefore costs two runs, and a single edit costs no delay.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells running work that nobody waits for its result any more.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the work to stop. It does so at its next look, or never.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the work is no longer wanted. It may ask often: this is one atomic load.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Cancels when dropped: held by a request whose client may lose interest.
#[derive(Debug, Default)]
pub struct CancelOnDrop(pub Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[derive(Debug)]
enum State {
    Scheduled,
    Running { cancel: Cancel, rerun: bool },
}

/// The state machine of every key. Keys without work are absent.
#[derive(Debug)]
pub struct Schedule<K> {
    states: HashMap<K, State>,
}

impl<K> Default for Schedule<K> {
    fn default() -> Self {
        Self { states: HashMap::new() }
    }
}

impl<K: Hash + Eq + Clone> Schedule<K> {
    /// Wants work for `key`. True: the caller has to start a worker for it. False: one is there and will see the
    /// newest state; work that already runs is told to stop and will run again.
    pub fn request(&mut self, key: &K) -> bool {
        match self.states.get_mut(key) {
            None => {
                self.states.insert(key.clone(), State::Scheduled);
                true
            }
            Some(State::Scheduled) => false,
            Some(State::Running { cancel, rerun }) => {
                cancel.cancel();
                *rerun = true;
                false
            }
        }
    }

    /// The worker starts on the newest state of `key`.
    pub fn begin(&mut self, key: &K) -> Cancel {
        let cancel = Cancel::default();
        self.states.insert(key.clone(), State::Running { cancel: cancel.clone(), rerun: false });
        cancel
    }

    /// The worker is done with what it began. True: it has to begin again. False: it has to end.
    pub fn finish(&mut self, key: &K) -> bool {
        match self.states.get_mut(key) {
            Some(state @ State::Running { rerun: true, .. }) => {
                *state = State::Scheduled;
                true
            }
            Some(State::Scheduled) => true,
            Some(State::Running { .. }) | None => {
                self.states.remove(key);
                false
            }
        }
    }

    /// Tells running work to stop; its result is not wanted any more.
    pub fn cancel<Q: Hash + Eq + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some(State::Running { cancel, .. }) = self.states.get(key) {
            cancel.cancel();
        }
    }

    /// How many keys have a worker.
    #[must_use]
    pub fn active(&self) -> usize {
        self.states.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_request_runs_once() {
        let mut schedule = Schedule::default();
        assert!(schedule.request(&"a"));
        let cancel = schedule.begin(&"a");
        assert!(!cancel.is_cancelled());
        assert!(!schedule.finish(&"a"));
        assert_eq!(schedule.active(), 0);
    }

    #[test]
    fn requests_before_the_start_are_one_run() {
        let mut schedule = Schedule::default();
        assert!(schedule.request(&"a"));
        assert!(!schedule.request(&"a"));
        schedule.begin(&"a");
        assert!(!schedule.finish(&"a"));
    }

    #[test]
    fn requests_during_a_run_cancel_it_and_are_one_more_run() {
        let mut schedule = Schedule::default();
        schedule.request(&"a");
        let cancel = schedule.begin(&"a");
        for _ in 0..1000 {
            assert!(!schedule.request(&"a"));
        }
        assert!(cancel.is_cancelled());
        assert!(schedule.finish(&"a"));
        assert!(!schedule.begin(&"a").is_cancelled());
        assert!(!schedule.finish(&"a"));
        assert_eq!(schedule.active(), 0);
    }

    #[test]
    fn keys_do_not_disturb_each_other() {
        let mut schedule = Schedule::default();
        schedule.request(&"a");
        let first = schedule.begin(&"a");
        assert!(schedule.request(&"b"));
        assert!(!first.is_cancelled());
    }
}
