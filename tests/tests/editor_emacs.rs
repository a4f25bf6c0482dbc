//! A user's way through one file in a real Emacs with eglot: completion, hover, a mistake and its fix, a rename,
//! formatting, the preview, the migration. eglot is set up by the package in `editors/emacs`, as users have it.

use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const RESOURCE: &str = "\
# A comment that stays.
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: minimal
spec:
  distribution:
    name: starter
  providers:
    inference:
      - id: main
        provider: vll▮
        endpont: http://vllm:8000/v1 # \u{1F999} and so does this one
  resources:
    models:
       - name: llama
         provider: main
";

#[test]
fn emacs_completes_explains_mends_renames_and_formats() {
    let folder = std::env::temp_dir().join(format!("llsd-emacs-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("resource.yaml");
    fs::write(&file, RESOURCE).expect("a file can be written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/emacs.el");
    let output = Command::new("emacs")
        .args(["--batch", "-L"])
        .arg(package())
        .arg("-l")
        .arg(script)
        .args([&file, llsd_tests::llsd::binary()])
        // Nothing of the user's own set-up takes part.
        .env("HOME", &folder)
        .output()
        .expect("Emacs is installed by tests/setup/packages.sh");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let mut said = Map::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let entry: Map<String, Value> = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        said.extend(entry);
    }
    let completed = RESOURCE.replace("vll▮", "vllm");
    let fixed = completed.replace("endpont", "endpoint");
    let renamed = fixed.replace("id: main", "id: renamed").replace("provider: main", "provider: renamed");
    assert_eq!(said["server"], serde_json::json!({"name": "llsd", "mode": "yaml-mode"}));
    assert!(said["completion"].as_array().is_some_and(|offers| offers.contains(&"vllm".into())));
    assert_eq!(said["completed"], completed);
    assert!(said["hover"].as_str().is_some_and(|text| text.contains("remote::vllm")), "{}", said["hover"]);
    assert_eq!(said["diagnostics"][0]["line"], 12);
    assert!(said["diagnostics"][0]["message"].as_str().is_some_and(|text| text.contains("endpont")));
    assert_eq!(said["fixed"], fixed);
    assert_eq!(said["renamed"], renamed);
    assert_eq!(said["formatted"], renamed.replace("\n       - name: llama\n  ", "\n      - name: llama\n "));
    assert!(said["preview"].as_str().is_some_and(|text| text.contains("base_url: http://vllm:8000/v1")));
    assert_eq!(said["readonly"], true);
    assert!(said["followed"].as_str().is_some_and(|text| text.contains("base_url: http://other:8000/v1")));
    let migrated = said["migrated"].as_str().unwrap_or_default();
    assert!(migrated.starts_with("apiVersion: llamastack.io/v1alpha2\n"), "{migrated}");
    assert!(migrated.ends_with("spec:\n  distribution:\n    name: starter\n"), "{migrated}");
    let (declined, text) = (&said["declined"], |value: &Value| value.as_str().unwrap_or_default().to_owned());
    assert_eq!(
        (&declined["untouched"], declined["asked"].as_array().map(Vec::len)),
        (&true.into(), Some(1)),
        "{declined}"
    );
    let shown = text(&declined["shown"]);
    assert!(shown.contains("\n-apiVersion: llamastack.io/v1alpha1\n+apiVersion: llamastack.io/v1alpha2\n"), "{shown}");
    let (shown, after) = (text(&said["config"]["shown"]), text(&said["config"]["after"]));
    for line in ["-      url: http://vllm:8000/v1", "+      base_url: http://vllm:8000/v1"] {
        assert!(shown.contains(&format!("\n{line}\n")), "{shown}");
    }
    let header = shown.split("\n--- ").next().unwrap_or_default();
    assert!(header.contains("telemetry"), "what is lost comes first: {shown}");
    assert!(after.contains("base_url: http://vllm:8000/v1") && !after.contains("telemetry"), "{after}");
    let _ = fs::remove_dir_all(&folder);
}

/// As package archives want it: no warning of the compiler, nor of the checker of documentation.
#[test]
fn the_package_is_clean() {
    let folder = std::env::temp_dir().join(format!("llsd-emacs-package-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("llsd.el");
    fs::copy(package().join("llsd.el"), &file).expect("the package");
    let emacs = |setting: &str, what: &str| {
        let mut emacs = Command::new("emacs");
        emacs.args(["--batch", "--no-site-file", "--eval", "(package-initialize)", "--eval", setting, "--eval", what]);
        let output = emacs.env("HOME", &folder).current_dir(&folder).output().expect("Emacs runs");
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{log}");
        log
    };
    emacs("(setq byte-compile-error-on-warn t)", r#"(unless (byte-compile-file "llsd.el") (kill-emacs 1))"#);
    let said = emacs("(require 'checkdoc)", r#"(checkdoc-file "llsd.el")"#);
    assert!(!said.contains("llsd.el:"), "{said}");
    let _ = fs::remove_dir_all(&folder);
}

/// The folder of the package.
fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/emacs")
}
