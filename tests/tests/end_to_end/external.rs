//! A provider that comes as an image: pulled, installed and merged by the pod's init containers, the last of which runs the
//! operator's own image.

use super::{chat, models, operator_image, world};
use crate::operator_external::package;
use crate::operator_oci::registry::{Server, layer};
use llsd_tests::llama_stack::{FakeVllm, Folder, free_port};
use llsd_tests::operator::{binary, condition};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const MODEL: &str = "test/model";

/// Pushes an image that holds a provider's package and nothing else; returns its reference.
fn push_provider(registry: &Server, folder: &Folder) -> String {
    let package_folder = folder.path().join("lls-provider");
    package(&package_folder);
    let paths = ["lls-provider-spec.yaml", "packages/mine_provider-1.0-py3-none-any.whl"];
    let files = paths.map(|path| (format!("lls-provider/{path}"), std::fs::read(package_folder.join(path)).unwrap()));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    let pushed = registry.push("mine-provider:1", json!({}), vec![layer(&files, true)]);
    tokio::runtime::Runtime::new().unwrap().block_on(pushed).0
}

/// Makes the operator's image as a release does, and pushes it.
fn push_operator(registry: &Server, folder: &Folder) {
    let layout = folder.path().join("operator");
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../release/image.sh");
    run(Command::new(script).arg(&layout).arg("test").arg(format!("amd64={}", binary().display())));
    let mut skopeo = Command::new("skopeo");
    skopeo.args(["copy", "--quiet", "--all", "--dest-tls-verify=false"]);
    run(skopeo.arg(format!("oci:{}:test", layout.display())).arg(format!("docker://{}", operator_image(registry))));
}

/// Waits until the status says of the provider what it should.
fn told(object: &Value, phase: &str, words: &str) -> bool {
    let provider = &object["status"]["externalProviders"][0];
    provider["phase"] == phase && provider["message"].as_str().unwrap_or_default().contains(words)
}

#[test]
fn a_provider_from_an_image_is_installed_and_serves() {
    let world = world();
    world.run(|| {
        let folder = Folder::new("external").unwrap();
        let image = push_provider(&world.registry, &folder);
        push_operator(&world.registry, &folder);
        let vllm = FakeVllm::start(&[MODEL]).unwrap();
        let port = free_port().unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let namespace = world.namespace("external");
        let provider = |image: &str| {
            json!([{
                "providerId": "mine",
                "image": image,
                "config": {"base_url": vllm.endpoint().trim_end_matches("/v1"), "api_key": "sesame"},
            }])
        };
        let models_of_it = json!({"models": [{"name": MODEL, "provider": "mine"}]});
        let spec = json!({
            "distribution": {"name": "starter"},
            "externalProviders": {"inference": provider(&image.replace(":1", ":2"))},
            "resources": models_of_it,
            "networking": {"port": port},
        });
        namespace.resource("llamastackdistributions", "stack", spec);
        namespace.wait_for("stack", "says that there is no such image", |object| {
            told(object, "Failed", "cannot be pulled") && told(object, "Failed", "manifest unknown")
        });

        let elsewhere = json!({"inference": null, "safety": provider(&image)});
        namespace.change("stack", json!({"externalProviders": elsewhere, "resources": null}));
        namespace.wait_for("stack", "says that the image is for another API", |object| {
            told(object, "Failed", "serves the API inference, but is listed under safety")
        });

        let right = json!({"inference": provider(&image), "safety": null});
        namespace.change("stack", json!({"externalProviders": right, "resources": models_of_it}));
        let ready = namespace.ready("stack");
        assert!(told(&ready, "Ready", ""), "{ready:#}");
        assert_eq!(condition(&ready, "ExternalProvidersReady")["status"], "True", "{ready:#}");
        let model = format!("mine/{MODEL}");
        assert!(models(&url).contains(&model), "{:?}", models(&url));
        assert_eq!(chat(&url, &model), "Mine: A fixed answer.", "the provider's own code answers");
        assert!(vllm.requests().iter().any(|request| request.ends_with("/v1/chat/completions Bearer sesame")));
    });
}
