//! The Helm chart installs what the overlays do.

mod runs;
mod values;

use crate::operator_manifests::installed::documents;
use crate::operator_manifests::repository;
use serde_json::Value;
use std::process::Command;

/// The version of Kubernetes that the tests run, for the commands of helm that ask no cluster.
const KUBERNETES: &str = "1.36.3";

/// Runs helm, and returns its standard output, or else its standard error.
fn helm(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(llsd_tests::helm::folder().join("helm")).args(arguments).output().expect("helm runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// The chart's folder.
fn chart() -> String {
    repository("operator/chart").to_str().expect("a path").to_owned()
}

/// What helm makes of the chart with these flags.
fn template(flags: &[&str]) -> Result<Vec<Value>, String> {
    let chart = chart();
    let arguments = ["template", "llsd", chart.as_str(), "--kube-version", KUBERNETES];
    helm(&[&arguments[..], flags].concat()).map(|text| documents(&text))
}
