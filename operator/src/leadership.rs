//! The lease, kept apart from the work: by a thread, a runtime and connections of its own. However long the work keeps the
//! processor or the API server busy, the renewal does not wait behind it.

use crate::lease::{self, Permit, Timing};
use kube::{Client, Config};
use std::io;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The lease, waited for and then kept.
pub struct Leadership {
    runtime: Option<Runtime>,
    permit: oneshot::Receiver<Permit>,
    /// Ends when the lease is lost, was given up, or cannot be had.
    kept: JoinHandle<kube::Result<()>>,
    release: CancellationToken,
}

impl Leadership {
    /// Begins to ask for the lease in `namespace`, until `end`. `identity` is unique to this process.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn seek(config: Config, namespace: String, identity: String, end: CancellationToken) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("lease").enable_all().build()?;
        let release = CancellationToken::new();
        let (held, permit) = oneshot::channel();
        let released = release.clone();
        let kept = runtime.spawn(async move {
            let client = Client::try_from(config)?;
            let Some(mut lease) = lease::acquire(client, &namespace, &identity, Timing::default(), &end).await else {
                return Ok(());
            };
            if held.send(lease.permit()).is_err() {
                lease.release().await;
                return Ok(());
            }
            tokio::select! {
                () = lease.kept() => {}
                () = released.cancelled() => lease.release().await,
            }
            Ok(())
        });
        Ok(Self { runtime: Some(runtime), permit, kept, release })
    }

    /// Waits for the lease; `None` if the end came first.
    ///
    /// # Errors
    /// There is no way to the API server.
    pub async fn permit(&mut self) -> anyhow::Result<Option<Permit>> {
        if let Ok(permit) = (&mut self.permit).await {
            return Ok(Some(permit));
        }
        (&mut self.kept).await??;
        Ok(None)
    }

    /// Ends when the lease is lost: no work may go on after that.
    pub async fn lost(&mut self) {
        let _ = (&mut self.kept).await;
    }

    /// Gives the lease up. All work must have ended.
    pub async fn release(mut self) {
        self.release.cancel();
        let _ = (&mut self.kept).await;
    }
}

impl Drop for Leadership {
    fn drop(&mut self) {
        // A runtime that is dropped where others run waits for its threads, which is not allowed there.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
