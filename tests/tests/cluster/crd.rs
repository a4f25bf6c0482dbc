//! The project's CRD: the server takes it, and each of its CEL rules passes and fails where it should.

use llsd_generator::api::crd::crd;
use llsd_tests::cluster::{CRDS, Cluster, Request};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The server with the project's CRD installed.
pub(crate) fn server() -> &'static Cluster {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    let cluster = Cluster::shared();
    INSTALLED.get_or_init(|| {
        if let Err((_, answer)) = cluster.install_crds(std::slice::from_ref(crd())) {
            panic!("the API server refuses the CRD: {}", answer.message());
        }
    });
    cluster
}

/// Where objects of a version are created.
pub(crate) fn collection(version: &str) -> String {
    format!("/apis/llamastack.io/{version}/namespaces/default/llamastackdistributions")
}

#[test]
fn is_installed_with_both_versions() {
    let answer = server().send(Request::get(format!("{CRDS}/llamastackdistributions.llamastack.io")));
    let conditions = answer.body["status"]["conditions"].as_array().expect("conditions");
    assert!(
        !conditions.iter().any(|condition| condition["type"] == "NonStructuralSchema"),
        "the schema is not structural: {conditions:#?}"
    );
    assert_eq!(answer.body["status"]["acceptedNames"]["shortNames"], json!(["llsd"]));
    for version in ["v1alpha1", "v1alpha2"] {
        assert_eq!(server().send(Request::get(collection(version))).status, 200, "{version} is not served");
    }
}

/// The server estimates what every rule may cost at worst and refuses a CRD whose rules, alone or together, cost too
/// much. The estimate is made on create, so the CRD is created under another name.
#[test]
fn rules_stay_within_the_cost_budget() {
    let mut copy = crd().clone();
    copy["spec"]["group"] = json!("cost.llamastack.io");
    copy["metadata"]["name"] = json!("llamastackdistributions.cost.llamastack.io");
    let answer = Cluster::shared().send(Request::post(CRDS, &copy).dry());
    assert_eq!(answer.status, 201, "{}", answer.message());

    // That the server does look: without the bound on the list's length, the rule about unique ids costs too much.
    let list = "/spec/versions/1/schema/openAPIV3Schema/properties/spec/properties/providers/properties/inference";
    let schema = copy.pointer_mut(list).and_then(Value::as_object_mut).expect("providers.inference");
    assert!(schema.remove("maxItems").is_some());
    let answer = Cluster::shared().send(Request::post(CRDS, &copy).dry());
    assert_eq!(answer.status, 422);
    assert!(answer.message().contains("cost"), "{}", answer.message());
}

/// One entry of `rules.yaml`: a rule of the CRD, with objects that keep and break it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    at: String,
    message: String,
    #[serde(default)]
    name: Names,
    pass: Value,
    fail: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    pass: Option<String>,
    fail: Option<String>,
}

impl Rule {
    fn all() -> Vec<Self> {
        serde_yaml::from_str(include_str!("rules.yaml")).expect("rules.yaml")
    }

    fn version(&self) -> &str {
        self.at.split(' ').next().unwrap_or_default()
    }

    fn object(&self, spec: &Value, name: Option<&String>) -> Value {
        let mut spec = spec.clone();
        if self.version() == "v1alpha2" && spec.get("distribution").is_none() {
            spec["distribution"] = json!({"name": "starter"});
        }
        json!({
            "apiVersion": format!("llamastack.io/{}", self.version()),
            "kind": "LlamaStackDistribution",
            "metadata": {"name": name.map_or("rule", String::as_str)},
            "spec": spec,
        })
    }
}

/// The objects of a version that pass a rule.
pub(crate) fn passing_objects(version: &str) -> Vec<Value> {
    let rules = Rule::all().into_iter().filter(|rule| rule.version() == version);
    rules.map(|rule| rule.object(&rule.pass, rule.name.pass.as_ref())).collect()
}

/// The objects of a version that fail a rule, with the rule's message.
pub(crate) fn failing_objects(version: &str) -> Vec<(String, Value)> {
    let rules = Rule::all().into_iter().filter(|rule| rule.version() == version);
    rules.map(|rule| (rule.message.clone(), rule.object(&rule.fail, rule.name.fail.as_ref()))).collect()
}

#[test]
fn every_rule_passes_and_fails() {
    let rules = Rule::all();
    let requests = rules.iter().flat_map(|rule| {
        [
            Request::post(collection(rule.version()), &rule.object(&rule.pass, rule.name.pass.as_ref())).dry(),
            Request::post(collection(rule.version()), &rule.object(&rule.fail, rule.name.fail.as_ref())).dry(),
        ]
    });
    let answers = server().send_all(requests.collect());
    let mut wrong = Vec::new();
    for (rule, answers) in rules.iter().zip(answers.chunks(2)) {
        if !answers[0].accepted() {
            wrong.push(format!("{}: the object that should pass: {}", rule.at, answers[0].message()));
        }
        if !answers[1].causes().iter().any(|cause| cause.message.ends_with(&rule.message)) {
            wrong.push(format!("{}: not refused with {:?}, but: {}", rule.at, rule.message, answers[1].message()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_its_objects() {
    let mut stated = BTreeSet::new();
    for version in crd()["spec"]["versions"].as_array().expect("versions") {
        let name = version["name"].as_str().expect("a name");
        collect_rules(&version["schema"]["openAPIV3Schema"], name, "", &mut stated);
    }
    let tried: BTreeSet<_> = Rule::all().into_iter().map(|rule| (rule.at, general(&rule.message))).collect();
    let without: Vec<_> = stated.difference(&tried).collect();
    assert!(without.is_empty(), "rules of the CRD without an entry in rules.yaml: {without:#?}");
    let gone: Vec<_> = tried.difference(&stated).collect();
    assert!(gone.is_empty(), "entries of rules.yaml without a rule in the CRD: {gone:#?}");
}

/// A message that names a value is known by what stands before the value.
fn general(message: &str) -> String {
    message.split('"').next().unwrap_or_default().to_owned()
}

/// Collects place and message of every rule below a schema. `path` is the place of the schema: `spec.l[]`, `spec.m{}`.
fn collect_rules(schema: &Value, version: &str, path: &str, into: &mut BTreeSet<(String, String)>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let at = format!("{version} {path}").trim_end().to_owned();
        let message = match rule["messageExpression"].as_str() {
            // `'text "' + …`: the constant it begins with.
            Some(expression) => general(expression.trim_start_matches('\'')),
            None => general(rule["message"].as_str().expect("every rule has a message")),
        };
        assert!(into.insert((at.clone(), message.clone())), "two rules at {at} say {message:?}");
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        collect_rules(field, version, &below, into);
    }
    if schema["items"].is_object() {
        collect_rules(&schema["items"], version, &format!("{path}[]"), into);
    }
    if schema["additionalProperties"].is_object() {
        collect_rules(&schema["additionalProperties"], version, &format!("{path}{{}}"), into);
    }
}
