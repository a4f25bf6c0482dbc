//! Waiting between attempts: longer each time, and never for the same time as others do.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// Doubles the wait from attempt to attempt, up to a limit. Each wait is between half and all of that.
#[derive(Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
    random: RandomState,
    drawn: u64,
}

impl Backoff {
    /// Waits of at most `first`, then twice that and so on, never more than `longest`.
    #[must_use]
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first, random: RandomState::new(), drawn: 0 }
    }

    /// The time to wait before the next attempt.
    #[allow(clippy::should_implement_trait, reason = "it has no end to be asked for")]
    pub fn next(&mut self) -> Duration {
        let whole = self.next.min(self.longest);
        self.next = whole.saturating_mul(2);
        whole / 2 + self.jitter(whole / 2)
    }

    /// After a success: the next wait is the first one again.
    pub fn reset(&mut self) {
        self.next = self.first;
    }

    /// A random time of at most `most`.
    pub fn jitter(&mut self, most: Duration) -> Duration {
        self.drawn += 1;
        let part = self.random.hash_one(self.drawn) as f64 / u64::MAX as f64;
        most.mul_f64(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_up_to_its_limit_and_starts_again() {
        let second = Duration::from_secs(1);
        let mut backoff = Backoff::new(second, 5 * second);
        for whole in [1, 2, 4, 5, 5] {
            let wait = backoff.next();
            assert!(wait >= whole * second / 2 && wait <= whole * second, "{wait:?} of {whole}");
        }
        backoff.reset();
        assert!(backoff.next() <= second);
    }
}
