//! The walls of `ARCHITECTURE.md`: what a crate or a module must not know, asserted on the dependency graph and on the
//! sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Everything that ships in a crate: its normal dependencies, and theirs.
fn dependencies(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", package])
        .args(["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"])
        .current_dir(root())
        .output()
        .expect("cargo tree runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8_lossy(&output.stdout);
    names.lines().filter_map(|line| line.split(' ').next()).map(ToOwned::to_owned).collect()
}

fn assert_does_not_know(package: &str, forbidden: &[&str]) {
    let known = dependencies(package);
    assert!(known.contains(package), "cargo tree does not list {package}: {known:?}");
    let through: Vec<_> = forbidden.iter().filter(|name| known.contains(**name)).collect();
    assert!(through.is_empty(), "{package} must not depend on {through:?}, not even through others");
}

/// Crates that reach a network, a runtime, an editor or a cluster.
const WORLD: [&str; 13] = [
    "async-std",
    "hyper",
    "hyper-util",
    "kube-client",
    "kube-runtime",
    "lsp-types",
    "mio",
    "notify",
    "reqwest",
    "tokio",
    "tower",
    "tower-lsp",
    "ureq",
];

#[test]
fn the_yaml_crate_knows_no_kubernetes_and_no_data_model() {
    assert_does_not_know("llsd-yaml", &WORLD);
    let model = ["k8s-openapi", "kube", "kube-core", "llsd-generator", "schemars", "serde", "serde_json", "serde_yaml"];
    assert_does_not_know("llsd-yaml", &model);
}

#[test]
fn the_crd_crate_knows_no_other_of_ours_and_no_resource() {
    assert_does_not_know("crd-validator", &WORLD);
    assert_does_not_know(
        "crd-validator",
        &["k8s-openapi", "kube", "kube-core", "llsd-generator", "llsd-yaml", "schemars"],
    );
    assert_does_not_mention("generator/crd/src", &["llamastack", "LlamaStack", "llsd"]);
}

#[test]
fn the_generator_is_pure() {
    assert_does_not_know("llsd-generator", &WORLD);
    assert_does_not_know("llsd-generator", &["llsd", "ropey", "tempfile", "walkdir"]);
}

#[test]
fn the_binary_reaches_no_cluster() {
    // The language server speaks over standard input, output and sockets; it has no HTTP client to speak with.
    assert_does_not_know("llsd", &["hyper", "kube-client", "kube-runtime", "llsd-operator", "reqwest", "ureq"]);
}

#[test]
fn the_page_in_the_browser_knows_no_operating_system() {
    assert_does_not_know("llsd-playground", &WORLD);
    assert_does_not_know("llsd-playground", &["clap", "ignore", "rustix", "tracing"]);
}

/// The sources of a folder with what they are called, tests and comments left out.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("a readable folder").flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).expect("a readable file");
            let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
            let code: Vec<_> = shipped.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            found.push((path.strip_prefix(root()).expect("inside").display().to_string(), code.join("\n")));
        }
    }
    assert!(!found.is_empty(), "{folder} has no sources");
    found
}

fn assert_does_not_mention(folder: &str, forbidden: &[&str]) {
    let mut seen = Vec::new();
    for (name, code) in sources(folder) {
        for word in forbidden {
            if code.contains(word) {
                seen.push(format!("{name} mentions {word}"));
            }
        }
    }
    assert!(seen.is_empty(), "{}", seen.join("\n"));
}

#[test]
fn pure_crates_use_nothing_of_the_world() {
    let world = [
        "std::fs",
        // Addresses are values; sockets are not.
        "TcpListener",
        "TcpStream",
        "ToSocketAddrs",
        "UdpSocket",
        "UnixStream",
        "std::process",
        "std::env",
        "std::thread",
        "std::time::Instant",
        "std::time::SystemTime",
        "SystemTime::now",
        "Instant::now",
        "tokio::",
        "async fn",
        "tower_lsp",
        "lsp_types",
    ];
    assert_does_not_mention("generator/src", &world);
    // Its parser of rules needs a larger stack than the caller's at times, and only a thread has one.
    let world: Vec<_> = world.into_iter().filter(|word| *word != "std::thread").collect();
    assert_does_not_mention("generator/crd/src", &world);
    assert_does_not_mention("generator/yaml/src", &world);
}

