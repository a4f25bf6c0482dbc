//! Builds a Helm chart with `helm template`, from local files alone.

use llsd_generator::kustomize::is_remote;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of the release, where templates ask for one.
const RELEASE: &str = "release-name";

/// What a chart comes to.
///
/// # Errors
/// A sentence, where it cannot be built: no program, no folder of a chart, a mistake in it.
pub(super) fn build(chart: &Path, values: &[PathBuf]) -> Result<String, String> {
    let shown = chart.display();
    if !chart.join("Chart.yaml").is_file() {
        return Err(format!("{shown} is no folder with a Chart.yaml; charts are not fetched"));
    }
    if let Some(remote) = values.iter().find(|file| file.to_str().is_some_and(is_remote)) {
        return Err(format!("{} is not a file: values are not fetched", remote.display()));
    }
    let mut arguments: Vec<OsString> = vec!["template".into()];
    for file in values {
        arguments.extend(["--values".into(), file.clone().into_os_string()]);
    }
    let chart = std::path::absolute(chart).map_err(|error| format!("{shown}: {error}"))?;
    arguments.extend(["--".into(), RELEASE.into(), chart.into_os_string()]);
    super::run(&[("helm", arguments)], &|| false).map_err(|problem| format!("{shown}: {problem}"))
}
