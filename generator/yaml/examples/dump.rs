//! Shows what the parser makes of the files given as arguments: events, errors and the judge's word.

#![allow(clippy::print_stdout, missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

fn main() {
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        let mut depth = 0usize;
        for event in common::our_events(&text) {
            if event.starts_with('-') {
                depth = depth.saturating_sub(1);
            }
            println!("{}{}", "  ".repeat(depth), event.escape_debug());
            if event.starts_with('+') {
                depth += 1;
            }
        }
        for located in llsd_yaml::Stream::parse(&text).documents() {
            for error in located.document.errors() {
                println!("error at {:?}: {}", error.span.shift(located.offset), error.message);
            }
        }
        match common::strict_events(&text) {
            Ok(theirs) => {
                let difference = common::difference(&common::our_events_like_strict(&text), &theirs);
                println!("yaml-rust2 accepts; {}", difference.unwrap_or_else(|| "same events".to_owned()));
            }
            Err(error) => println!("yaml-rust2: {error}"),
        }
    }
}
