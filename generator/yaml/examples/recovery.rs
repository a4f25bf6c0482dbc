//! How much of damaged texts is read: `cargo run --release -p llsd-yaml --example recovery -- FILES…`.
//!
//! Each well-formed file is damaged at random places (one or two characters, a few bytes deleted, two lines joined, a
//! typed fragment as a line). Options: `--rounds N` damages per file and way (default 30), `--seed N`, `--worst N`
//! shows the N texts read worst.

#![allow(clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;

use common::damage::{Tally, run};

fn main() {
    let (mut rounds, mut seed, mut worst) = (30, 1u64, 0usize);
    let mut files = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse().ok()).unwrap_or(0);
        match arg.as_str() {
            "--rounds" => rounds = number(),
            "--seed" => seed = number() as u64,
            "--worst" => worst = number(),
            _ => files.push(arg),
        }
    }
    let mut sums: BTreeMap<&'static str, Tally> = BTreeMap::new();
    let mut shown: Vec<(usize, String)> = Vec::new();
    let mut read = 0;
    for (number, path) in files.iter().enumerate() {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        if common::strict_events(&text).is_err() {
            continue;
        }
        read += 1;
        let result = run(&text, rounds, seed + number as u64, |damaged, tally| {
            let cost = tally.keys - tally.found + tally.wrong;
            if worst > 0 && cost > 0 {
                let hint = patch(&text, &damaged.text);
                shown.push((
                    cost,
                    format!(
                        "{path} {}: lost {} of {}, wrong {}\n{hint}",
                        damaged.kind,
                        tally.keys - tally.found,
                        tally.keys,
                        tally.wrong
                    ),
                ));
            }
        });
        for (kind, tally) in result {
            sums.entry(kind).or_default().add(&tally);
        }
    }
    shown.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
    for (_, text) in shown.iter().take(worst) {
        println!("{text}\n");
    }
    let mut all = Tally::default();
    println!("{read} well-formed files; texts that yaml-rust2 rejects:");
    for (kind, tally) in &sums {
        print_line(kind, tally);
        all.add(tally);
    }
    print_line("all", &all);
}

fn print_line(name: &str, tally: &Tally) {
    println!(
        "{name:>12}: {:5} texts, {:6.2} % of {} keys behind the damage found, {:.2} wrong paths per text ({:.2} of them on damaged lines)",
        tally.texts,
        tally.share(),
        tally.keys,
        tally.wrong_per_text(),
        tally.own as f64 / tally.texts.max(1) as f64
    );
}

/// The lines around the first difference, before and after.
fn patch(before: &str, after: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    if a.len() - tail - head > 6 {
        return "    (two places)".to_owned();
    }
    let from = head.saturating_sub(4);
    let mut out = String::new();
    for line in &a[from..head] {
        out.push_str(&format!("    {line}\n"));
    }
    for line in &a[head..a.len() - tail] {
        out.push_str(&format!("  - {line}\n"));
    }
    for line in &b[head..b.len() - tail] {
        out.push_str(&format!("  + {line}\n"));
    }
    for line in &b[b.len() - tail..b.len().min(b.len() - tail + 5)] {
        out.push_str(&format!("    {line}\n"));
    }
    out
}
