//! Packages made of the archives: npm's, and the manifest for Krew.

use super::{Folder, archive, repository};
use std::fs;
use std::process::Command;

#[test]
fn npm_installs_the_program_of_the_platform() {
    let (archives, packages, home) =
        (Folder::new("npm-archives"), Folder::new("npm-packages"), Folder::new("npm-home"));
    archive(&archives);
    let made =
        Command::new("node").arg(repository("release/npm.mjs")).args([&archives.0, &packages.0]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made = String::from_utf8(made.stdout).unwrap();
    assert_eq!(made.lines().count(), 2, "the platform's and the one that starts it:\n{made}");

    fs::write(home.0.join("package.json"), "{}").unwrap();
    let installed = Command::new("npm")
        .args(["install", "--silent", "--no-audit", "--no-fund"])
        .args(made.lines())
        .env("npm_config_cache", home.0.join("cache"))
        .current_dir(&home.0)
        .output()
        .unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let llsd = |arguments: &[&str]| {
        Command::new(home.0.join("node_modules/.bin/llsd")).args(arguments).current_dir(&home.0).output().unwrap()
    };
    let version = llsd(&["--version"]);
    assert_eq!(String::from_utf8(version.stdout).unwrap(), concat!("llsd ", env!("CARGO_PKG_VERSION"), "\n"));
    assert_eq!(llsd(&["check", "nowhere.yaml"]).status.code(), Some(2), "the exit code is the program's");

    fs::remove_dir_all(home.0.join("node_modules/@llsd")).unwrap();
    let without = llsd(&["--version"]);
    assert_eq!(without.status.code(), Some(2));
    let message = String::from_utf8(without.stderr).unwrap();
    assert!(message.contains("@llsd/linux-x64 is not installed"), "{message}");
}

#[test]
fn krew_is_told_of_each_archive_with_its_checksum() {
    let archives = Folder::new("krew");
    let path = archive(&archives);
    let made = Command::new(repository("release/krew.sh")).arg(&archives.0).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let plugin: serde_yaml::Value = serde_yaml::from_slice(&made.stdout).unwrap();
    assert_eq!(plugin["spec"]["version"], concat!("v", env!("CARGO_PKG_VERSION")));
    let platform = &plugin["spec"]["platforms"][0];
    assert_eq!(platform["selector"]["matchLabels"]["arch"], "amd64");
    let sum = fs::read_to_string(format!("{path}.sha256")).unwrap();
    assert_eq!(platform["sha256"].as_str(), sum.split(' ').next());
    // Each file that Krew is to copy is in the archive.
    let listed = Command::new("tar").args(["-tzf", &path]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    for file in platform["files"].as_sequence().unwrap() {
        let from = file["from"].as_str().unwrap();
        assert!(listed.lines().any(|line| line == from), "{from} is not in\n{listed}");
    }
}
