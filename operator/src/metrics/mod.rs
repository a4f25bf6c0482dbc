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

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Result {
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: String,
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
    errors: Family<Kind, Counter>,
    duration: Histogram,
    queues: Mutex<Vec<Queue>>,
    queued: Gauge,
    active: Gauge,
    resources: Family<Kind, Gauge>,
    generated: Counter,
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
            queued: Gauge::default(),
            active: Gauge::default(),
            resources: Family::default(),
            generated: Counter::default(),
            calls: Family::default(),
            leader: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("reconciles", "Reconciles, by how they ended", metrics.reconciles.clone());
        registry.register("reconcile_errors", "Reconciles that did not succeed, by kind", metrics.errors.clone());
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
    /// A reconcile ended after `time`.
    pub fn reconciled(&self, end: End, time: Duration) {
        self.reconciles.get_or_create(&Result { result: end.name() }).inc();
        self.duration.observe(time.as_secs_f64());
    }

    /// A reconcile did not succeed; `kind` is a reason of a condition, or a word for what failed.
    pub fn error(&self, kind: &str) {
        self.errors.get_or_create(&Kind { kind: kind.to_owned() }).inc();
    }

    /// The API server answered with `code`; 0 if it did not.
    pub fn call(&self, verb: &'static str, resource: &'static str, code: u16) {
        self.calls.get_or_create(&Call { verb, resource, code }).inc();
    }

    /// One more queue to tell of from now on: it is looked at whenever somebody asks, as its length changes with the time
    /// alone.
    pub fn follow(&self, queue: Queue) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).push(queue);
    }

    /// The number of resources of a kind changed.
    pub fn resources(&self, served: &Served, number: usize) {
        let kind = Kind { kind: served.kind().name().to_owned() };
        self.resources.get_or_create(&kind).set(i64::try_from(number).unwrap_or(i64::MAX));
    }

    /// Counts a generated configuration that was written.
    pub fn generated(&self) {
        self.generated.inc();
    }

    /// This replica got or lost the lease.
    pub fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    /// All of it as text.
    #[must_use]
    pub fn text(&self) -> String {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let lengths = queues.iter().map(Queue::lengths);
        let (waiting, active) = lengths.fold((0, 0), |(waiting, active), one| (waiting + one.0, active + one.1));
        self.queued.set(i64::try_from(waiting).unwrap_or(i64::MAX));
        self.active.set(i64::try_from(active).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_by_name_and_label() {
        let metrics = Metrics::default();
        metrics.reconciled(End::Done, Duration::from_millis(2));
        metrics.call("patch", "deployments", 200);
        metrics.error("SecretNotFound");
        let text = metrics.text();
        for line in [
            "llsd_operator_reconciles_total{result=\"done\"} 1",
            "llsd_operator_api_calls_total{verb=\"patch\",resource=\"deployments\",code=\"200\"} 1",
            "llsd_operator_reconcile_errors_total{kind=\"SecretNotFound\"} 1",
            "llsd_operator_reconcile_duration_seconds_count 1",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }
}
