//! An API server whose webhooks are served by this process.

use llsd_generator::api::crd::crd;
use llsd_generator::ogx;
use llsd_operator::webhooks::{
    CONVERT_PATH, Certificates, Endpoint, Options, Readiness, Surroundings, VALIDATE_OGX_PATH, VALIDATE_PATH,
    WEBHOOK_NAME, serve,
};
use llsd_tests::cluster::{Answer, Cluster, Request};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

/// Name of the webhook configuration.
pub(crate) const CONFIGURATION: &str = "llama-stack-operator";

/// Name of the Service that the webhook configurations point at.
pub(crate) const SERVICE: &str = "webhook-service";

/// A label of resources that the webhooks of [`server`] are not asked about, but those of a test.
pub(crate) const ASKED_BY: &str = "asked-by";

/// The API server with both versions served, converted and checked by this process.
pub(crate) fn server() -> &'static Cluster {
    // Not the shared one: what is installed here changes what that one accepts.
    static STARTED: OnceLock<Cluster> = OnceLock::new();
    STARTED.get_or_init(|| {
        let cluster = Cluster::own();
        if let Err((_, answer)) = cluster.install_crds(&[crd().clone(), ogx::crd::definition()]) {
            panic!("the API server refuses a CRD: {}", answer.message());
        }
        let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
        let mut installed = configuration();
        for webhook in installed["webhooks"].as_array_mut().unwrap() {
            let absent = json!({"key": ASKED_BY, "operator": "DoesNotExist"});
            webhook["objectSelector"] = json!({"matchExpressions": [absent]});
        }
        let answer = cluster.send(Request::post(path, &installed));
        assert!(answer.accepted(), "{}", answer.message());
        let bind = free_address();
        let options = Options {
            bind,
            certificates: Certificates::Own {
                client: cluster.client(),
                namespace: "default".to_owned(),
                endpoint: Endpoint::Url(format!("https://{bind}")),
                configuration: CONFIGURATION.to_owned(),
                lifetime: Duration::from_secs(86_400),
            },
            surroundings: Some(Surroundings::new(cluster.client(), Arc::default(), "default")),
            drain: Duration::ZERO,
        };
        let readiness = Readiness::default();
        cluster.runtime().spawn(serve(options, readiness.clone(), CancellationToken::new()));
        wait_until("the webhooks are ready", || readiness.is_ready());
        // The API server takes a moment to use what was written into the CRD.
        let probe = object("v1alpha1", "probe", json!({"server": {"distribution": {"name": "starter"}}}));
        wait_until("the API server converts", || {
            cluster.send(Request::post(collection("v1alpha1"), &probe).dry()).accepted()
        });
        cluster
    })
}

/// The CRD as it is installed with the operator, with a Service that is nowhere.
pub(crate) fn crd_with_service() -> Value {
    let mut crd = crd().clone();
    crd["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": SERVICE, "namespace": "default", "path": CONVERT_PATH}},
        },
    });
    crd
}

/// The webhook configuration as it is installed, for both kinds, with a Service that is nowhere.
pub(crate) fn configuration() -> Value {
    let mut of_ogx = webhook_of_ogx();
    of_ogx["clientConfig"]["service"] = json!({"name": SERVICE, "namespace": "default", "path": VALIDATE_OGX_PATH});
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": CONFIGURATION},
        "webhooks": [{
            "name": WEBHOOK_NAME,
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": SERVICE, "namespace": "default", "path": VALIDATE_PATH}},
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "matchConditions": match_conditions(),
            "sideEffects": "None",
            "rules": [{
                "apiGroups": ["llamastack.io"],
                "apiVersions": ["v1alpha2"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["llamastackdistributions"],
            }],
        }, of_ogx],
    })
}

/// The webhook that the component for `OGXServer` adds to the installation.
fn webhook_of_ogx() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../operator/deploy/components/ogx/kustomization.yaml");
    let component: Value = serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let patches = component["patches"].as_array().unwrap();
    let adds = |patch: &&Value| patch["target"]["kind"] == "ValidatingWebhookConfiguration";
    let patch = patches.iter().find(adds).unwrap()["patch"].as_str().unwrap();
    let mut operations: Value = serde_yaml::from_str(patch).unwrap();
    operations[0]["value"].take()
}

/// When the API server asks, by the manifest of the installation.
fn match_conditions() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../operator/deploy/base/webhooks.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let documents = serde_yaml::Deserializer::from_str(&text).map(|document| Value::deserialize(document).unwrap());
    let mut configurations = documents.filter(|object| object["kind"] == "ValidatingWebhookConfiguration");
    configurations.next().unwrap()["webhooks"][0]["matchConditions"].take()
}

pub(crate) use llsd_tests::operator::{free_address, wait_until};

/// The certificate that the server at `address` shows to one who trusts `bundle` (PEM) and wants `name`; an error if that
/// one is not convinced.
pub(crate) fn shown(cluster: &Cluster, address: SocketAddr, name: &str, bundle: &[u8]) -> Result<Vec<u8>, String> {
    let stream = cluster.runtime().block_on(connected(address, name, bundle))?;
    Ok(stream.get_ref().1.peer_certificates().unwrap()[0].to_vec())
}

/// A connection to the server at `address`, as [`shown`] makes one.
pub(crate) async fn connected(address: SocketAddr, name: &str, bundle: &[u8]) -> Result<TlsStream<TcpStream>, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(bundle).flatten());
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| error.to_string())
}

/// Where objects of a version are created.
pub(crate) fn collection(version: &str) -> String {
    format!("/apis/llamastack.io/{version}/namespaces/default/llamastackdistributions")
}

/// An object of a version.
pub(crate) fn object(version: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": format!("llamastack.io/{version}"),
        "kind": "LlamaStackDistribution",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    })
}

/// The body of an answer that must be good.
pub(crate) fn good(answer: Answer) -> Value {
    assert!(answer.accepted(), "{} {}", answer.status, answer.message());
    answer.body
}

/// Reads one object in a version.
pub(crate) fn read(version: &str, name: &str) -> Value {
    good(server().send(Request::get(format!("{}/{name}", collection(version)))))
}
