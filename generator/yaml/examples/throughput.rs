//! Bytes per second of this parser and of yaml-rust2: `cargo run --release -p llsd-yaml --example throughput -- FILES…`.
//! The well-formed files are read as one text of about 4 MB, one document each; the best of 10 runs counts.

#![allow(clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

fn main() {
    let mut base = String::new();
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if common::strict_events(&text).is_ok() {
            base.push_str("---\n");
            base.push_str(text.trim_start_matches("---\n"));
            base.push('\n');
        }
    }
    let text = base.repeat(4_000_000 / base.len().max(1) + 1);
    let best = |run: &dyn Fn()| {
        let times = (0..10).map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        });
        times.min().map_or(0.0, |t| text.len() as f64 / 1e6 / t.as_secs_f64())
    };
    let ours = best(&|| drop(llsd_yaml::Stream::parse(&text)));
    let theirs = best(&|| {
        let mut parser = yaml_rust2::parser::Parser::new_from_str(&text);
        while let Ok((event, _)) = parser.next_token() {
            if event == yaml_rust2::Event::StreamEnd {
                break;
            }
        }
    });
    println!("{} bytes: llsd-yaml {ours:.0} MB/s, yaml-rust2 {theirs:.0} MB/s", text.len());
}
