//! What a process costs: requests by the audit log, CPU and memory by /proc.

use llsd_tests::cluster::Cluster;
use llsd_tests::operator::{Audit, Entry};
use std::fs;
use std::time::{Duration, Instant};

/// So long without a request counts as quiet.
const QUIET: Duration = Duration::from_secs(5);
/// So long is waited for quiet.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happened in a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    pub(crate) writes: usize,
    pub(crate) reads: usize,
    /// Processor time of the operator in the window, in seconds.
    pub(crate) cpu: f64,
    /// Resident memory of the operator at the end of the window, in MB.
    pub(crate) memory: f64,
    /// Most that was ever resident, MB.
    pub(crate) peak: f64,
}

pub(crate) struct Meter {
    audit: Audit,
    pid: String,
    /// Requests and CPU before the current window.
    before: Window,
}

impl Meter {
    pub(crate) fn new(cluster: &Cluster, pid: &str) -> Self {
        Self::since(Audit::from_now(cluster), pid)
    }

    /// Counts requests from a moment on that may be before the process was started.
    pub(crate) fn since(audit: Audit, pid: &str) -> Self {
        Self { audit, pid: pid.to_owned(), before: Window::default() }
    }

    fn total(&self) -> Window {
        let entries = self.audit.entries();
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).expect("the operator runs");
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).expect("the operator runs");
        let kilobytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or_default()
        };
        // Behind the program's name, which is in parentheses: user and system time are the 12th and 13th field there.
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
        Window {
            writes: entries.iter().filter(|entry| is_write(entry)).count(),
            reads: entries.iter().filter(|entry| entry.is_read()).count(),
            // Linux counts a hundred ticks a second wherever this runs.
            cpu: (ticks(11) + ticks(12)) / 100.0,
            memory: kilobytes("VmRSS") / 1024.0,
            peak: kilobytes("VmHWM") / 1024.0,
        }
    }

    /// What happened since the last window, which goes on.
    pub(crate) fn peek(&self) -> Window {
        let total = self.total();
        Window {
            writes: total.writes - self.before.writes,
            reads: total.reads - self.before.reads,
            cpu: total.cpu - self.before.cpu,
            ..total
        }
    }

    /// What happened since the last window; the next one begins.
    pub(crate) fn window(&mut self) -> Window {
        let window = self.peek();
        self.before = self.total();
        window
    }

    /// Waits until there was no request for a while. Seconds until the last one; `None` if that does not come about.
    pub(crate) fn until_quiet(&self) -> Option<f64> {
        let begun = Instant::now();
        let count = || self.audit.entries().iter().filter(|entry| is_write(entry) || entry.is_read()).count();
        let (mut last, mut since) = (count(), begun);
        while begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(250));
            let now = count();
            if now != last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() >= QUIET {
                return Some(since.duration_since(begun).as_secs_f64());
            }
        }
        None
    }
}

/// Events are requests too; only the lease is the price of having a second replica.
fn is_write(entry: &Entry) -> bool {
    entry.is_write() || (entry.resource == "events" && !entry.is_read() && entry.verb != "watch")
}
