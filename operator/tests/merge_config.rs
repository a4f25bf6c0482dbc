//! `merge-config` on folders as the init containers before it leave them.

use llsd_operator::external::merge::{MergeError, Report, merge};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const BASE: &str = "\
version: 2
image_name: starter
apis:
- inference
providers:
  inference:
  - provider_id: ${env.VLLM_URL:+vllm}
    provider_type: remote::vllm
    config:
      base_url: ${env.VLLM_URL:=}
";

/// A shared folder, gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("llsd-merge-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("etc")).expect("a folder");
        fs::write(folder.join("etc/config.yaml"), BASE).expect("it is written");
        Self(folder)
    }

    fn describe(&self, folder: &str, text: &str) {
        let folder = self.0.join("metadata").join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("lls-provider-spec.yaml"), text).expect("it is written");
    }

    fn package(&self, folder: &str, api: &str) {
        let text = format!(
            "apiVersion: llamastack.io/v1alpha1\nkind: ProviderPackage\nspec:\n  packageName: {}_provider\n  \
             providerType: remote::{folder}\n  api: {api}\n  wheelPath: /lls-provider/packages/x.whl\n",
            folder.replace('-', "_")
        );
        self.describe(folder, &text);
    }

    fn merge(&self, wanted: &Value) -> Result<Report, MergeError> {
        merge(&self.0.join("etc/config.yaml"), &self.0, &wanted.to_string())
    }

    fn merged(&self) -> Option<String> {
        fs::read_to_string(self.0.join("config/config.yaml")).ok()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn wanted(api: &str, id: &str) -> Value {
    json!({"api": api, "providerId": id, "image": format!("img/{id}:1"), "config": {"url": "http://x"}})
}

#[test]
fn providers_are_added_and_replace_those_of_their_id() {
    let folder = Folder::new("good");
    folder.package("vllm", "inference");
    folder.package("guard", "safety");
    let report = folder.merge(&json!([wanted("inference", "vllm"), wanted("safety", "guard")])).expect("it is merged");
    assert_eq!(report.providers, ["vllm", "guard"]);
    assert_eq!(report.warnings.len(), 1);
    assert!(report.warnings[0].contains("\"vllm\" of the API inference"), "{:?}", report.warnings);
    expect_test::expect_file!["merged/config.yaml"].assert_eq(&folder.merged().expect("a configuration"));
    let extra = fs::read_to_string(folder.0.join("config/extra-providers.yaml")).expect("a list");
    expect_test::expect_file!["merged/extra-providers.yaml"].assert_eq(&extra);

    // The pod's containers may run again: the same comes out.
    let before = folder.merged();
    folder.merge(&json!([wanted("inference", "vllm"), wanted("safety", "guard")])).expect("it is merged again");
    assert_eq!(folder.merged(), before);
}

/// The program as the init container runs it: the list in a variable, the verdict in the exit code, and the reason at the
/// end of the log, where the kubelet takes it from.
#[test]
fn the_program_merges_or_says_at_the_end_why_not() {
    let run = |folder: &Folder, list: &Value| {
        Command::new(env!("CARGO_BIN_EXE_llsd-operator"))
            .arg("merge-config")
            .arg(format!("--base={}", folder.0.join("etc/config.yaml").display()))
            .arg(format!("--folder={}", folder.0.display()))
            .env("LLSD_EXTERNAL_PROVIDERS", list.to_string())
            .output()
            .expect("it runs")
    };
    let folder = Folder::new("program");
    folder.package("guard", "safety");
    let output = run(&folder, &json!([wanted("safety", "guard")]));
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    assert!(folder.merged().expect("a configuration").contains("provider_id: guard"));

    let folder = Folder::new("program-refuses");
    folder.package("guard", "safety");
    let output = run(&folder, &json!([wanted("inference", "guard")]));
    assert_eq!(output.status.code(), Some(10));
    let log = String::from_utf8_lossy(&output.stderr);
    let last = log.lines().last().unwrap_or_default();
    assert!(last.contains("serves the API safety, but is listed under inference"), "{log}");
    assert_eq!(folder.merged(), None);
}

#[test]
fn nothing_is_written_where_something_is_wrong() {
    let cases: [(&str, Value, &str); 8] = [
        ("twice", json!([wanted("inference", "ok"), wanted("safety", "ok")]), "id \"ok\" is used twice"),
        (
            "missing",
            json!([wanted("inference", "ok"), wanted("inference", "none")]),
            "\"none\": image img/none:1 has no",
        ),
        ("api", json!([wanted("safety", "ok")]), "serves the API inference, but is listed under safety"),
        ("kind", json!([wanted("inference", "pod")]), "kind is \"Pod\""),
        ("yaml", json!([wanted("inference", "broken")]), "\"broken\": image img/broken:1 has no usable"),
        ("list", json!({"a": 1}), "list of external providers cannot be read"),
        ("base", json!([wanted("inference", "ok")]), "cannot be used: line 3"),
        ("gone", json!([wanted("inference", "ok")]), "config.yaml: No such file"),
    ];
    for (name, list, words) in cases {
        let folder = Folder::new(name);
        folder.package("ok", "inference");
        folder.describe("pod", "kind: Pod\n");
        folder.describe("broken", "kind: [\n");
        match name {
            "base" => fs::write(folder.0.join("etc/config.yaml"), "version: 2\nproviders: [\n").expect("it is written"),
            "gone" => fs::remove_file(folder.0.join("etc/config.yaml")).expect("it was there"),
            _ => {}
        }
        let error = folder.merge(&list).expect_err(name).to_string();
        assert!(error.contains(words), "{name}: {error}");
        assert_eq!(folder.merged(), None, "{name}");
    }
}

#[test]
fn an_id_is_no_path() {
    let folder = Folder::new("path");
    folder.describe("../../outside", "kind: ProviderPackage\n");
    let error = folder.merge(&json!([wanted("inference", "../../outside")])).expect_err("it is not found");
    assert!(matches!(error, MergeError::Metadata { .. }), "{error}");
}
