//! What the operator counts, in the text format of Prometheus.

pub mod endpoint;

use crate::queue::Queue;
use crate::served::Served;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How a reconcile ended: the label `result` of its metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// All is as it should be.
    Done,
    /// The resource asks for what cannot be.
    Refused,
    /// The API server, a registry or the network failed.
    Failed,
}

impl End {
    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// A kind of resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    kind: &'static str,
}

impl Of {
    fn new(served: &Served) -> Self {
        Self { kind: served.kind().name() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Result {
    kind: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failure {
    kind: &'static str,
    reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    verb: &'static str,
    resource: &'static str,
    code: u16,
}

/// The counters of one process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    reconciles: Family<Result, Counter>,
    errors: Family<Failure, Counter>,
    duration: Histogram,
    queues: Mutex<Vec<(Of, Queue)>>,
    queued: Family<Of, Gauge>,
    active: Family<Of, Gauge>,
    resources: Family<Of, Gauge>,
    generated: Family<Of, Counter>,
    calls: Family<Call, Counter>,
    leader: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("llsd_operator");
        let metrics = Self {
            reconciles: Family::default(),
            errors: Family::default(),
            duration: Histogram::new([0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]),
            queues: Mutex::default(),
            queued: Family::default(),
            active: Family::default(),
            resources: Family::default(),
            generated: Family::default(),
            calls: Family::default(),
            leader: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("reconciles", "Reconciles, by how they ended", metrics.reconciles.clone());
        registry.register("reconcile_errors", "Reconciles that did not succeed, by reason", metrics.errors.clone());
        registry.register_with_unit(
            "reconcile_duration",
            "Time of a reconcile",
            Unit::Seconds,
            metrics.duration.clone(),
        );
        registry.register("queue_length", "Resources that wait for their turn", metrics.queued.clone());
        registry.register("active_reconciles", "Resources that are being worked on", metrics.active.clone());
        registry.register("resources", "Resources that the operator knows, by kind", metrics.resources.clone());
        registry.register("generated_configs", "Configurations written to a new ConfigMap", metrics.generated.clone());
        registry.register("api_calls", "Requests to the API server, watches left out", metrics.calls.clone());
        registry.register("leader", "1 while this replica holds the lease", metrics.leader.clone());
        Self { registry, ..metrics }
    }
}

impl Metrics {
    /// A reconcile of a resource of this kind ended after `time`.
    pub fn reconciled(&self, served: &Served, end: End, time: Duration) {
        self.reconciles.get_or_create(&Result { kind: served.kind().name(), result: end.name() }).inc();
        self.duration.observe(time.as_secs_f64());
    }

    /// A reconcile did not succeed; `reason` is one of a condition, or a word for what failed.
    pub fn error(&self, served: &Served, reason: &str) {
        self.errors.get_or_create(&Failure { kind: served.kind().name(), reason: reason.to_owned() }).inc();
    }

    /// The API server answered with `code`; 0 if it did not.
    pub fn call(&self, verb: &'static str, resource: &'static str, code: u16) {
        self.calls.get_or_create(&Call { verb, resource, code }).inc();
    }

    /// The queue of a kind to tell of from now on: it is looked at whenever somebody asks, as its length changes with the
    /// time alone.
    pub fn follow(&self, served: &Served, queue: Queue) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).push((Of::new(served), queue));
    }

    /// The number of resources of a kind changed.
    pub fn resources(&self, served: &Served, number: usize) {
        set(&self.resources, &Of::new(served), number);
    }

    /// Counts a generated configuration that was written for a resource of this kind.
    pub fn generated(&self, served: &Served) {
        self.generated.get_or_create(&Of::new(served)).inc();
    }

    /// This replica got or lost the lease.
    pub fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    /// All of it as text.
    #[must_use]
    pub fn text(&self) -> String {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (kind, queue) in &queues {
            let (waiting, active) = queue.lengths();
            set(&self.queued, kind, waiting);
            set(&self.active, kind, active);
        }
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

fn set(gauges: &Family<Of, Gauge>, kind: &Of, number: usize) {
    gauges.get_or_create(kind).set(i64::try_from(number).unwrap_or(i64::MAX));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::served::{LLAMA_STACK, OGX};

    #[test]
    fn counts_are_told_by_name_and_label() {
        let metrics = Metrics::default();
        metrics.reconciled(&LLAMA_STACK, End::Done, Duration::from_millis(2));
        metrics.reconciled(&OGX, End::Failed, Duration::from_millis(2));
        metrics.follow(&OGX, Queue::default());
        metrics.call("patch", "deployments", 200);
        metrics.error(&OGX, "SecretNotFound");
        let text = metrics.text();
        for line in [
            "llsd_operator_reconciles_total{kind=\"LlamaStackDistribution\",result=\"done\"} 1",
            "llsd_operator_reconciles_total{kind=\"OGXServer\",result=\"failed\"} 1",
            "llsd_operator_queue_length{kind=\"OGXServer\"} 0",
            "llsd_operator_api_calls_total{verb=\"patch\",resource=\"deployments\",code=\"200\"} 1",
            "llsd_operator_reconcile_errors_total{kind=\"OGXServer\",reason=\"SecretNotFound\"} 1",
            "llsd_operator_reconcile_duration_seconds_count 2",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }
}
