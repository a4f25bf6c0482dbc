//! One lane for what is large: one at a time, with a rest after each, so that what is small has most of the processors,
//! of the operator's as of the API server's, whoever writes large resources without pause.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Bytes of JSON from which on something is large. A resource that people write has some thousand.
pub(crate) const LARGE: usize = 32 << 10;
/// The rest after each, in times of what it took: so all of them together take a quarter of one processor.
const REST: u32 = 3;
/// The longest rest, after one that only waited for somebody else.
const LONGEST_REST: Duration = Duration::from_secs(3);

/// The lane. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Lane(Arc<Semaphore>);

impl Default for Lane {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Lane {
    /// The turn of the caller, once those before it are over and rested.
    pub(crate) async fn turn(&self) -> Turn {
        // The semaphore is never closed.
        let place = Arc::clone(&self.0).acquire_owned().await.ok();
        Turn { begun: Instant::now(), place }
    }

    /// The turn of the caller, if nobody has it or rests after it.
    pub(crate) fn try_turn(&self) -> Option<Turn> {
        let place = Arc::clone(&self.0).try_acquire_owned().ok()?;
        Some(Turn { begun: Instant::now(), place: Some(place) })
    }
}

/// A turn in the lane, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    begun: Instant,
    place: Option<OwnedSemaphorePermit>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let place = self.place.take();
        let rest = (self.begun.elapsed() * REST).min(LONGEST_REST);
        // Where the runtime is gone, nobody waits any more.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(rest).await;
                drop(place);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn large_ones_come_one_at_a_time_and_rest_between() {
        let (lane, start) = (Lane::default(), Instant::now());
        for (took, begins) in [(100, 0), (10_000, 400), (10, 13_400)] {
            let turn = lane.turn().await;
            assert_eq!(start.elapsed().as_millis(), begins);
            assert!(lane.try_turn().is_none());
            tokio::time::sleep(Duration::from_millis(took)).await;
            drop(turn);
            assert!(lane.try_turn().is_none(), "it rests");
        }
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert!(lane.try_turn().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_stops_waiting_does_not_keep_others_waiting() {
        let lane = Lane::default();
        let turn = lane.turn().await;
        let waited = tokio::time::timeout(Duration::from_secs(1), lane.turn()).await;
        assert!(waited.is_err());
        drop(turn);
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert!(lane.try_turn().is_some());
    }
}
