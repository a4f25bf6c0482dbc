//! What good resources notice of others that are made to hurt, and what the operator takes for it.

use crate::fleet::Fleet;
use crate::measure::{Meter, Window};
use llsd_generator::api::crd::crd;
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::Operator;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Good resources, and hostile ones beside them.
const GOOD: usize = 300;
const HOSTILE: usize = 100;

/// Prints how long the good ones take alone and beside the others.
pub(crate) fn run() {
    println!("\n{GOOD} good resources, alone and beside {HOSTILE} hostile ones\n");
    println!("| | good ones converged after | CPU until then | memory, peak |\n|---|---|---|---|");
    let line = |name: &str, (seconds, window): (f64, Window)| {
        println!("| {name} | {seconds:.2} s | {:.2} s | {:.1} MB |", window.cpu, window.peak);
        seconds
    };
    let alone = line("alone", converge(0));
    let beside = line("beside", converge(HOSTILE));
    println!("\n{:.2} times as long.", beside / alone);
}

/// Seconds until all good resources have converged, with so many hostile ones stored before the operator starts.
fn converge(hostile: usize) -> (f64, Window) {
    let cluster = Cluster::own();
    if let Err((_, answer)) = cluster.install_crds(&[lenient()]) {
        panic!("the API server refuses the CRD: {}", answer.message());
    }
    let fleet = Fleet::new(&cluster, GOOD);
    let registry = registry();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "hostile"}});
    assert!(cluster.send(Request::post("/api/v1/namespaces", &namespace)).accepted());
    for number in 0..hostile {
        let path = "/apis/llamastack.io/v1alpha2/namespaces/hostile/llamastackdistributions";
        let answer = cluster.send(Request::post(path, &resource(number, registry)));
        assert!(answer.accepted(), "{}", answer.message());
    }
    let converging = fleet.converging();
    let begun = Instant::now();
    let insecure = format!("--insecure-registries={registry}");
    let arguments = ["--enable-webhooks=false", "--registry-lookups=true", &insecure];
    let operator = Operator::start(&cluster, "ops", &arguments);
    let mut meter = Meter::new(&cluster, operator.pid());
    let seconds = converging.wait(&cluster).duration_since(begun).as_secs_f64();
    let window = meter.window();
    // What the hostile ones take comes later, too.
    thread::sleep(Duration::from_secs(if hostile == 0 { 0 } else { 60 }));
    (seconds, Window { peak: meter.peek().peak, ..window })
}

/// The CRD with a schema that takes anything, as one that is older than a rule.
fn lenient() -> Value {
    let mut crd = crd().clone();
    for version in crd["spec"]["versions"].as_array_mut().expect("versions") {
        version.as_object_mut().expect("a version").remove("selectableFields");
        version["schema"]["openAPIV3Schema"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    }
    crd
}

/// One of each kind in turn: a name that is a query, a registry that says nothing, one that never ends, thousands of
/// unknown settings, and hundreds of thousands of values.
fn resource(number: usize, registry: SocketAddr) -> Value {
    let provider =
        |settings: Value| json!({"inference": [{"provider": "vllm", "endpoint": "http://x/v1", "settings": settings}]});
    let image = |kind: &str| {
        json!({
            "distribution": {"image": format!("{registry}/{kind}/image-{number}:1")},
            "providers": provider(json!({"max_tokens": 1})),
        })
    };
    let starter = json!({"name": "starter"});
    let spec = match number % 5 {
        0 => {
            let bundle = json!({"configMapNamespace": "hostile/configmaps?watch=1&x=", "configMapName": "a"});
            json!({"distribution": starter, "networking": {"tls": {"caBundle": bundle}}})
        }
        1 => image("silent"),
        2 => image("endless"),
        3 => {
            let unknown = (0..20_000).map(|at| (format!("unknown_{at}"), json!(at))).collect();
            json!({"distribution": starter, "providers": provider(Value::Object(unknown))})
        }
        _ => json!({"distribution": starter, "providers": provider(json!({"a": vec![0; 300_000]}))}),
    };
    json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": format!("hostile-{number:03}")},
        "spec": spec,
    })
}

/// A registry that says nothing, or never ends, by the name of the image.
fn registry() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || speak(stream));
        }
    });
    address
}

fn speak(mut stream: TcpStream) {
    let mut head = [0; 2048];
    let length = stream.read(&mut head).unwrap_or_default();
    if String::from_utf8_lossy(&head[..length]).contains("/endless/") {
        let mut chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        while stream.write_all(&chunk).is_ok() {
            chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
        }
    } else {
        thread::sleep(Duration::from_secs(60));
    }
}
