//! Validates the objects of YAML or JSON files against a CustomResourceDefinition:
//!
//! ```sh
//! kubectl get crd shops.example.com -o yaml > crd.yaml
//! cargo run --example validate -- crd.yaml objects.yaml more.yaml
//! ```
//!
//! It prints one line for each fault and ends with 1 if there is any, and with 2 if a file cannot be read.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use crd_validator::Definition;
use serde_json::Value;
use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Validates all files; answers the number of faults.
fn run() -> Result<usize, Box<dyn Error>> {
    let mut files = env::args().skip(1);
    let crd = files.next().ok_or("usage: validate CRD FILE...")?;
    let definition = documents(&crd)?.into_iter().next().ok_or_else(|| format!("{crd} is empty"))?;
    let definition = Definition::read(&definition).map_err(|error| format!("{crd}: {error}"))?;
    let mut count = 0;
    for file in files {
        for (number, object) in documents(&file)?.iter().enumerate() {
            let at = format!("{file}, document {}", number + 1);
            let verdict = definition.validate(object, None).map_err(|error| format!("{at}: {error}"))?;
            for fault in &verdict.faults {
                println!("{at}: {}: {}", fault.path, fault.message);
            }
            for open in &verdict.not_checked {
                println!("{at}: {}: not checked: {}", open.path, open.reason);
            }
            count += verdict.faults.len();
        }
    }
    Ok(count)
}

/// The documents of a file that are not empty.
fn documents(file: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let mut found = Vec::new();
    for document in serde_yaml::Deserializer::from_str(&text) {
        let value: Value = serde::Deserialize::deserialize(document).map_err(|error| format!("{file}: {error}"))?;
        found.push(value);
    }
    found.retain(|value| !value.is_null());
    Ok(found)
}
