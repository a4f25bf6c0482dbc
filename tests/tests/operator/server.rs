//! What running servers say about themselves, and how little it matters when they say nothing.

use crate::operator::setup::{bare, minimal, start_bare};
use llsd_tests::operator::{Audit, wait_until};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Servers of all resources at one address: what one answers follows from the resource's name.
fn servers() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> Option<()> {
    let mut head = BufReader::new(stream.try_clone().ok()?).lines();
    let line = head.next()?.ok()?;
    while !head.next()?.ok()?.is_empty() {}
    let path = line.split(' ').nth(1)?;
    let (status, body) = match path.split('/').nth(2)? {
        "slow" => {
            thread::sleep(Duration::from_secs(120));
            return None;
        }
        "broken" => ("500 Internal Server Error", "{}"),
        "nonsense" => ("200 OK", "<html>"),
        "moves" => return moved(&mut stream, &line),
        _ if path.ends_with("/v1/version") => ("200 OK", r#"{"version": "0.4.7"}"#),
        _ => (
            "200 OK",
            r#"{"data": [
                {"api": "inference", "provider_id": "vllm", "provider_type": "remote::vllm",
                 "config": {"url": "http://vllm"}, "health": {"status": "OK", "message": "fine"}},
                {"api": "safety", "provider_id": "guard", "provider_type": "inline::llama-guard"}
            ]}"#,
        ),
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).ok()
}

/// How often a server's redirect was followed.
static FOLLOWED: AtomicUsize = AtomicUsize::new(0);

/// Sends whoever asks to the good server, by way of a place that counts.
fn moved(stream: &mut TcpStream, line: &str) -> Option<()> {
    if line.contains("followed") {
        FOLLOWED.fetch_add(1, Ordering::SeqCst);
    }
    let place = "/server/moves/followed/v1/providers";
    write!(stream, "HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()
}

#[test]
fn version_and_providers_are_told_and_a_server_that_does_not_answer_holds_up_nobody() {
    let system = bare().operator_namespace("server-system");
    let namespace = bare().namespace("server");
    let template = format!("--server-url-template=http://{}/{{namespace}}/{{name}}", servers());
    let operator = start_bare(&system, "server", &["--server-probes=true", &template]);
    let names = ["slow", "broken", "nonsense", "moves", "good"];
    for name in names {
        namespace.resource("llamastackdistributions", name, minimal());
    }
    let ready = namespace.wait_for("good", "tells its version", |object| {
        object["status"]["version"]["llamaStackServerVersion"] == "0.4.7"
            && object["status"]["distributionConfig"]["providers"].is_array()
    });
    assert_eq!(
        ready["status"]["distributionConfig"]["providers"],
        json!([
            {"api": "inference", "provider_id": "vllm", "provider_type": "remote::vllm",
             "config": {"url": "…"}, "health": {"status": "OK", "message": "fine"}},
            {"api": "safety", "provider_id": "guard", "provider_type": "inline::llama-guard",
             "config": {}, "health": {"status": "", "message": ""}},
        ])
    );
    for name in names {
        assert_eq!(namespace.ready(name)["status"]["phase"], "Ready");
    }
    assert_eq!(FOLLOWED.load(Ordering::SeqCst), 0);
    // Asking goes on, and writes nothing while the answers are the same.
    let audit = Audit::from_now(bare().cluster);
    thread::sleep(Duration::from_secs(6));
    assert_eq!(audit.writes("server"), []);
    let before = operator.metric("llsd_operator_reconciles_total");
    namespace.merge("llamastackdistributions", "slow", &json!({"metadata": {"labels": {"touched": "yes"}}}));
    wait_until("it is looked at", || operator.metric("llsd_operator_reconciles_total") > before);
    namespace.change("slow", json!({"workload": {"replicas": 0}}));
    namespace.ready("slow");
}
