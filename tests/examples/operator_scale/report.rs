//! The results as a Markdown table, beside those of the Go operator, each line as soon as it is known.

use crate::measure::Window;
use llsd_operator::served::Served;

/// One step of the measurement, as a line of the table.
pub(crate) enum Row {
    Cold { seconds: f64, window: Window },
    One { milliseconds: Vec<f64> },
    Ready { window: Window, quiet: Option<f64>, phases: usize },
    Idle { window: Window },
    Touch { window: Window, quiet: Option<f64> },
    Change { asked: f64, seconds: f64, writes_each: f64, window: Window, quiet: Option<f64> },
    Noise { growth: f64, window: Window },
}

pub(crate) struct Report {
    of: &'static Served,
    resources: usize,
    peak: f64,
}

impl Report {
    pub(crate) fn new(of: &'static Served, resources: usize) -> Self {
        println!("\n{resources} {} resources\n", of.kind().name());
        println!("| Step | Go operator (v1alpha1, measured elsewhere) | llsd-operator |\n|---|---|---|");
        Self { of, resources, peak: 0.0 }
    }

    /// What the Go operator needed for a step with as many v1alpha1 resources, on a machine like this one (2 cores); it
    /// is not measured here. Of ogx's operator there are no figures.
    fn go(&self, step: &str) -> &'static str {
        match (self.resources, step) {
            _ if self.of.is_ogx() => "",
            (300, "cold") => "31.6 s, 13.8 s CPU, 1,514 writes, 5,799 reads",
            (1000, "cold") => "92.8 s, 36.2 s CPU, 24,400 requests",
            (300, "one") => "median 29.3 s, max 31.6 s",
            (1000, "one") => "86 s",
            (300, "ready") => "never quiet",
            (300, "idle") => "1,232 writes, 6,165 reads, 14.0 s CPU",
            (300, "touch") => "never quiet (2,385 writes in 60 s)",
            (300, "change") => "30.8 s",
            (1000, "change") => "139 s",
            (300, "noise") => "+0.0 MB",
            (300, "peak") => "69 MB",
            (1000, "peak") => "91 MB",
            _ => "",
        }
    }

    pub(crate) fn add(&mut self, row: Row) {
        let cost = |window: &Window| {
            format!(
                "{} writes, {} reads, {:.2} s CPU, {:.1} MB",
                window.writes, window.reads, window.cpu, window.memory
            )
        };
        let quiet =
            |quiet: Option<f64>| quiet.map_or("never quiet".to_owned(), |time| format!("quiet after {time:.1} s"));
        let (step, name, result, window) = match row {
            Row::Cold { seconds, window } => {
                ("cold", "all converged".to_owned(), format!("{seconds:.2} s, {}", cost(&window)), Some(window))
            }
            Row::One { milliseconds } => {
                let at = |part: usize| milliseconds.get(milliseconds.len() * part / 100).copied().unwrap_or_default();
                let last = milliseconds.last().copied().unwrap_or_default();
                let result = format!("median {:.1} ms, p95 {:.1} ms, max {last:.1} ms", at(50), at(95));
                ("one", format!("one new resource ({} times)", milliseconds.len()), result, None)
            }
            Row::Ready { window, quiet: time, phases } => (
                "ready",
                format!("all available: {phases} Ready"),
                format!("{}, {}", quiet(time), cost(&window)),
                Some(window),
            ),
            Row::Idle { window } => ("idle", "30 s idle".to_owned(), cost(&window), Some(window)),
            Row::Touch { window, quiet: time } => (
                "touch",
                "a label on every resource".to_owned(),
                format!("{}, {}", quiet(time), cost(&window)),
                Some(window),
            ),
            Row::Change { asked, seconds, writes_each, window, quiet: time } => {
                let result = format!(
                    "{seconds:.2} s ({asked:.2} s until all was asked for), {writes_each:.2} writes a resource, {}, {}",
                    quiet(time),
                    cost(&window)
                );
                ("change", "one variable changed in all".to_owned(), result, Some(window))
            }
            Row::Noise { growth, window } => {
                let result = format!("{growth:+.1} MB, {}", cost(&window));
                ("noise", "2,000 foreign ConfigMaps, 500 Secrets".to_owned(), result, Some(window))
            }
        };
        self.peak = self.peak.max(window.map_or(0.0, |window| window.peak));
        println!("| {name} | {} | {result} |", self.go(step));
    }

    pub(crate) fn end(&self) {
        println!("| memory, peak | {} | {:.1} MB |", self.go("peak"), self.peak);
    }
}
