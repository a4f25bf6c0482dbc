//! What good resources, and whoever writes one, notice of others that are made to hurt, and what the operator takes for it.

use crate::fleet::Fleet;
use crate::measure::{Meter, Window};
use crate::neighbours;
use crate::writers::{self, End};
use llsd_generator::api::crd::crd;
use llsd_operator::served::LLAMA_STACK;
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::{Operator, free_address};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// Good resources, and hostile ones beside them.
const GOOD: usize = 300;
const HOSTILE: usize = 100;
/// Connections to the webhooks that say nothing, or begin a request that never ends.
const IDLE: usize = 200;
/// How long the hostile ones go on after the good ones have converged: what they take comes later, too.
const AFTER: Duration = Duration::from_secs(60);

/// How one round went for the good resources.
struct Outcome {
    /// Until all good resources had converged.
    seconds: f64,
    /// Until then; its peak is that of the whole run.
    window: Window,
    /// Milliseconds that writes of a valid resource took, in ascending order.
    writes: Vec<f64>,
}

/// Prints how long the good ones take alone, beside the others, and alone once more: the machine may not be the same all
/// the time.
pub(crate) fn run() {
    println!("\n{GOOD} good resources, alone and beside {HOSTILE} hostile ones and {IDLE} idle connections\n");
    println!("| | good ones converged after | CPU until then | memory, peak | a valid write: median, p99, longest |");
    println!("|---|---|---|---|---|");
    let line = |name: &str, outcome: Outcome| {
        let Outcome { seconds, window, writes } = outcome;
        let at = |part: usize| writes.get(writes.len() * part / 100).copied().unwrap_or_default();
        let last = writes.last().copied().unwrap_or_default();
        println!(
            "| {name} | {seconds:.2} s | {:.2} s | {:.1} MB | {:.0}, {:.0}, {last:.0} ms of {} |",
            window.cpu,
            window.peak,
            at(50),
            at(99),
            writes.len()
        );
        seconds
    };
    let before = line("alone", converge(0));
    let beside = line("beside", converge(HOSTILE));
    let after = line("alone again", converge(0));
    println!("\n{:.2} times as long.", beside / f64::midpoint(before, after));
}

/// The good ones converge, with so many hostile ones stored before the operator starts.
fn converge(hostile: usize) -> Outcome {
    let cluster = Cluster::own();
    if let Err((_, answer)) = cluster.install_crds(&[lenient()]) {
        panic!("the API server refuses the CRD: {}", answer.message());
    }
    let fleet = Fleet::new(&cluster, &LLAMA_STACK, GOOD);
    let registry = neighbours::registry();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "hostile"}});
    assert!(cluster.send(Request::post("/api/v1/namespaces", &namespace)).accepted());
    for number in 0..hostile {
        let path = "/apis/llamastack.io/v1alpha2/namespaces/hostile/llamastackdistributions";
        let answer = cluster.send(Request::post(path, &resource(number, registry)));
        assert!(answer.accepted(), "{}", answer.message());
    }
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let answer = cluster.send(Request::post(path, &webhooks()));
    assert!(answer.accepted(), "{}", answer.message());

    let webhook = free_address();
    let converging = fleet.converging();
    let begun = Instant::now();
    let arguments = [
        format!("--webhook-bind-address={webhook}"),
        format!("--webhook-url=https://{webhook}"),
        "--registry-lookups=true".to_owned(),
        format!("--insecure-registries={registry}"),
    ];
    let operator = Operator::start(&cluster, "ops", &arguments.each_ref().map(String::as_str));
    let mut meter = Meter::new(&cluster, operator.pid());
    let idle = neighbours::idle(&cluster, webhook, if hostile == 0 { 0 } else { IDLE });
    let ended = AtomicBool::new(false);
    let (seconds, window, writes) = thread::scope(|scope| {
        let end = End(&ended);
        let writer = scope.spawn(|| writers::good(&cluster, &ended));
        if hostile > 0 {
            scope.spawn(|| writers::heavy(&cluster, &ended));
        }
        let seconds = converging.wait(&cluster).duration_since(begun).as_secs_f64();
        let window = meter.window();
        thread::sleep(AFTER);
        drop(end);
        (seconds, window, writer.join().expect("every write of a good resource is taken"))
    });
    drop(idle);
    // Whatever anybody stored, everybody can read the others in the older version.
    let list = cluster.send(Request::get("/apis/llamastack.io/v1alpha1/llamastackdistributions?limit=500"));
    assert!(list.accepted(), "{} {}", list.status, list.message());
    assert_eq!(list.body["items"].as_array().map(Vec::len), Some(GOOD + hostile));
    Outcome { seconds, window: Window { peak: meter.peek().peak, ..window }, writes }
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

/// The webhook configuration of the installation. The operator writes its own address into it.
fn webhooks() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../operator/deploy/base/webhooks.yaml");
    let text = std::fs::read_to_string(path).expect("the manifest");
    let mut objects = serde_yaml::Deserializer::from_str(&text).map(|it| Value::deserialize(it).expect("YAML"));
    objects.find(|object| object["kind"] == "ValidatingWebhookConfiguration").expect("the configuration")
}

/// One of each kind in turn.
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
    let mut metadata = json!({"name": format!("hostile-{number:03}")});
    let mut keep = |text: &str| metadata["annotations"] = json!({"llamastack.io/v1alpha1-fields": text});
    let spec = match number % 10 {
        // A name that is a query without end.
        0 => {
            let bundle = json!({"configMapNamespace": "hostile/configmaps?watch=1&x=", "configMapName": "a"});
            json!({"distribution": starter, "networking": {"tls": {"caBundle": bundle}}})
        }
        // Registries.
        1 => image("silent"),
        2 => image("endless"),
        3 => image("elsewhere"),
        4 => image("broken"),
        // Work and memory.
        5 => {
            let unknown = (0..9_500).map(|at| (format!("unknown_{at}"), json!(at))).collect();
            json!({"distribution": starter, "providers": provider(Value::Object(unknown))})
        }
        6 => json!({"distribution": starter, "providers": provider(json!({"a": vec![0; 300_000]}))}),
        // Conversion.
        7 => {
            keep("\"too large\"");
            json!({"distribution": starter})
        }
        8 => {
            keep(r#"[{"path": ["metadata", "uid"], "from": null, "to": "other"}]"#);
            json!({"distribution": starter})
        }
        _ => {
            metadata["finalizers"] = json!(vec!["a/b"; 200_000]);
            json!({"distribution": starter})
        }
    };
    json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": metadata,
        "spec": spec,
    })
}
