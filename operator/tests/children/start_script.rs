//! The start-up script picks the command of the installed llama-stack. It runs in a real shell with the real Python,
//! and with stand-ins for the commands that it would start.

use llsd_operator::resources::SCRIPT;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const OLD: &str = "python3 -m llama_stack.distribution.server.server --config /etc/llama-stack/config.yaml";
const MIDDLE: &str = "python3 -m llama_stack.core.server.server /etc/llama-stack/config.yaml";
const NEW: &str = "uvicorn llama_stack.core.server.server:create_app --host 0.0.0.0 --port 9000 --workers 3 --factory";

#[test]
fn each_version_is_started_in_its_way() {
    for (version, expected) in [
        (Some("0.2.16"), OLD),
        (Some("0.2.17rc1"), MIDDLE),
        (Some("0.2.17"), MIDDLE),
        (Some("0.2.23.post1"), MIDDLE),
        (Some("0.3"), NEW),
        (Some("0.3.0rc2"), NEW),
        (Some("0.3.0.dev1"), NEW),
        (Some("0.4.7"), NEW),
        (Some("1.0"), NEW),
        (Some("unknown"), NEW),
        (None, NEW),
    ] {
        assert_eq!(started(version), expected, "{version:?}");
    }
}

fn started(version: Option<&str>) -> String {
    let folder = Folder::new(version.unwrap_or("none"));
    if let Some(version) = version {
        let metadata = folder.0.join("packages/llama_stack.dist-info/METADATA");
        fs::create_dir_all(metadata.parent().expect("a folder")).expect("a folder");
        fs::write(metadata, format!("Metadata-Version: 2.1\nName: llama_stack\nVersion: {version}\n")).expect("a file");
    }
    let python = real_python();
    folder.command("python3", &format!("[ \"$1\" = -c ] && exec {python} -S \"$@\"\necho python3 \"$@\""));
    folder.command("uvicorn", "echo uvicorn \"$@\"");
    let output = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .env_clear()
        .env("PATH", folder.0.join("bin"))
        .env("PYTHONPATH", folder.0.join("packages"))
        .env("LLS_PORT", "9000")
        .env("LLS_WORKERS", "3")
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The interpreter itself: what is called `python3` may be a script that needs more on the path.
fn real_python() -> String {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("Python");
    String::from_utf8_lossy(&asked.stdout).trim().to_owned()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("start-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("bin")).expect("a folder");
        Self(path)
    }

    fn command(&self, name: &str, script: &str) {
        let path = self.0.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a command");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a command");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
