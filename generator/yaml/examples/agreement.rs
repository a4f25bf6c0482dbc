//! How many mutated texts are read as yaml-rust2 reads them: `cargo run --release -p llsd-yaml --example agreement --
//! FILES…`.
//!
//! The cases of the YAML test suite and the files are damaged once or twice at random places. What yaml-rust2 accepts is
//! compared; each known reason for a difference is counted and shown with its shortest text, and each difference
//! without a reason is shown. Options: `--rounds N` mutations per text (default 100), `--seed N`.

#![allow(clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;

use common::agree::{Verdict, compare};
use common::damage::{Random, damage};

fn main() {
    let (mut rounds, mut seed) = (100, 1u64);
    let mut bases: Vec<String> = common::suite().into_iter().map(|c| c.yaml).filter(|y| y.len() > 2).collect();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse().ok()).unwrap_or(0);
        match arg.as_str() {
            "--rounds" => rounds = number(),
            "--seed" => seed = number() as u64,
            _ => bases.extend(std::fs::read_to_string(arg)),
        }
    }
    let mut random = Random::new(seed);
    let (mut all, mut same, mut differ) = (0, 0, Vec::new());
    let mut known: BTreeMap<_, (usize, String)> = BTreeMap::new();
    for base in &bases {
        for round in 0..rounds {
            let mut text = damage(base, round % 4, &mut random).text;
            if round % 3 > 0 && text.len() > 2 {
                text = damage(&text, round % 4, &mut random).text;
            }
            all += 1;
            match compare(&text) {
                Verdict::Rejected => {}
                Verdict::Same => same += 1,
                Verdict::Known(reason) => {
                    let (count, shortest) = known.entry(reason).or_insert_with(|| (0, text.clone()));
                    *count += 1;
                    if text.len() < shortest.len() {
                        *shortest = text;
                    }
                }
                Verdict::Differ(difference) => differ.push((text, difference)),
            }
        }
    }
    println!("{all} texts; accepted by yaml-rust2 and read alike: {same}");
    for (reason, (count, shortest)) in &known {
        println!("read differently for a known reason, {reason:?}: {count}, e.g. {shortest:?}");
    }
    println!("read differently for no known reason: {}", differ.len());
    differ.sort_by_key(|(text, _)| text.len());
    for (text, difference) in differ.iter().take(20) {
        println!("  {text:?}\n    {difference}");
    }
}
