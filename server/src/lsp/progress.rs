//! Progress of long work, shown by the client, and cancelled by its user.

use super::backend::Shared;
use crate::schedule::Cancel;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tower_lsp::lsp_types::notification::Progress as ProgressNotification;
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;
use tower_lsp::lsp_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};

/// Work that takes no longer is not worth a sign.
const WORTH_SHOWING: Duration = Duration::from_secs(1);
/// How often progress is reported at most: more often than this is only traffic.
const INTERVAL: Duration = Duration::from_millis(250);

/// The work that the client shows, by token.
#[derive(Debug, Default)]
pub(super) struct RunningWork(Mutex<HashMap<String, Cancel>>);

impl RunningWork {
    /// The user does not want to wait for it.
    pub(super) fn cancel(&self, token: &NumberOrString) {
        let NumberOrString::String(token) = token else { return };
        if let Some(cancel) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token) {
            cancel.cancel();
        }
    }

    fn put(&self, token: &str, cancel: Option<Cancel>) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match cancel {
            Some(cancel) => _ = shown.insert(token.to_owned(), cancel),
            None => _ = shown.remove(token),
        }
    }
}

/// One piece of long work.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Whether the user wants it to stop.
    pub(super) cancel: Cancel,
    done: AtomicUsize,
    total: AtomicUsize,
    is_over: AtomicBool,
    over: Notify,
}

impl Progress {
    /// Begins to count, and shows it if the work lasts.
    pub(super) fn start(shared: &Arc<Shared>, title: &'static str) -> Arc<Self> {
        let progress = Arc::new(Self::default());
        if shared.client_capabilities().progress {
            tokio::spawn(show(Arc::clone(shared), Arc::clone(&progress), title));
        }
        progress
    }

    /// How many steps there will be in all.
    pub(super) fn expect(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Counts one more piece of work as done.
    pub(super) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// All is done, or given up.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.over.notify_one();
    }

    fn percentage(&self) -> u32 {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        u32::try_from((100 * done).checked_div(total).unwrap_or(0).min(100)).unwrap_or(100)
    }

    /// Waits for the end. False: `time` has passed first.
    async fn ends_within(&self, time: Duration) -> bool {
        self.is_over.load(Ordering::Acquire) || tokio::time::timeout(time, self.over.notified()).await.is_ok()
    }
}

async fn show(shared: Arc<Shared>, progress: Arc<Progress>, title: &'static str) {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    if progress.ends_within(WORTH_SHOWING).await {
        return;
    }
    let token = format!("llsd-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let named = NumberOrString::String(token.clone());
    shared.progress.put(&token, Some(progress.cancel.clone()));
    let create = WorkDoneProgressCreateParams { token: named.clone() };
    if shared.client.send_request::<WorkDoneProgressCreate>(create).await.is_ok() {
        let say = |value: WorkDoneProgress| {
            let params = ProgressParams { token: named.clone(), value: ProgressParamsValue::WorkDone(value) };
            shared.client.send_notification::<ProgressNotification>(params)
        };
        say(WorkDoneProgress::Begin(WorkDoneProgressBegin {
            title: title.to_owned(),
            cancellable: Some(true),
            message: None,
            percentage: Some(progress.percentage()),
        }))
        .await;
        while !progress.ends_within(INTERVAL).await {
            let percentage = Some(progress.percentage());
            let report = WorkDoneProgressReport { cancellable: Some(true), message: None, percentage };
            say(WorkDoneProgress::Report(report)).await;
        }
        let message = progress.cancel.is_cancelled().then(|| "cancelled".to_owned());
        say(WorkDoneProgress::End(WorkDoneProgressEnd { message })).await;
    }
    shared.progress.put(&token, None);
}
