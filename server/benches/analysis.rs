//! What the functions of analysis cost, without the protocol: on one resource of 40 lines, and on a file of 500 of them
//! (20,000 lines).
//!
//! All but the first reading of a text are measured as a session meets them: a key was just typed in the resource in
//! the middle of the file, so that nothing that was known about this resource can be used again. Between the two sizes,
//! only what by its nature concerns the whole file may grow.

#![allow(missing_docs)]

#[allow(dead_code, reason = "the program that measures the server uses the rest")]
#[path = "../../tests/bench/src/documents.rs"]
mod documents;

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use llsd::ide::{self, Analysis, FormatOptions, Workspace};

/// A file, and what was known about it before the last key was typed.
struct Typed {
    size: &'static str,
    text: Arc<str>,
    /// Where the cursor stands after the key.
    cursor: usize,
    workspace: Workspace,
    before: Analysis,
}

impl Typed {
    /// The key is the last letter of `vllm` in resource `number`.
    fn new(size: &'static str, text: String, number: usize) -> Self {
        let endpoint = text.find(&format!("http://vllm-{number}.models")).expect("the resource is in the file");
        let key = text[..endpoint].rfind("provider: vllm").expect("it has a provider") + "provider: vll".len();
        let unfinished: Arc<str> = [&text[..key], &text[key + 1..]].concat().into();
        let workspace = Workspace::new();
        let before = ide::analyse(unfinished, None, &workspace);
        Self { size, text: text.into(), cursor: key + 1, workspace, before }
    }

    fn analyse(&self) -> Analysis {
        ide::analyse(self.text.clone(), Some(&self.before), &self.workspace)
    }
}

/// A config of the server with so many providers, and a model of each: 20 lines, and 9 for each of them.
fn config(providers: usize) -> String {
    let mut text = "version: 2\nimage_name: bench\napis:\n- inference\nproviders:\n  inference:\n".to_owned();
    for number in 0..providers {
        let _ = write!(
            text,
            "  - provider_id: vllm-{number}\n    provider_type: remote::vllm\n    config:\n      base_url: \
             ${{env.VLLM_{number}_URL:=http://vllm-{number}:8000/v1}}\n      max_tokens: 4096\n      api_token: \
             ${{env.VLLM_{number}_TOKEN:=fake}}\n"
        );
    }
    text.push_str(
        "storage:\n  backends:\n    kv_default: {type: kv_sqlite, db_path: /data/kv.db}\n    sql_default: {type: \
         sql_sqlite, db_path: /data/sql.db}\n  stores:\n    metadata: {namespace: registry, backend: kv_default}\n    \
         inference: {table_name: inference, backend: sql_default}\n    conversations: {table_name: conversations, \
         backend: sql_default}\n    prompts: {namespace: prompts, backend: kv_default}\nserver:\n  port: \
         8321\nregistered_resources:\n  models:\n",
    );
    for number in 0..providers {
        let _ = write!(text, "  - model_id: model-{number}\n    provider_id: vllm-{number}\n    model_type: llm\n");
    }
    text
}

/// The same in a ConfigMap.
fn config_map(config: &str) -> String {
    let body: String = config.lines().map(|line| format!("    {line}\n")).collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\ndata:\n  config.yaml: |\n{body}")
}

/// The same questions about a config, of which a key in the middle was just typed.
fn configs(criterion: &mut Criterion) {
    let typed = |size: &'static str, text: String| {
        let key = text[text.len() / 4..].find("max_tokens").expect("a key") + text.len() / 4 + "max_tokens".len();
        let unfinished: Arc<str> = [&text[..key - 1], &text[key..]].concat().into();
        let workspace = Workspace::new();
        let before = ide::analyse(unfinished, None, &workspace);
        Typed { size, text: text.into(), cursor: key, workspace, before }
    };
    let files = [
        typed("40 lines", config(2)),
        typed("40 lines in a ConfigMap", config_map(&config(2))),
        typed("20,000 lines", config(2_220)),
        typed("20,000 lines in a ConfigMap", config_map(&config(2_220))),
    ];
    let mut group = criterion.benchmark_group("config");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for file in &files {
        let named = |what: &str| BenchmarkId::new(what, file.size);
        group.bench_function(named("analyse, after a key"), |b| b.iter(|| black_box(file).analyse()));
        let mut ask = |what: &str, question: &dyn Fn(&Analysis)| {
            group.bench_function(named(what), |b| {
                b.iter_batched_ref(|| file.analyse(), |now| question(now), BatchSize::PerIteration);
            });
        };
        ask("diagnostics", &|now| drop(black_box(now.diagnostics())));
        ask("completion", &|now| drop(black_box(ide::complete(now, file.cursor))));
        ask("hover", &|now| drop(black_box(ide::hover(now, file.cursor - 1))));
    }
    group.finish();
}

fn functions(criterion: &mut Criterion) {
    ide::preload();
    let files =
        [Typed::new("40 lines", documents::resource(1), 1), Typed::new("20,000 lines", documents::many(500), 250)];
    let mut group = criterion.benchmark_group("analysis");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for file in &files {
        let named = |what: &str| BenchmarkId::new(what, file.size);
        group.bench_function(named("analyse, first time"), |b| {
            b.iter(|| ide::analyse(black_box(file.text.clone()), None, &file.workspace));
        });
        group.bench_function(named("analyse, after a key"), |b| b.iter(|| black_box(file).analyse()));
        let mut ask = |what: &str, query: &dyn Fn(&Analysis)| {
            group.bench_function(named(what), |b| {
                b.iter_batched_ref(|| file.analyse(), |now| query(now), BatchSize::PerIteration);
            });
        };
        ask("diagnostics", &|now| drop(black_box(now.diagnostics())));
        ask("completion", &|now| drop(black_box(ide::complete(now, file.cursor))));
        ask("hover", &|now| drop(black_box(ide::hover(now, file.cursor - 1))));
        ask("preview", &|now| {
            let resource = now.resource_at(file.cursor).and_then(|(document, at)| ide::preview_of(now, document, at));
            assert!(resource.is_some_and(|preview| !preview.text.is_empty()), "the resource has a config");
        });
        ask("format", &|now| drop(black_box(ide::format(now, None, &FormatOptions::default()))));
    }
    group.finish();
}

criterion_group!(benches, functions, configs);
criterion_main!(benches);
