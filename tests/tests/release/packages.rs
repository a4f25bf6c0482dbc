//! Packages made of the archives: npm's, Python's wheels, and the manifest for Krew.

use super::{Folder, archive, repository};
use llsd_tests::operator::kubectl_program;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
fn pip_installs_the_program_of_the_platform_without_building_it() {
    let (archives, wheels, home) =
        (Folder::new("wheel-archives"), Folder::new("wheel-wheels"), Folder::new("wheel-home"));
    archive(&archives);
    let made = Command::new(repository("release/wheel.py")).args([&archives.0, &wheels.0]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let environment = Command::new("python3").args(["-m", "venv"]).arg(&home.0).status().unwrap();
    assert!(environment.success());
    let pip = |arguments: &[&str]| {
        let mut pip = Command::new(home.0.join("bin/pip"));
        let ran = pip.args(["--disable-pip-version-check", "--no-input"]).args(arguments).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    // By name, so that pip finds that the wheel is for this machine.
    pip(&["install", "--no-index", "--find-links", wheels.0.to_str().unwrap(), "llsd"]);
    let version = Command::new(home.0.join("bin/llsd")).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8(version.stdout).unwrap(), concat!("llsd ", env!("CARGO_PKG_VERSION"), "\n"));
    let about = pip(&["show", "--files", "llsd"]);
    assert!(about.contains(concat!("Version: ", env!("CARGO_PKG_VERSION"))), "{about}");
    assert!(about.contains("licenses/LICENSE"), "{about}");
    pip(&["uninstall", "--yes", "llsd"]);
    assert!(!home.0.join("bin/llsd").exists());
}

#[test]
fn krew_installs_llsd_as_a_plugin_of_kubectl() {
    let (archives, home) = (Folder::new("krew-archives"), Folder::new("krew-home"));
    let path = archive(&archives);
    let made = Command::new(repository("release/krew.sh")).arg(&archives.0).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let manifest = home.0.join("llsd.yaml");
    fs::write(&manifest, &made.stdout).unwrap();
    let plugin: serde_yaml::Value = serde_yaml::from_slice(&made.stdout).unwrap();
    assert_eq!(plugin["spec"]["version"], concat!("v", env!("CARGO_PKG_VERSION")));

    let run = |command: &mut Command| {
        let ran = command.env("KREW_ROOT", home.0.join("krew")).stdin(Stdio::null()).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let programs = PathBuf::from(run(&mut Command::new(repository("tests/krew/build.sh"))).trim());
    // What the index of plugins asks of a manifest, but for the download: nothing is released yet.
    run(Command::new(programs.join("validate-krew-manifest")).arg("-skip-install").arg("-manifest").arg(&manifest));
    // The checksum is compared, and the files are taken out as the manifest says.
    let mut install = Command::new(programs.join("krew"));
    run(install.arg("install").arg("--manifest").arg(&manifest).arg("--archive").arg(path));
    let with_plugin = format!("{}:{}", home.0.join("krew/bin").display(), std::env::var("PATH").unwrap());
    let version = run(Command::new(kubectl_program()).args(["llsd", "--version"]).env("PATH", with_plugin));
    assert_eq!(version, concat!("llsd ", env!("CARGO_PKG_VERSION"), "\n"));
}
