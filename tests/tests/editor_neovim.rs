//! A user's way through one file in a real Neovim: mistakes, completion, hover, a fix, a rename,
//! formatting, the preview, a migration.

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

/// A config of llama-stack 0.4 with a section that later versions do not have.
const CONFIG: &str = "\
version: 2
image_name: demo
apis:
- inference
- telemetry
providers:
  inference:
  - provider_id: vllm
    provider_type: remote::vllm
    config:
      url: http://vllm:8000/v1 # stays
  telemetry:
  - provider_id: meta
    provider_type: inline::meta-reference
    config: {}
";

/// Runs a scenario of `tests/editors/` and collects what it says.
fn run(folder: &Path, scenario: &str, arguments: &[&Path]) -> Map<String, Value> {
    let editors = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors");
    let neovim = Command::new(editors.join("setup.sh")).output().expect("setup.sh runs");
    assert!(neovim.status.success(), "no Neovim:\n{}", String::from_utf8_lossy(&neovim.stderr));
    let neovim = Path::new(String::from_utf8_lossy(&neovim.stdout).trim()).join("nvim");
    let server = llsd_tests::llsd::binary().parent().expect("a folder");
    let path = format!("{}:{}", server.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new(neovim)
        .args(["--headless", "--clean", "-l"])
        .arg(editors.join(scenario))
        .args(arguments)
        .env("PATH", path)
        // Nothing of the user's own set-up takes part.
        .env("XDG_CONFIG_HOME", folder)
        .env("XDG_DATA_HOME", folder)
        .env("XDG_STATE_HOME", folder)
        .output()
        .expect("Neovim runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut said = Map::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let entry: Map<String, Value> = serde_json::from_str(line).expect("a JSON line");
        said.extend(entry);
    }
    said
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(name)
}

#[test]
fn neovim_shows_completes_explains_and_mends() {
    let folder = std::env::temp_dir().join(format!("llsd-neovim-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("resource.yaml");
    fs::write(&file, RESOURCE).expect("a file can be written");
    let said = run(&folder, "neovim.lua", &[&file, llsd_tests::llsd::binary(), &sample("v1alpha1-env.yaml")]);
    let completed = RESOURCE.replace("vll▮", "vllm");
    let fixed = completed.replace("endpont", "endpoint");

    assert_eq!(said["server"]["info"]["name"], "llsd");
    assert_eq!(said["server"]["encoding"], "utf-8", "Neovim offers bytes");
    assert_eq!(said["server"]["filetype"], "yaml");

    let offers = said["completion"].as_array().expect("offers");
    assert!(offers.contains(&"vllm".into()), "{offers:?}");
    assert_eq!(said["completed"], completed);

    let found = &said["diagnostics"][0];
    assert_eq!((&found["line"], &found["column"]), (&12.into(), &8.into()), "{found}");
    assert_eq!(found["source"], "llsd");
    assert!(found["message"].as_str().expect("a message").contains("endpont"), "{found}");

    assert!(said["hover"].as_str().is_some_and(|text| text.contains("remote::vllm")), "{}", said["hover"]);
    assert_eq!(said["fixed"], fixed);

    let renamed = fixed.replace("id: main", "id: renamed").replace("provider: main", "provider: renamed");
    assert_eq!(said["renamed"], renamed);
    assert_eq!(said["formatted"], renamed.replace("\n       - name: llama\n  ", "\n      - name: llama\n "));

    let config = said["preview"]["text"].as_str().expect("a config");
    assert!(config.contains("base_url: http://vllm:8000/v1"), "{config}");

    // The editor and the command line migrate alike.
    let output = Command::new(llsd_tests::llsd::binary())
        .arg("migrate")
        .arg(sample("v1alpha1-env.yaml"))
        .output()
        .expect("llsd");
    assert_eq!(said["migrated"], String::from_utf8_lossy(&output.stdout).as_ref());
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn the_plugin_shows_the_config_beside_the_resource_and_migrates() {
    let folder = std::env::temp_dir().join(format!("llsd-neovim-plugin-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let (file, older) = (folder.join("resource.yaml"), folder.join("older.yaml"));
    fs::write(&file, RESOURCE.replace("vll▮", "vllm").replace("endpont", "endpoint")).expect("a file can be written");
    fs::copy(sample("v1alpha1-env.yaml"), &older).expect("a copy");
    let config = folder.join("config.yaml");
    fs::write(&config, CONFIG).expect("a file can be written");
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/neovim");
    let said = run(&folder, "neovim_plugin.lua", &[&file, &plugin, &older, &config]);

    let preview = &said["preview"];
    assert!(preview["text"].as_str().is_some_and(|text| text.contains("base_url: http://vllm:8000/v1")), "{preview}");
    assert_eq!(preview["seen"], true, "it stands in a window");
    for side in said["diff"].as_array().expect("two sides") {
        assert_eq!(side["diff"], true, "{side}");
        assert!(side["text"].as_str().is_some_and(|text| text.contains("providers:")), "{side}");
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resource = &said["resource"];
    assert!(text(&resource["new"]).contains("llamastack.io/v1alpha2"), "{resource}");
    let offered = resource["offered"].to_string();
    assert!(offered.contains("v1alpha2") && offered.contains("OGXServer"), "{offered}");
    assert_eq!((&resource["untouched"], &resource["changed"]), (&true.into(), &true.into()), "{resource}");
    assert_eq!(resource["after"], resource["new"]);
    let migrated = |to: &str| {
        let mut llsd = Command::new(llsd_tests::llsd::binary());
        let output = llsd.args(["migrate", "--to", to]).arg(&config).output().expect("llsd");
        (String::from_utf8(output.stdout).expect("text"), String::from_utf8(output.stderr).expect("text"))
    };
    // The editor and the command line rewrite a config alike, and say the same of what is lost.
    let (shown, (made, told)) = (&said["config"], migrated("1.5.0"));
    assert_eq!((&shown["new"], &shown["after"]), (&made.as_str().into(), &made.as_str().into()), "{shown}");
    assert_eq!((&shown["untouched"], &shown["tabs"]), (&true.into(), &1.into()), "{shown}");
    let lost = text(&shown["told"]).lines().nth(1).unwrap_or_default().to_owned();
    assert!(lost.contains("telemetry") && told.contains(&lost), "{lost}\n{told}");
    assert!(
        text(&shown["message"]).ends_with(":LlsdApply makes this change, :tabclose leaves all as it is"),
        "{shown}"
    );
    let stale = &said["stale"];
    assert_eq!(stale["message"], "llsd: the text has changed since: :LlsdMigrate shows it anew");
    // that of the two configs is still there
    assert_eq!((&stale["first"], &stale["tabs"]), (&"# another line".into(), &2.into()), "{stale}");
    assert_eq!(said["nothing"][0], "llsd: no migration is shown; :LlsdMigrate shows one");
    let message = &said["without a server"][0];
    assert_eq!(message, "llsd: the language server is not running here; vim.lsp.enable('llsd') starts it");
    let _ = fs::remove_dir_all(&folder);
}
