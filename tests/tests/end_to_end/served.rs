//! Servers of resources in v1alpha2.

use super::{ask, chat, models, world};
use llsd_tests::llama_stack::{FakeVllm, free_port};
use llsd_tests::operator::wait_until;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};

const MODEL: &str = "meta-llama/Llama-3.2-3B-Instruct";

fn spec(vllm: &FakeVllm, port: u16) -> Value {
    json!({
        "distribution": {"name": "starter"},
        "providers": {"inference": [{"provider": "vllm", "endpoint": vllm.endpoint()}]},
        "resources": {"models": [{"name": MODEL}]},
        "networking": {"port": port},
    })
}

#[test]
fn a_resource_becomes_a_server_that_answers_and_follows_changes() {
    let world = world();
    world.run(|| {
        let vllm = FakeVllm::start(&[MODEL, "another/model"]).unwrap();
        let port = free_port().unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let namespace = world.namespace("served");
        namespace.resource("llamastackdistributions", "stack", spec(&vllm, port));
        namespace.ready("stack");
        assert!(models(&url).contains(&format!("vllm/{MODEL}")), "{:?}", models(&url));
        assert_eq!(chat(&url, &format!("vllm/{MODEL}")), "A fixed answer.");
        let told = namespace.wait_for("stack", "tells the server's version", |object| {
            object["status"]["version"]["llamaStackServerVersion"] == "0.4.7"
        });
        let providers = told["status"]["distributionConfig"]["providers"].as_array().unwrap().clone();
        assert!(providers.iter().any(|provider| provider["provider_id"] == "vllm"), "{providers:?}");

        namespace.change("stack", json!({"resources": {"models": [{"name": "another/model"}]}}));
        wait_until("the other model is listed", || models(&url).contains(&"vllm/another/model".to_owned()));
        namespace.ready("stack");

        // A Secret that is not there: the server that runs goes on, and the resource says what is missing.
        let key = json!([{"provider": "vllm", "endpoint": vllm.endpoint(),
            "apiKey": {"secretKeyRef": {"name": "missing", "key": "token"}}}]);
        namespace.change("stack", json!({"providers": {"inference": key}}));
        namespace.wait_for("stack", "names the Secret", |object| {
            let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
            conditions
                .filter(|condition| condition["status"] == "False")
                .any(|condition| condition["message"].as_str().is_some_and(|message| message.contains("\"missing\"")))
        });
        // Pods share the machine's network: of two that overlap, one waits for the port.
        wait_until("the server goes on", || chat(&url, "vllm/another/model") == "A fixed answer.");
        namespace.secret("missing", json!({"token": "sesame"}));
        wait_until("the model server is asked with the key", || {
            chat(&url, "vllm/another/model");
            vllm.requests().iter().any(|request| request.ends_with("Bearer sesame"))
        });
        namespace.ready("stack");
    });
}

#[test]
fn tls_is_served_and_probed() {
    let world = world();
    world.run(|| {
        let vllm = FakeVllm::start(&[MODEL]).unwrap();
        let port = free_port().unwrap();
        let namespace = world.namespace("encrypted");
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        namespace.post(
            "secrets",
            &json!({"metadata": {"name": "server-cert"}, "type": "kubernetes.io/tls",
                "stringData": {"tls.crt": cert.pem(), "tls.key": signing_key.serialize_pem()}}),
        );
        let mut spec = spec(&vllm, port);
        spec["networking"]["tls"] = json!({"enabled": true, "secretName": "server-cert"});
        namespace.resource("llamastackdistributions", "stack", spec);
        namespace.ready("stack");
        assert!(models(&format!("https://127.0.0.1:{port}")).contains(&format!("vllm/{MODEL}")));
        assert_eq!(ask(&format!("http://127.0.0.1:{port}/v1/health"), None), None, "nothing is said in plain text");
    });
}
