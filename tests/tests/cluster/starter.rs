//! The starter itself: it must not leave servers behind.

use llsd_test_client::comes_about;
use llsd_tests::cluster::Cluster;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// The pipe closes when the process that holds it is gone, whatever ended it.
#[test]
fn servers_stop_with_the_pipe_of_their_owner() {
    let folder = std::env::temp_dir().join(format!("llsd-starter-{}", std::process::id()));
    let mut starter = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/up.sh"))
        .args([folder.as_os_str(), "--attached".as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("up.sh starts");
    let mut line = String::new();
    BufReader::new(starter.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let servers: Vec<_> = ["etcd", "apiserver"]
        .map(|name| fs::read_to_string(folder.join(format!("{name}.pid"))).expect("a process id"))
        .map(|pid| Path::new("/proc").join(pid.trim()))
        .into();
    assert!(servers.iter().all(|server| server.exists()), "{servers:?}");

    drop(starter.stdin.take());
    let gone = comes_about(|| !servers.iter().any(|server| server.exists()));
    assert!(gone, "still running: {servers:?}");
    assert!(starter.wait().expect("it ends").success());
    fs::remove_dir_all(folder).expect("the folder is ours");
}

/// Not even a process that is killed together with the one that watches over its servers leaves them behind for good.
#[test]
fn servers_of_the_dead_stop_when_the_next_are_started() {
    let mut owner = Command::new("true").spawn().expect("a process");
    owner.wait().expect("it ends");
    let folder = std::env::temp_dir().join("llsd-cluster").join(format!("{}-0", owner.id()));
    let status = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/up.sh"))
        .arg(&folder)
        .stdout(Stdio::null())
        .status()
        .expect("up.sh runs");
    assert!(status.success());
    let servers: Vec<_> = ["etcd", "apiserver"]
        .map(|name| fs::read_to_string(folder.join(format!("{name}.pid"))).expect("a process id"))
        .map(|pid| Path::new("/proc").join(pid.trim()))
        .into();
    assert!(servers.iter().all(|server| server.exists()), "{servers:?}");
    drop(Cluster::own());
    assert!(!folder.exists(), "{}", folder.display());
    assert!(!servers.iter().any(|server| server.exists()), "still running: {servers:?}");
}
