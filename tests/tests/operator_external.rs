//! The way of an external provider from its image into the real llama-stack: the containers' own scripts and the
//! merge, on a folder in place of the pod's.

use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::LlamaStackDistributionSpec;
use llsd_operator::external::merge::merge;
use llsd_operator::external::{Wanted, wanted};
use llsd_operator::resources::external::additions;
use llsd_operator::resources::{Config, Desired, FeatureFlags, Owner, V1Alpha1Only};
use llsd_operator::served::LLAMA_STACK;
use llsd_tests::llama_stack::{Folder, Server, python};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

/// Makes the content of a provider's image: a wheel with a provider that hands requests on as one of llama-stack's own does,
/// and puts its name before each answer.
const PACKAGE: &str = r#"
import pathlib
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
(folder / "packages").mkdir(parents=True)
(folder / "lls-provider-spec.yaml").write_text("""apiVersion: llamastack.io/v1alpha1
kind: ProviderPackage
spec:
  packageName: mine_provider
  providerType: remote::mine
  api: inference
  wheelPath: /lls-provider/packages/mine_provider-1.0-py3-none-any.whl
""")
with zipfile.ZipFile(folder / "packages" / "mine_provider-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("mine_provider/__init__.py", """
from llama_stack.providers.remote.inference.passthrough.passthrough import PassthroughInferenceAdapter

class Mine(PassthroughInferenceAdapter):
    async def openai_chat_completion(self, params):
        answer = await super().openai_chat_completion(params)
        message = answer.choices[0].message
        message.content = "Mine: " + message.content
        return answer

async def get_adapter_impl(config, _deps):
    return Mine(config)
""")
    wheel.writestr("mine_provider/provider.py", """
from llama_stack_api import Api, RemoteProviderSpec

def get_provider_spec():
    return RemoteProviderSpec(
        api=Api.inference,
        adapter_type="mine",
        provider_type="remote::mine",
        module="mine_provider",
        pip_packages=[],
        config_class="llama_stack.providers.remote.inference.passthrough.PassthroughImplConfig",
    )
""")
    wheel.writestr("mine_provider-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine-provider\nVersion: 1.0\n")
    wheel.writestr("mine_provider-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("mine_provider-1.0.dist-info/RECORD", "")
"#;

/// Writes the folder `/lls-provider` of a provider's image.
pub(crate) fn package(folder: &Path) {
    let made = Command::new(python()).args(["-c", PACKAGE]).arg(folder).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
}

fn spec() -> LlamaStackDistributionSpec {
    serde_json::from_value(json!({
        "distribution": {"name": "starter"},
        "externalProviders": {"inference": [{
            "providerId": "mine", "image": "quay.io/team/mine:1", "config": {"base_url": "http://127.0.0.1:9/v1"},
        }]},
    }))
    .unwrap()
}

/// The pod's init containers for a resource whose image brings its own configuration.
fn init_containers(spec: &LlamaStackDistributionSpec) -> Vec<Value> {
    let owner = Owner { served: &LLAMA_STACK, name: "a".to_owned(), namespace: "b".to_owned(), uid: "c".to_owned() };
    let desired = Desired {
        owner: &owner,
        spec,
        v1alpha1_only: &V1Alpha1Only::default(),
        ogx: None,
        written_as: ApiVersion::V1Alpha2,
        image: "quay.io/team/server:1",
        config: Config::Image,
        ca_bundle: None,
        secrets_digest: None,
        derived: &[],
        flags: &FeatureFlags {
            network_policy: false,
            router_namespaces: Vec::new(),
            restricted_pods: true,
            anyuid: false,
        },
        operator_namespace: "operators",
        operator_image: Some("quay.io/team/operator:1"),
        openshift: false,
        live: None,
    };
    additions(&desired).init_containers
}

/// Runs a container's command here: `root` stands for the shared folder, and more variables for what its image has.
fn run(container: &Value, root: &Path, more: &[(&str, &str)]) -> Output {
    let script = container["command"][2].as_str().unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).env_clear();
    let path = format!("{}:/usr/bin:/bin", python().parent().unwrap().display());
    command.env("PATH", path);
    for variable in container["env"].as_array().unwrap() {
        let value = variable["value"].as_str().unwrap();
        let value = value.replace(llsd_operator::external::ROOT, root.to_str().unwrap());
        command.env(variable["name"].as_str().unwrap(), value);
    }
    command.envs(more.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_provider_of_an_image_serves_in_the_real_server() {
    let folder = Folder::new("external").unwrap();
    let image = folder.path().join("lls-provider");
    package(&image);
    let root = folder.path().join("shared");
    let spec = spec();
    let containers = init_containers(&spec);
    let [install, extract, merge_config] = containers.as_slice() else { panic!("{containers:#?}") };

    // Twice, as when the pod's containers run again.
    for _ in 0..2 {
        let installed = run(install, &root, &[("PACKAGE", image.to_str().unwrap())]);
        assert!(installed.status.success(), "{}", text(&installed.stderr));
    }
    let extracted = run(extract, &root, &[]);
    assert!(extracted.status.success(), "{}", text(&extracted.stderr));
    let list = merge_config["env"][0]["value"].as_str().unwrap();
    let report = merge(&root.join("base/config.yaml"), &root, list).unwrap();
    assert_eq!((report.providers, report.warnings), (vec!["mine".to_owned()], Vec::new()));

    // The image's configuration needs more than the tests have installed; the merge goes into a small one, too.
    let small = "version: 2\nimage_name: small\napis: []\nproviders: {}\n\
                 storage:\n  backends:\n    kv_default: {type: kv_sqlite, db_path: KV}\n    \
                 sql_default: {type: sql_sqlite, db_path: SQL}\n  stores:\n    \
                 metadata: {namespace: registry, backend: kv_default}\n    \
                 inference: {table_name: inference, backend: sql_default}\n    \
                 conversations: {table_name: conversations, backend: sql_default}\n    \
                 prompts: {namespace: prompts, backend: kv_default}\n";
    let small = ["KV", "SQL"].iter().fold(small.to_owned(), |text, name| {
        text.replacen(name, folder.path().join(name.to_lowercase()).to_str().unwrap(), 1)
    });
    let base = folder.path().join("small.yaml");
    std::fs::write(&base, small).unwrap();
    merge(&base, &root, list).unwrap();
    let config = std::fs::read_to_string(root.join("config/config.yaml")).unwrap();
    let packages = root.join("python").join(wanted(&spec)[0].folder());
    let stubs = llsd_tests::llama_stack::scripts().join("stubs");
    let paths = format!("{}:{}", packages.display(), stubs.display());
    let server = Server::start(&config, &[("PYTHONPATH", &paths)]).unwrap();
    assert_eq!(server.list("/v1/providers", "provider_type").unwrap(), ["remote::mine"]);
    assert_eq!(server.list("/v1/providers", "provider_id").unwrap(), ["mine"]);
}

#[test]
fn images_that_are_no_packages_say_so() {
    let folder = Folder::new("external-broken").unwrap();
    let root = folder.path().join("shared");
    let install = &init_containers(&spec())[0];
    let image = folder.path().join("image");
    let fails = |words: &str| {
        let output = run(install, &root, &[("PACKAGE", image.to_str().unwrap())]);
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    };
    fails("it is not a provider package");
    std::fs::create_dir_all(image.join("packages")).unwrap();
    std::fs::write(image.join("lls-provider-spec.yaml"), "kind: ProviderPackage\n").unwrap();
    fails("the image has no wheel");
    std::fs::write(image.join("packages/mine_provider-1.0-py3-none-any.whl"), "no zip").unwrap();
    fails("mine_provider");
    assert!(!root.join("metadata/mine/lls-provider-spec.yaml").exists(), "a failed installation is not merged");

    let unknown: LlamaStackDistributionSpec = serde_json::from_value(json!({
        "distribution": {"name": "no-such"},
        "externalProviders": {"inference": [{"providerId": "mine", "image": "x"}]},
    }))
    .unwrap();
    let output = run(&init_containers(&unknown)[1], &root, &[]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("no configuration for distribution 'no-such'"), "{}", text(&output.stderr));
}

#[test]
fn the_list_survives_the_way_through_a_variable() {
    let spec = spec();
    let containers = init_containers(&spec);
    let list: Vec<Wanted> = serde_json::from_str(containers[2]["env"][0]["value"].as_str().unwrap()).unwrap();
    assert_eq!(list, wanted(&spec));
}
