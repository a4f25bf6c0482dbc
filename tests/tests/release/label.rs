//! The script that gives an image its base config, against a real registry.

use super::{Folder, repository};
use crate::operator_oci::registry::{Server, layer};
use llsd_operator::oci::{Limits, Registry};
use serde_json::json;
use std::fs;
use std::process::{Command, Output};

const CONFIG: &str = "version: 2\nimage_name: größe\napis: [inference]\n";

fn label(arguments: &[&str]) -> Output {
    Command::new(repository("release/label.py")).arg("--insecure").args(arguments).output().unwrap()
}

fn skopeo(arguments: &[&str]) -> serde_json::Value {
    let output = Command::new("skopeo").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

#[tokio::test]
async fn the_operator_reads_what_the_script_writes() {
    let (folder, server) = (Folder::new("label"), Server::open());
    let config = folder.0.join("config.yaml");
    fs::write(&config, CONFIG).unwrap();
    let file = config.to_str().unwrap();
    let (plain, _) = server.push("plain:1", json!({"maintainer": "x"}), vec![layer(&[("a", b"x")], true)]).await;
    let target = format!("{}/labelled:1", server.address);
    let ran = label(&["--config-version", "2", &plain, file, &target]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));

    let registry = Registry::new(Limits::default(), server.insecure(), None);
    let found = registry.config(&target, &[]).await.unwrap().unwrap();
    assert_eq!((found.text.as_str(), found.version.as_deref()), (CONFIG, Some("2")));
    assert_eq!(String::from_utf8(ran.stdout).unwrap().trim(), format!("{target}@{}", found.digest));
    assert_eq!(registry.config(&plain, &[]).await.unwrap(), None, "the image itself stays as it was");
    let told = skopeo(&["inspect", "--tls-verify=false", &format!("docker://{target}")]);
    assert_eq!(told["Labels"]["maintainer"], "x");
}

#[test]
fn an_image_for_two_machines_gets_the_labels_for_both() {
    let (folder, server) = (Folder::new("label-two"), Server::open());
    let config = folder.0.join("config.yaml");
    fs::write(&config, CONFIG).unwrap();
    let program = |machine: u8, name: &str| {
        let path = folder.0.join(name);
        fs::create_dir_all(&path).unwrap();
        let header = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 11], &[machine, 0]].concat();
        fs::write(path.join("server"), header).unwrap();
        format!("{name}={}", path.join("server").display())
    };
    let layout = folder.0.join("layout");
    let made = Command::new(repository("release/image.sh"))
        .arg(&layout)
        .args(["1", &program(0x3e, "amd64"), &program(0xb7, "arm64")])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let plain = format!("{}/two:1", server.address);
    let (from, to) = (format!("oci:{}:1", layout.display()), format!("docker://{plain}"));
    skopeo(&["copy", "--quiet", "--all", "--dest-tls-verify=false", &from, &to]);
    let target = format!("{}/two:labelled", server.address);
    let ran = label(&[&plain, config.to_str().unwrap(), &target]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    for machine in ["amd64", "arm64"] {
        let image = format!("docker://{target}");
        let told = skopeo(&["--override-arch", machine, "inspect", "--tls-verify=false", &image]);
        assert_eq!(told["Architecture"], machine);
        assert!(told["Labels"]["io.llamastack.config.base64"].is_string(), "{told}");
    }
}

#[test]
fn what_is_no_config_is_refused_before_anything_is_copied() {
    let folder = Folder::new("label-refused");
    let file = folder.0.join("config.yaml");
    for (content, expected) in [
        (b"".to_vec(), "has 0 bytes"),
        (vec![b'x'; (1 << 20) + 1], "has 1048577 bytes"),
        (vec![0xff], "cannot be read"),
    ] {
        fs::write(&file, content).unwrap();
        let ran = label(&["127.0.0.1:1/a:1", file.to_str().unwrap(), "127.0.0.1:1/b:1"]);
        let message = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(1));
        assert!(message.contains(expected), "{message}");
    }
}
