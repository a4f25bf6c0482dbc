//! Waiting for what comes about by itself.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for an event before it fails. It bounds a hang and asserts no speed: even a machine that does
/// ten other things at once is far quicker.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks again and again until there is something; `None` if there is nothing within [`PATIENCE`].
pub fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        let found = look();
        if found.is_some() || Instant::now() > end {
            return found;
        }
        thread::sleep(PAUSE);
    }
}

/// Whether `holds` becomes true within [`PATIENCE`].
pub fn comes_about(mut holds: impl FnMut() -> bool) -> bool {
    eventually(|| holds().then_some(())).is_some()
}
