//! The archive that is downloaded, and the script that installs it.

use super::{Folder, archive, make_archive, repository};
use std::fs;
use std::process::Command;

#[test]
fn an_archive_has_what_is_installed_and_its_bytes_depend_on_nothing_else() {
    let (first, second) = (Folder::new("archive"), Folder::new("archive-again"));
    let path = make_archive(&first.0);
    let listed = Command::new("tar").args(["-tzf", &path]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    for file in [
        "/llsd",
        "/LICENSE",
        "/README.md",
        "/completions/_llsd",
        "/completions/llsd.bash",
        "/completions/llsd.fish",
        "/man/llsd.1",
        "/man/llsd-check.1",
    ] {
        assert!(listed.lines().any(|line| line.ends_with(file)), "no {file} in\n{listed}");
    }
    assert_eq!(fs::read(path).unwrap(), fs::read(make_archive(&second.0)).unwrap());
}

#[test]
fn what_was_downloaded_is_installed_only_if_its_checksum_is_right() {
    let (releases, home) = (Folder::new("releases"), Folder::new("home"));
    let path = archive(&releases);
    let version = env!("CARGO_PKG_VERSION");
    let install = || {
        Command::new(repository("release/install.sh"))
            .arg(version)
            .arg(home.0.join("bin"))
            .env("LLSD_RELEASES", format!("file://{}", releases.0.display()))
            .output()
            .unwrap()
    };
    let installed = install();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let asked = Command::new(home.0.join("bin/llsd")).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8(asked.stdout).unwrap(), format!("llsd {version}\n"));

    fs::remove_dir_all(home.0.join("bin")).unwrap();
    fs::write(path, "something else").unwrap();
    let refused = install();
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("is not what its checksum says; nothing is installed"), "{message}");
    assert!(!home.0.join("bin").exists());
}

#[test]
fn an_archive_that_is_not_what_its_users_expect_is_found_before_it_is_released() {
    let (good, foreign) = (Folder::new("verified"), Folder::new("foreign"));
    let verify = |folder: &Folder| {
        let ran = Command::new(repository("release/verify.sh")).arg(&folder.0).output().unwrap();
        let told = |bytes| String::from_utf8(bytes).unwrap();
        (ran.status.code(), told(ran.stdout), told(ran.stderr))
    };
    let path = archive(&good);
    let (code, seen, complaint) = verify(&good);
    assert_eq!(code, Some(0), "{complaint}");
    assert!(seen.starts_with("x86_64-unknown-linux-musl\trun\t"), "{seen}");

    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let (code, _, complaint) = verify(&good);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("is not what its checksum says"), "{complaint}");

    let made = Command::new(repository("release/archive.sh"))
        .arg("aarch64-unknown-linux-musl")
        .arg(llsd_tests::llsd::binary())
        .arg(&foreign.0)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (code, _, complaint) = verify(&foreign);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("has a program for another machine"), "{complaint}");
}
