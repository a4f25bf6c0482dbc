//! The images, made without a daemon: pushed to a real registry, pulled from there, and run with nothing else around.

use super::{Folder, repository};
use crate::operator_oci::registry::{Server, pull};
use llsd_tests::{llsd, operator};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const RESOURCE: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: first
spec:
  distribution:
    name: startr
";

fn image(arguments: &[&str]) -> Output {
    let mut script = Command::new(repository("release/image.sh"));
    script.args(arguments).env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap()
}

fn succeeded(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn skopeo(arguments: &[&str]) -> String {
    succeeded(Command::new("skopeo").args(arguments).output().expect("skopeo is installed by tests/setup/packages.sh"))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A file that says it is a program for arm64: of another machine only the header is looked at.
fn other_machine(binary: &Path, folder: &Folder) -> PathBuf {
    let mut header = fs::read(binary).unwrap();
    header.truncate(4_096);
    header[18..20].copy_from_slice(&[0xb7, 0]);
    let path = folder.0.join("arm64").join(binary.file_name().unwrap());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, header).unwrap();
    path
}

/// Pushes the image of a program for two machines, pulls it again for this one, and unpacks it.
fn through_a_registry(name: &str, binary: &Path) -> (Folder, Value) {
    let (folder, server) = (Folder::new(&format!("image-{name}")), Server::open());
    let layout = folder.0.join("layout");
    let here = format!("amd64={}", binary.display());
    let there = format!("arm64={}", other_machine(binary, &folder).display());
    let digest = succeeded(image(&[text(&layout), "1", &here, &there]));

    let remote = format!("docker://{}/{name}:1", server.address);
    skopeo(&["copy", "--quiet", "--all", "--dest-tls-verify=false", &format!("oci:{}:1", layout.display()), &remote]);
    let raw = skopeo(&["inspect", "--raw", "--tls-verify=false", &remote]);
    let index: Value = serde_json::from_str(&raw).unwrap();
    assert_eq!(index["manifests"].as_array().map(Vec::len), Some(2), "{index}");
    for machine in ["amd64", "arm64"] {
        let told = skopeo(&["--override-arch", machine, "inspect", "--tls-verify=false", &remote]);
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["Architecture"], machine);
        assert_eq!(told["Digest"], digest, "the registry has another image");
    }

    let config = pull(&format!("{}/{name}:1", server.address), &folder.0).unwrap();
    (folder, config)
}

/// Runs the image's entry point, as a user that nobody knows, with the image as its whole world.
fn run(folder: &Folder, config: &Value, arguments: &[&str], input: &str) -> Output {
    let entry = config["Entrypoint"][0].as_str().unwrap();
    let mut child = Command::new("chroot")
        .arg("--userspec=1000710000:0")
        .arg(folder.0.join("root"))
        .arg(entry)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that reads nothing may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn the_operator_runs_from_a_registry_as_any_user() {
    let (folder, config) = through_a_registry("llsd-operator", operator::binary());
    let docker = fs::read_to_string(repository("operator/Dockerfile")).unwrap();
    let said = |word: &str| docker.lines().rev().find_map(|line| line.strip_prefix(word)).unwrap().trim();
    assert_eq!(config["User"], said("USER "));
    assert_eq!(config["Entrypoint"].to_string(), said("ENTRYPOINT "));
    let version = succeeded(run(&folder, &config, &["--version"], ""));
    assert_eq!(version, concat!("llsd-operator ", env!("CARGO_PKG_VERSION")));
    assert!(succeeded(run(&folder, &config, &["manifests"], "")).contains("kind: ClusterRole"));
    assert!(folder.0.join("root/etc/ssl/certs/ca-certificates.crt").exists());
}

#[test]
fn llsd_checks_from_a_registry_as_any_user() {
    let (folder, config) = through_a_registry("llsd", llsd::binary());
    let checked = run(&folder, &config, &["check", "-"], RESOURCE);
    assert_eq!(checked.status.code(), Some(1), "{}", String::from_utf8_lossy(&checked.stderr));
    let found = String::from_utf8(checked.stdout).unwrap();
    assert!(found.contains("llsd::distribution::unknown"), "{found}");
}

#[test]
fn the_same_program_gives_the_same_image() {
    let folder = Folder::new("image-again");
    let binary = format!("amd64={}", llsd::binary().display());
    let make = |name: &str| succeeded(image(&[text(&folder.0.join(name)), "1", &binary]));
    assert_eq!(make("first"), make("second"));
    let listed = |name: &str| {
        let mut listed: Vec<_> = fs::read_dir(folder.0.join(name).join("blobs/sha256"))
            .unwrap()
            .map(|file| file.unwrap().file_name())
            .collect();
        listed.sort();
        listed
    };
    assert_eq!(listed("first"), listed("second"));
    assert_eq!(listed("first").len(), 4, "layer, config, manifest, index");
}

#[test]
fn what_makes_no_image_is_refused() {
    let folder = Folder::new("image-refused");
    let binary = llsd::binary();
    let here = format!("amd64={}", binary.display());
    let new = folder.0.join("new");
    let other = folder.0.join("other");
    fs::copy(other_machine(binary, &folder), &other).unwrap();
    let other = format!("arm64={}", other.display());
    for (arguments, words) in [
        (vec![text(&new), "1"], "usage:"),
        (vec![text(&new), "1", "riscv64=x"], "usage:"),
        (vec![text(&new), "1", "amd64=/nowhere"], "there is no /nowhere"),
        (vec![text(&new), "1", &here.replace("amd64", "arm64")], "is for amd64, not for arm64"),
        (vec![text(&new), "1", &here, &other], "/other is another program than /llsd"),
        (vec![text(&folder.0), "1", &here], "is there already"),
    ] {
        let refused = image(&arguments);
        let message = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{message}");
        assert!(message.contains(words), "{message}");
        assert!(!new.exists(), "{arguments:?} leaves something behind");
    }
}

/// Whether `.dockerignore` leaves a file in the context of `docker build`: the last pattern that meets it decides.
fn is_in_context(ignore: &str, file: &str) -> bool {
    let patterns = ignore.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    patterns.fold(true, |kept, pattern| {
        let (name, keeps) = pattern.strip_prefix('!').map_or((pattern, false), |name| (name, true));
        let meets = match name.strip_prefix("**/") {
            Some(folder) => file.split('/').any(|step| step == folder),
            None => name == "*" || Path::new(file).starts_with(name),
        };
        if meets { keeps } else { kept }
    })
}

#[test]
fn docker_gets_every_member_of_the_workspace() {
    let ignore = fs::read_to_string(repository(".dockerignore")).unwrap();
    let context = Folder::new("context");
    let files = succeeded(Command::new("git").arg("-C").arg(repository("")).arg("ls-files").output().unwrap());
    for file in files.lines().filter(|file| is_in_context(&ignore, file)) {
        let copy = context.0.join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(repository(file), copy).unwrap();
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--no-deps", "--format-version", "1"]).current_dir(&context.0);
    let found: Value = serde_json::from_str(&succeeded(cargo.output().unwrap())).unwrap();
    assert!(found["packages"].as_array().unwrap().iter().any(|package| package["name"] == "llsd-operator"));
}
