//! The process of the editor: a server must not outlive it, even where the connection stays open.

use super::guard::Exit;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether the editor's process is there: a server that nobody talks to costs little for that
/// long.
const INTERVAL: Duration = Duration::from_secs(2);

/// Ends the session when process `id` is gone. Where the system cannot be asked, the closed connection has to do.
pub(super) fn watch(id: u32, exit: &Arc<Exit>) {
    let exit = Arc::clone(exit);
    tokio::spawn(async move {
        let mut pause = INTERVAL.min(Duration::from_millis(100));
        while is_alive(id) {
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(INTERVAL);
        }
        tracing::warn!(id, "the process of the editor is gone");
        exit.abandon();
    });
}

#[cfg(unix)]
fn is_alive(id: u32) -> bool {
    // On Linux a process that nobody has waited for yet still takes signals, but it is dead.
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/stat")) {
        let state = status.rsplit_once(')').map(|(_, rest)| rest.trim_start());
        return !state.is_some_and(|state| state.starts_with(['Z', 'X']));
    }
    let Some(id) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) else { return true };
    !matches!(rustix::process::test_kill_process(id), Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    true
}
