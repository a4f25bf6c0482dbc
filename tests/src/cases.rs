//! The resources of `tests/cases/*.md`, for whoever says something of them beside the editor and the command line.

use llsd_generator::api::ApiVersion;
use llsd_generator::document::Plain;
use llsd_yaml::Stream;
use serde_json::Value;
use std::path::Path;

/// The `LlamaStackDistribution`s of all cases, each with the name of its file: those that are whole, without templates.
///
/// # Panics
/// If the cases cannot be read.
#[must_use]
pub fn resources() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of the cases") {
        let path = entry.expect("an entry").path();
        let page = std::fs::read_to_string(&path).expect("a page of cases");
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            if line != "```yaml" {
                continue;
            }
            let body: String =
                lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            for document in Stream::parse(&body).documents() {
                let plain = Plain::read(&document.document);
                let whole = plain.unknown.is_empty()
                    && document.document.strict_error().is_none()
                    && plain.duplicates.is_empty();
                // The operator is asked about its own kind alone.
                let ours = ApiVersion::of(&plain.value).is_some_and(|version| version != ApiVersion::OgxV1Beta1);
                if whole && ours {
                    found.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), plain.value));
                }
            }
        }
    }
    found
}
