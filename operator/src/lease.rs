//! The lease that lets one replica work at a time. It is the Go operator's, read and written in the way of its library,
//! so that the two exclude each other too.

use crate::backoff::Backoff;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

/// The name of the Lease. The Go operator uses the same, so that the two never work at once in one namespace.
pub const NAME: &str = "54e06e98.llamastack.io";

/// When the lease is renewed and given up.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Others may take the lease when it was not renewed for so long, by their own clock.
    pub duration: Duration,
    /// The holder stops when it could not renew for so long. Shorter than `duration`: that is what keeps two from
    /// working at the same time.
    pub deadline: Duration,
    /// Between attempts, a fifth more or less.
    pub retry: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self { duration: Duration::from_secs(15), deadline: Duration::from_secs(10), retry: Duration::from_secs(2) }
    }
}

/// Until when work may go on: whatever writes asks before each request. A process that was asleep finds out here, before
/// the one that keeps the lease can.
#[derive(Clone, Debug, Default)]
pub struct Permit(Arc<Mutex<Option<Instant>>>);

impl Permit {
    /// Whether the lease may still be ours. A permit that nobody limits is always good: that is an operator without a
    /// lease.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|until| Instant::now() < until)
    }

    fn until(&self, moment: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(moment);
    }
}

/// Who asks for the lease.
#[derive(Clone)]
pub struct Candidate {
    api: Api<Lease>,
    identity: String,
    timing: Timing,
}

/// The lease is ours, as long as [`Held::kept`] is waited for.
pub struct Held {
    candidate: Candidate,
    lease: Lease,
    /// The last renewal was asked for then.
    renewed: Instant,
    jitter: Backoff,
    permit: Permit,
}

/// Waits until the lease in `namespace` is ours; `None` if `end` comes first. `identity` is unique to this process.
/// While the API server does not answer, it is asked again and again.
pub async fn acquire(
    client: Client,
    namespace: &str,
    identity: &str,
    timing: Timing,
    end: &CancellationToken,
) -> Option<Held> {
    let candidate = Candidate { api: Api::namespaced(client, namespace), identity: identity.to_owned(), timing };
    tokio::select! {
        held = candidate.acquire() => Some(held),
        () = end.cancelled() => None,
    }
}

impl Candidate {
    async fn acquire(self) -> Held {
        let mut jitter = Backoff::new(self.timing.retry, self.timing.retry);
        // The holder's times are not compared with our clock: what counts is for how long we have seen no renewal.
        let mut seen: Option<(Lease, Instant)> = None;
        loop {
            let asked = Instant::now();
            // An answer that comes later than others may act on it is none.
            match timeout_at(asked + self.timing.deadline / 2, self.try_once(&mut seen)).await {
                Ok(Ok(Some(lease))) => {
                    let permit = Permit::default();
                    permit.until(asked + self.timing.deadline);
                    return Held { candidate: self, lease, renewed: asked, jitter, permit };
                }
                Ok(Ok(None)) => {}
                Ok(Err(error)) => tracing::warn!(%error, lease = NAME, "cannot ask for the lease"),
                Err(_) => tracing::warn!(lease = NAME, "no answer about the lease"),
            }
            sleep(self.timing.retry + jitter.jitter(self.timing.retry / 5)).await;
        }
    }

    /// One attempt: the lease, if it is ours now.
    async fn try_once(&self, seen: &mut Option<(Lease, Instant)>) -> Result<Option<Lease>, kube::Error> {
        let Some(mut lease) = self.api.get_opt(NAME).await? else {
            let lease = Lease {
                metadata: ObjectMeta { name: Some(NAME.to_owned()), ..ObjectMeta::default() },
                spec: Some(self.taken(None)),
            };
            return unless_outrun(self.api.create(&PostParams::default(), &lease).await);
        };
        let spec = lease.spec.get_or_insert_default();
        let holder = spec.holder_identity.as_deref().unwrap_or_default();
        if !holder.is_empty() && holder != self.identity {
            let lasts = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
            let lasts = lasts.map_or(self.timing.duration, Duration::from_secs);
            match seen {
                Some((before, since)) if before.spec == lease.spec => {
                    if since.elapsed() < lasts {
                        return Ok(None);
                    }
                }
                _ => {
                    *seen = Some((lease, Instant::now()));
                    return Ok(None);
                }
            }
        }
        lease.spec = Some(self.taken(lease.spec.as_ref()));
        unless_outrun(self.api.replace(NAME, &PostParams::default(), &lease).await)
    }