#[test]
fn the_yaml_crate_does_not_name_the_resource() {
    assert_does_not_mention("generator/yaml/src", &["llamastack", "LlamaStack", "serde_json", "k8s_openapi"]);
}

#[test]
fn editor_features_do_not_know_the_protocol() {
    assert_does_not_mention("server/src/ide", &["tower_lsp", "lsp_types", "Url", "tokio", "std::fs", "crate::lsp"]);
}

#[test]
fn subcommands_do_not_know_the_protocol() {
    for (name, code) in sources("server/src/cli") {
        // `llsd lsp` starts the server; no other subcommand has to do with it.
        if !name.ends_with("cli/lsp.rs") {
            assert!(!code.contains("tower_lsp"), "{name} mentions tower_lsp");
        }
    }
}

#[test]
fn only_the_edge_converts_positions_and_addresses() {
    for (name, code) in sources("server/src") {
        if !name.starts_with("server/src/lsp") {
            let words = ["lsp_types", "encode_utf16", "len_utf16", "PositionEncodingKind"];
            let seen: Vec<_> = words.iter().filter(|word| code.contains(**word)).collect();
            assert!(seen.is_empty(), "{name} mentions {seen:?}");
        }
    }
}

#[test]
fn the_code_map_names_every_crate() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let members = manifest.lines().find(|line| line.starts_with("members")).expect("a list of members");
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    for member in members.split('"').skip(1).step_by(2) {
        assert!(map.contains(&format!("{member}/")), "ARCHITECTURE.md does not name {member}/");
    }
}

/// A crate has one test program, and cargo does not look for further ones: a file that `tests/main.rs` does not name
/// would never be compiled.
#[test]
fn every_test_file_is_in_its_crates_test_program() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let members = manifest.lines().find(|line| line.starts_with("members")).expect("a list of members");
    let folders: Vec<_> =
        members.split('"').skip(1).step_by(2).map(|member| root().join(member).join("tests")).collect();
    let mut seen = 0;
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let program = fs::read_to_string(folder.join("main.rs")).unwrap_or_default();
        for path in fs::read_dir(folder).expect("a readable folder").flatten().map(|entry| entry.path()) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_module = path.extension().is_some_and(|ending| ending == "rs") || path.join("mod.rs").exists();
            if is_module && name != "main" {
                seen += 1;
                let line = format!("mod {name};");
                assert!(program.lines().any(|each| each == line), "{}/main.rs lacks `{line}`", folder.display());
            }
        }
    }
    assert!(seen > 0, "no test files found");
}

#[test]
fn only_the_generator_finds_faults_in_a_resource() {
    for (name, code) in sources("server/src") {
        // What is wrong with the text, such as a key written twice, is gone from the value that the generator judges.
        if name == "server/src/ide/resource.rs" {
            continue;
        }
        let seen: Vec<_> = ["Finding::new", "Finding {"].into_iter().filter(|word| code.contains(word)).collect();
        assert!(seen.is_empty(), "{name} makes findings of its own: {seen:?}");
    }
}

#[test]
fn texts_of_users_do_not_go_through_serde_yaml() {
    assert_does_not_mention("server/src", &["serde_yaml"]);
}

/// No network and no process unless the user asked: one module asks the cluster, and only with the setting for it.
#[test]
fn only_two_modules_start_processes() {
    for (name, code) in sources("server/src") {
        // kubectl for a cluster, and the builder of `check -k` and `--helm`, in an editor of `buildOnSave`
        if name.starts_with("server/src/cluster") || name.starts_with("server/src/built") {
            continue;
        }
        let seen: Vec<_> =
            ["process::Command", "Command::new", "UdpSocket"].into_iter().filter(|word| code.contains(word)).collect();
        assert!(seen.is_empty(), "{name}: {seen:?}");
    }
}

/// A fresh clone on any machine must work.
#[test]
fn nothing_names_a_path_of_one_machine() {
    let output =
        Command::new("git").args(["grep", "-nIE", "(^|[\"' =])/(root|work|home)/[a-z]"]).current_dir(root()).output();
    let output = output.expect("git runs");
    let found = String::from_utf8_lossy(&output.stdout);
    // A folder inside of the server's container, which resources of users name.
    let in_container = |line: &str| line.contains("/home/lls/.lls");
    let found: Vec<_> =
        found.lines().filter(|line| !line.starts_with("tests/tests/walls.rs") && !in_container(line)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
