//! Work that takes the processor for a while, beside the loop that reads messages.

use tokio::task::JoinHandle;

/// Starts `job` on a thread of its own. Where there are no threads, it has its turn between two messages.
pub(super) fn spawn<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    if cfg!(target_family = "wasm") { tokio::spawn(async { job() }) } else { tokio::task::spawn_blocking(job) }
}