    /// What the lease says once it is taken from who had it before.
    fn taken(&self, before: Option<&LeaseSpec>) -> LeaseSpec {
        let now = MicroTime(Timestamp::now());
        let was_ours = before.is_some_and(|before| before.holder_identity.as_ref() == Some(&self.identity));
        let transitions = before.map(|before| before.lease_transitions.unwrap_or(0));
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(seconds(self.timing.duration)),
            acquire_time: before
                .filter(|_| was_ours)
                .and_then(|before| before.acquire_time.clone())
                .or_else(|| Some(now.clone())),
            renew_time: Some(now),
            lease_transitions: Some(transitions.map_or(0, |count| count.saturating_add(i32::from(!was_ours)))),
            ..before.cloned().unwrap_or_default()
        }
    }
}

fn seconds(time: Duration) -> i32 {
    i32::try_from(time.as_secs()).unwrap_or(i32::MAX).max(1)
}

/// Somebody else was faster: that is no error.
fn unless_outrun(answer: Result<Lease, kube::Error>) -> Result<Option<Lease>, kube::Error> {
    match answer {
        Ok(lease) => Ok(Some(lease)),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
        Err(error) => Err(error),
    }
}

impl Held {
    /// Good as long as the lease was renewed in time.
    #[must_use]
    pub fn permit(&self) -> Permit {
        self.permit.clone()
    }

    /// Renews the lease, and ends when it is lost: when another has it, or when it could not be renewed for so long that
    /// another may soon take it. No work may go on after that. The future may be dropped and asked for again.
    ///
    /// One request that gets no answer does not cost the lease: after a quarter of the time it is given up, and another
    /// is sent soon.
    pub async fn kept(&mut self) {
        let timing = self.candidate.timing;
        let mut wait = timing.retry;
        loop {
            let deadline = self.renewed + timing.deadline;
            let next = Instant::now() + wait + self.jitter.jitter(wait / 5);
            sleep_until(next.min(deadline)).await;
            let limit = deadline.min(Instant::now() + timing.deadline / 4);
            wait = timing.retry / 4;
            match timeout_at(limit, self.renew()).await {
                Ok(Ok(true)) => {
                    self.permit.until(self.renewed + timing.deadline);
                    wait = timing.retry;
                }
                Ok(Ok(false)) => return tracing::error!(lease = NAME, "another has taken the lease"),
                Ok(Err(error)) => tracing::warn!(%error, lease = NAME, "cannot renew the lease"),
                Err(_) if limit == deadline => {
                    return tracing::error!(lease = NAME, "the lease could not be renewed in time");
                }
                Err(_) => tracing::warn!(lease = NAME, "no answer to the renewal of the lease; asking again"),
            }
        }
    }

    /// Whether the lease is still ours. An error says nothing about that.
    async fn renew(&mut self) -> Result<bool, kube::Error> {
        let asked = Instant::now();
        let api = &self.candidate.api;
        self.lease.spec = Some(self.candidate.taken(self.lease.spec.as_ref()));
        if let Some(lease) = unless_outrun(api.replace(NAME, &PostParams::default(), &self.lease).await)? {
            (self.lease, self.renewed) = (lease, asked);
            return Ok(true);
        }
        // Somebody wrote to it, but perhaps not a holder; or it was this process, by a request without an answer.
        match api.get_opt(NAME).await? {
            Some(lease) if self.is_ours(&lease) => self.lease = lease,
            _ => return Ok(false),
        }
        let asked = Instant::now();
        self.lease.spec = Some(self.candidate.taken(self.lease.spec.as_ref()));
        if let Some(lease) = unless_outrun(api.replace(NAME, &PostParams::default(), &self.lease).await)? {
            (self.lease, self.renewed) = (lease, asked);
        }
        Ok(true)
    }

    fn is_ours(&self, lease: &Lease) -> bool {
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
        holder == Some(self.candidate.identity.as_str())
    }

    /// Gives the lease up, so that another replica can take it at once. All work must have ended. Where that fails, the
    /// others wait until the lease has run out.
    pub async fn release(mut self) {
        let deadline = self.renewed + self.candidate.timing.deadline;
        let give_up = async {
            // A renewal that was dropped half-way leaves us with an old version of the lease.
            match self.candidate.api.get_opt(NAME).await? {
                Some(lease) if self.is_ours(&lease) => self.lease = lease,
                _ => return Ok(()),
            }
            let spec = self.lease.spec.get_or_insert_default();
            spec.holder_identity = Some(String::new());
            spec.lease_duration_seconds = Some(1);
            spec.renew_time = Some(MicroTime(Timestamp::now()));
            unless_outrun(self.candidate.api.replace(NAME, &PostParams::default(), &self.lease).await).map(|_| ())
        };
        if let Ok(Err(error)) = timeout_at(deadline, give_up).await {
            tracing::warn!(%error, lease = NAME, "cannot release the lease");
        }
    }
}
