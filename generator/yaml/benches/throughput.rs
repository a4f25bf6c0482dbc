//! Bytes per second of this parser, beside yaml-rust2 (the judge) and serde_yaml (what most programs use).
//!
//! `cargo bench -p llsd-yaml` reads the samples and base configs of this repository; more files can be named in
//! `LLSD_BENCH_FILES`, separated by blanks. The well-formed ones are read as one text of about 4 MB, one document
//! each. Damaged and hostile texts follow, at one and at four times their size: growth that is not linear shows as a
//! falling rate.

#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use common::damage::{Random, damage};
use common::hostile;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use llsd_yaml::Stream;
use serde::Deserialize;

fn files() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut paths: Vec<_> = ["samples", "configs/starter", "configs/postgres-demo", "configs/remote-vllm"]
        .iter()
        .filter_map(|folder| std::fs::read_dir(format!("{root}/{folder}")).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    let named = std::env::var("LLSD_BENCH_FILES").unwrap_or_default();
    paths.extend(named.split_whitespace().map(Into::into));
    let texts = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    texts.filter(|text| common::strict_events(text).is_ok()).collect()
}

fn one_text(files: &[String]) -> String {
    let mut base = String::new();
    for text in files {
        base.push_str("---\n");
        base.push_str(text.trim_start_matches("---\n"));
        base.push('\n');
    }
    base.repeat(4_000_000 / base.len().max(1) + 1)
}

fn well_formed(criterion: &mut Criterion) {
    let text = one_text(&files());
    let mut group = criterion.benchmark_group("well-formed");
    group.throughput(Throughput::BytesDecimal(text.len() as u64)).sample_size(10);
    group.bench_function("llsd-yaml", |b| b.iter(|| black_box(Stream::parse(black_box(&text)))));
    group.bench_function("yaml-rust2 (events)", |b| {
        b.iter(|| {
            let mut parser = yaml_rust2::parser::Parser::new_from_str(black_box(&text));
            while let Ok((event, _)) = parser.next_token() {
                if event == yaml_rust2::Event::StreamEnd {
                    break;
                }
            }
        });
    });
    group.bench_function("serde_yaml (values)", |b| {
        b.iter(|| {
            for document in serde_yaml::Deserializer::from_str(black_box(&text)) {
                let _ = black_box(serde_yaml::Value::deserialize(document));
            }
        });
    });
    group.finish();
}

/// What a keystroke costs in a text that is broken somewhere: every file with damage of every kind.
fn damaged(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let texts: Vec<String> = files()
        .iter()
        .flat_map(|text| (0..4).map(|kind| damage(text, kind, &mut random).text).collect::<Vec<_>>())
        .collect();
    let mut group = criterion.benchmark_group("damaged");
    let bytes: usize = texts.iter().map(String::len).sum();
    group.throughput(Throughput::BytesDecimal(bytes as u64)).sample_size(10);
    group.bench_function("llsd-yaml", |b| {
        b.iter(|| {
            for text in &texts {
                black_box(Stream::parse(black_box(text)));
            }
        });
    });
    group.finish();
}

fn hostile_texts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hostile");
    group.sample_size(10).warm_up_time(std::time::Duration::from_millis(200));
    group.measurement_time(std::time::Duration::from_secs(1));
    for (name, make) in hostile::TEXTS {
        for scale in [1, 4] {
            let text = make(scale * 10_000);
            group.throughput(Throughput::BytesDecimal(text.len() as u64));
            group.bench_with_input(BenchmarkId::new(*name, scale), &text, |b, text| {
                b.iter(|| black_box(Stream::parse(black_box(text))));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, well_formed, damaged, hostile_texts);
criterion_main!(benches);
