//! The real server starts with this project's configs and serves what they say.

use llsd_generator::distribution::BaseConfig;
use llsd_tests::llama_stack::{FakeVllm, NEWEST, Server};

use crate::server::samples::{generated, sample};
use llsd_generator::generate::Generated;

#[test]
fn the_minimal_sample_serves_its_provider_and_model() {
    let model = "meta-llama/Llama-3.2-3B-Instruct";
    let vllm = FakeVllm::start(&[model]).unwrap();
    let text = sample("minimal.yaml").replace("http://vllm.models.svc.cluster.local:8000/v1", &vllm.endpoint());
    let [Generated { config, .. }] = &generated(&text)[..] else { panic!("minimal.yaml is one resource") };
    assert!(config.text().contains(&vllm.endpoint()));
    let server = Server::start(config.text(), &[]).unwrap();
    assert!(server.list("/v1/providers", "provider_id").unwrap().contains(&"vllm".to_owned()));
    assert!(server.list("/v1/models", "id").unwrap().contains(&format!("vllm/{model}")));
}

#[test]
fn the_starter_config_serves_a_vllm_server() {
    let vllm = FakeVllm::start(&["test/model"]).unwrap();
    let endpoint = vllm.endpoint();
    let base = BaseConfig::embedded("starter").unwrap();
    let server = Server::start(base, &[("VLLM_URL", &endpoint), ("SAFETY_MODEL", "vllm/test/model")]).unwrap();
    assert!(server.list("/v1/providers", "provider_id").unwrap().contains(&"vllm".to_owned()));
    assert!(server.list("/v1/models", "id").unwrap().contains(&"vllm/test/model".to_owned()));
    assert_eq!(server.list("/v1/shields", "identifier").unwrap(), ["llama-guard"]);
    assert_eq!(server.list("/v1/toolgroups", "identifier").unwrap(), ["builtin::websearch", "builtin::rag"]);
    assert!(vllm.requests().iter().any(|request| request.starts_with("GET /v1/models")), "{:?}", vllm.requests());
}

#[test]
fn the_starter_config_of_the_newest_version_serves_a_vllm_server() {
    let vllm = FakeVllm::start(&["test/model"]).unwrap();
    let base = BaseConfig::of_version("starter", NEWEST).unwrap();
    let server = Server::start_version(NEWEST, base.text, &[("VLLM_URL", &vllm.endpoint())]).unwrap();
    assert!(server.list("/v1/providers", "provider_id").unwrap().contains(&"vllm".to_owned()));
    assert!(server.list("/v1/models", "id").unwrap().contains(&"vllm/test/model".to_owned()));
}

#[test]
fn the_starter_config_starts_without_any_variable() {
    let server = Server::start(BaseConfig::embedded("starter").unwrap(), &[]).unwrap();
    assert!(!server.list("/v1/providers", "provider_id").unwrap().contains(&"vllm".to_owned()));
    assert!(server.list("/v1/shields", "identifier").unwrap().is_empty());
}

#[test]
fn the_remote_vllm_config_serves_its_model() {
    let vllm = FakeVllm::start(&["test/model"]).unwrap();
    let env = [("VLLM_URL", vllm.endpoint()), ("INFERENCE_MODEL", "test/model".to_owned())];
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let server = Server::start(BaseConfig::embedded("remote-vllm").unwrap(), &env).unwrap();
    assert!(server.list("/v1/models", "id").unwrap().contains(&"vllm-inference/test/model".to_owned()));
}

#[test]
fn the_sample_with_models_tools_and_shields_registers_them() {
    let model = "meta-llama/Llama-3.1-8B-Instruct";
    let vllm = FakeVllm::start(&[model]).unwrap();
    let text =
        sample("models-tools-shields.yaml").replace("http://vllm.models.svc.cluster.local:8000/v1", &vllm.endpoint());
    let [Generated { config, .. }] = &generated(&text)[..] else { panic!("models-tools-shields.yaml is one resource") };
    let server = Server::start(config.text(), &[("LLSD_TAVILY_SEARCH_API_KEY", "key")]).unwrap();
    assert!(server.list("/v1/models", "id").unwrap().contains(&format!("vllm/{model}")));
    assert_eq!(server.list("/v1/shields", "identifier").unwrap(), ["llama-guard"]);
    let groups = server.get("/v1/toolgroups").unwrap();
    let groups = groups["data"].as_array().unwrap();
    let search = groups.iter().find(|group| group["identifier"] == "builtin::websearch").unwrap();
    assert_eq!(search["provider_id"], "tavily-search");
}

#[test]
fn the_meta_reference_gpu_config_starts_but_for_the_model() {
    // The model itself needs PyTorch, a GPU and a checkpoint: a vLLM provider takes its place.
    let vllm = FakeVllm::start(&["meta-llama/Llama-3.1-8B-Instruct"]).unwrap();
    let base = BaseConfig::embedded("meta-reference-gpu").unwrap();
    let (head, rest) = base.split_once("      provider_type: inline::meta-reference\n").unwrap();
    let (_, tail) = rest.split_once("    - provider_id: sentence-transformers\n").unwrap();
    let config = format!(
        "{head}      provider_type: remote::vllm\n      config:\n        base_url: {}\n    - provider_id: \
         sentence-transformers\n{tail}",
        vllm.endpoint()
    );
    let server = Server::start(&config, &[]).unwrap();
    let model = "meta-reference-inference/meta-llama/Llama-3.1-8B-Instruct".to_owned();
    assert!(server.list("/v1/models", "id").unwrap().contains(&model));
}
