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

criterion_group!(benches, functions);
criterion_main!(benches);
