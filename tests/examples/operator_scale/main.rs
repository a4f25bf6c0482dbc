//! Measures the operator from outside, against a real API server: how long many resources take, what one more costs, and
//! what goes on while nothing changes.
//!
//! usage: `operator_scale [RESOURCES]... [ogx:RESOURCES]... [start:RESOURCES]... [hostile]` (300, 1000, ogx:300, start:5000
//! and hostile where nothing is given). A number alone is one of `LlamaStackDistribution`, `ogx:` one of `OGXServer`.
//! `start:` measures a start with everything in place, `hostile` good resources beside such that are made to hurt.
//!
//! The operator is the program in `LLSD_OPERATOR_BIN`. It runs as a user of its own, whose requests the API server
//! writes into its audit log. There is no controller manager: Deployments become available because the bench says so.
//! Prints a Markdown table for each number of resources.

#![allow(clippy::print_stdout, reason = "a program that reports")]

mod fleet;
mod hostile;
mod measure;
mod neighbours;
mod report;
mod writers;

use fleet::Fleet;
use llsd_generator::api::crd::crd;
use llsd_generator::ogx;
use llsd_operator::served::{LLAMA_STACK, OGX, Served};
use llsd_test_client::comes_about;
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::{Audit, Operator};
use measure::{Meter, Window};
use report::{Report, Row};
use serde_json::json;
use std::time::{Duration, Instant};

/// How many resources are created one after the other beside the many.
const ONE_BY_ONE: usize = 50;
/// How long nothing happens while nothing is done.
const IDLE: Duration = Duration::from_secs(30);

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let all = ["300", "1000", "ogx:300", "start:5000", "hostile"].map(str::to_owned).to_vec();
    let number = |text: &str| text.parse().expect("a number of resources");
    for what in if asked.is_empty() { all } else { asked } {
        match what.split_once(':') {
            None if what == "hostile" => hostile::run(),
            None => run(&LLAMA_STACK, number(&what)).end(),
            Some(("ogx", resources)) => run(&OGX, number(resources)).end(),
            Some(("start", resources)) => start(number(resources)),
            Some(_) => panic!("not known: {what}"),
        }
    }
}

/// Starts an operator where another one has done everything.
fn start(resources: usize) {
    let cluster = Cluster::own();
    if let Err((_, answer)) = cluster.install_crds(std::slice::from_ref(crd())) {
        panic!("the API server refuses the CRD: {}", answer.message());
    }
    let fleet = Fleet::new(&cluster, &LLAMA_STACK, resources);
    let converging = fleet.converging();
    let mut first = Operator::start(&cluster, "ops", &["--enable-webhooks=false"]);
    let _ = converging.wait(&cluster);
    fleet.make_available();
    let _ = Meter::new(&cluster, first.pid()).until_quiet();
    let ready = fleet.phases();
    first.terminate();
    let audit = Audit::from_now(&cluster);
    let second = Operator::start(&cluster, "ops", &["--enable-webhooks=false"]);
    let meter = Meter::since(audit, second.pid());
    let done = comes_about(|| second.metric("llsd_operator_reconciles_total") >= resources as f64);
    assert!(done, "the second operator did not look at every resource:\n{}", second.log());
    let quiet = meter.until_quiet();
    let Window { writes, reads, cpu, memory, peak } = meter.peek();
    println!("\nA start with {resources} resources in place, {ready} of them Ready\n");
    println!("| quiet after | writes | reads | CPU | memory | peak |\n|---|---|---|---|---|---|");
    let quiet = quiet.map_or("never".to_owned(), |time| format!("{time:.1} s"));
    println!("| {quiet} | {writes} | {reads} | {cpu:.2} s | {memory:.1} MB | {peak:.1} MB |");
}

fn run(of: &'static Served, resources: usize) -> Report {
    let cluster = Cluster::own();
    let crds = [Some(crd().clone()), of.is_ogx().then(ogx::crd::definition)];
    if let Err((_, answer)) = cluster.install_crds(&crds.into_iter().flatten().collect::<Vec<_>>()) {
        panic!("the API server refuses a CRD: {}", answer.message());
    }
    let mut fleet = Fleet::new(&cluster, of, resources);
    let mut report = Report::new(of, resources);

    // Where there is no converter, only the stored version can be used: no webhooks.
    let converging = fleet.converging();
    let begun = Instant::now();
    let flags: &[&str] =
        if of.is_ogx() { &["--enable-webhooks=false", "--ogx-servers"] } else { &["--enable-webhooks=false"] };
    let operator = Operator::start(&cluster, "ops", flags);
    let mut meter = Meter::new(&cluster, operator.pid());
    let seconds = converging.wait(&cluster).duration_since(begun).as_secs_f64();
    report.add(Row::Cold { seconds, window: meter.window() });

    report.add(Row::One { milliseconds: fleet.one_by_one(ONE_BY_ONE) });

    fleet.make_available();
    let quiet = meter.until_quiet();
    report.add(Row::Ready { window: meter.window(), quiet, phases: fleet.phases() });

    std::thread::sleep(IDLE);
    report.add(Row::Idle { window: meter.window() });

    fleet.change_all(&json!({"metadata": {"labels": {"touched": "yes"}}}));
    let quiet = meter.until_quiet();
    report.add(Row::Touch { window: meter.window(), quiet });

    let changing = fleet.changing();
    let begun = Instant::now();
    fleet.change_all(&fleet::changed_value());
    let asked = begun.elapsed().as_secs_f64();
    let seconds = changing.wait(&cluster).duration_since(begun).as_secs_f64();
    let quiet = meter.until_quiet();
    let Window { writes, .. } = meter.peek();
    report.add(Row::Change {
        asked,
        seconds,
        writes_each: writes as f64 / fleet.len() as f64,
        window: meter.window(),
        quiet,
    });

    let before = meter.peek().memory;
    fleet.make_noise();
    let _ = meter.until_quiet();
    let window = meter.window();
    report.add(Row::Noise { growth: window.memory - before, window });
    drop(operator);
    // A request that the operator might have sent while it ended is not measured, but the server must still be there.
    assert_eq!(cluster.send(Request::get("/readyz")).status, 200);
    report
}
