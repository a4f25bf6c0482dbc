//! The cluster's network, as far as the operator needs it: what is asked of a Service reaches the pod behind it.

use super::pod::text;
use llsd_tests::cluster::{Cluster, Request};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

/// Listens at an address of its own: `/NAMESPACE/RESOURCE/PATH` is `PATH` of the resource's server.
pub(super) fn start(cluster: &'static Cluster) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || forward(cluster, stream));
        }
    });
    address
}

fn forward(cluster: &Cluster, mut stream: TcpStream) -> Option<()> {
    let mut head = BufReader::new(stream.try_clone().ok()?).lines();
    let line = head.next()?.ok()?;
    while !head.next()?.ok()?.is_empty() {}
    let path = line.split(' ').nth(1)?.to_owned();
    let (status, body) = match answer(cluster, &path) {
        Some(body) => ("200 OK", body),
        None => ("503 Service Unavailable", Vec::new()),
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len()).ok()?;
    stream.write_all(&body).ok()
}

fn answer(cluster: &Cluster, path: &str) -> Option<Vec<u8>> {
    let (namespace, rest) = path.strip_prefix('/')?.split_once('/')?;
    let (name, rest) = rest.split_once('/')?;
    let service = cluster.send(Request::get(format!("/api/v1/namespaces/{namespace}/services/{name}-service"))).body;
    let selector = service["spec"]["selector"].as_object()?;
    let pods = cluster.send(Request::get(format!("/api/v1/namespaces/{namespace}/pods"))).body;
    let chosen = pods["items"].as_array()?.iter().find(|pod| {
        let labels = &pod["metadata"]["labels"];
        let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        selector.iter().all(|(key, value)| labels[key] == *value)
            && conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    })?;
    let container = &chosen["spec"]["containers"][0];
    let port = &container["ports"][0]["containerPort"];
    let probe: &Value = &container["startupProbe"]["httpGet"];
    let scheme = if text(probe, "scheme") == "HTTPS" { "https" } else { "http" };
    let url = format!("{scheme}://127.0.0.1:{port}/{rest}");
    let asked =
        Command::new("curl").args(["--silent", "--fail", "--insecure", "--max-time", "60", &url]).output().ok()?;
    asked.status.success().then_some(asked.stdout)
}
