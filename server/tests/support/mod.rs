//! The language client of the tests, on the binary of this package.

pub(crate) use llsd_test_client::{Client, at, comes_about, edited, insert, llsd};

use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A document that is in no folder.
pub(crate) const URI: &str = "file:///w/resource.yaml";

/// A correct resource of eleven lines.
pub(crate) fn resource(name: &str) -> String {
    format!(
        "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: {name}\nspec:\n  \
         distribution:\n    name: starter\n  providers:\n    inference:\n      - provider: vllm\n        \
         endpoint: http://vllm:8000/v1\n"
    )
}

/// A file of many resources: long to analyse.
pub(crate) fn large(count: usize) -> String {
    (0..count).map(|number| format!("---\n{}", resource(&format!("stack-{number}")))).collect()
}

/// An empty folder that goes away with this value.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// A folder of this name and the process.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("llsd-session-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// Writes a file, and returns its URI.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        format!("file://{}", path.display())
    }

    /// The URI of the folder itself.
    pub(crate) fn uri(&self) -> String {
        format!("file://{}", self.0.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether a message brings the diagnostics of a document.
pub(crate) fn is_publication(message: &Value, uri: &str) -> bool {
    message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri
}

/// The next diagnostics of a document.
pub(crate) fn publication(client: &mut Client, uri: &str) -> Vec<Value> {
    let message = client.wait(|message| is_publication(message, uri));
    message["params"]["diagnostics"].as_array().expect("a list").clone()
}
