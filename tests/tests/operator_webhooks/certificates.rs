//! Replicas that share a certificate: who makes it, who is told of it, and how it is replaced while it is in use.

use crate::operator_webhooks::hooks::{
    CONFIGURATION, SERVICE, configuration, crd_with_service, free_address, good, shown, wait_until,
};
use llsd_operator::webhooks::{
    Certificates, Endpoint, OGX_WEBHOOK_NAME, Options, Readiness, SECRET_NAME, WEBHOOK_NAME, serve,
};
use llsd_tests::cluster::{CRDS, Cluster, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

struct Replica {
    address: SocketAddr,
    _end: DropGuard,
}

impl Replica {
    /// Starts one whose certificates are valid for `lifetime`, and waits until it is ready.
    fn start(cluster: &Cluster, lifetime: Duration) -> (Self, Readiness) {
        let (address, end, readiness) = (free_address(), CancellationToken::new(), Readiness::default());
        let options = Options {
            bind: address,
            certificates: Certificates::Own {
                client: cluster.client(),
                namespace: "default".to_owned(),
                endpoint: Endpoint::Service { name: SERVICE.to_owned() },
                configuration: CONFIGURATION.to_owned(),
                lifetime,
            },
            surroundings: None,
            drain: Duration::ZERO,
        };
        cluster.runtime().spawn(serve(options, readiness.clone(), end.clone()));
        (Self { address, _end: end.drop_guard() }, readiness)
    }

    /// What it shows to one who trusts `bundle` (PEM); an error if that one is not convinced.
    fn certificate(&self, cluster: &Cluster, bundle: &[u8]) -> Result<Vec<u8>, String> {
        shown(cluster, self.address, &format!("{SERVICE}.default.svc"), bundle)
    }
}

fn decoded(base64: &Value) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(base64.as_str().unwrap_or_default()).unwrap()
}

fn crd(cluster: &Cluster) -> Value {
    good(cluster.send(Request::get(format!("{CRDS}/llamastackdistributions.llamastack.io"))))
}

fn hook(cluster: &Cluster) -> Value {
    good(cluster.send(Request::get(format!("{CONFIGURATIONS}/{CONFIGURATION}"))))
}

/// What the API server trusts for conversion.
fn trusted(cluster: &Cluster) -> Vec<u8> {
    decoded(&crd(cluster)["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"])
}

fn fields_of(object: &Value, manager: &str) -> Value {
    let all = object["metadata"]["managedFields"].as_array().unwrap();
    let entry = all.iter().find(|entry| entry["manager"] == manager && entry["operation"] == "Apply");
    entry.map(|entry| entry["fieldsV1"].clone()).unwrap_or_default()
}

/// One story, in the order in which it happens in a cluster; each step starts from what the one before left.
#[test]
fn replicas_share_one_certificate_and_renew_it_in_use() {
    let cluster = Cluster::own();
    cluster.install_crds(&[crd_with_service()]).unwrap();
    good(cluster.send(Request::post(CONFIGURATIONS, &configuration())));

    // Two that start at once: one of them makes the certificate, the other takes it.
    let lifetime = Duration::from_secs(40);
    let (first, ready) = Replica::start(&cluster, lifetime);
    let (second, also) = Replica::start(&cluster, lifetime);
    wait_until("both replicas are ready", || ready.is_ready() && also.is_ready());
    let shown = first.certificate(&cluster, &trusted(&cluster)).unwrap();
    assert_eq!(second.certificate(&cluster, &trusted(&cluster)).unwrap(), shown);

    // They own the bundle and nothing else.
    let manager = "llama-stack-operator-webhooks";
    let bundle = json!({"f:caBundle": {}});
    assert_eq!(
        fields_of(&crd(&cluster), manager),
        json!({"f:spec": {"f:conversion": {"f:webhook": {"f:clientConfig": bundle}}}})
    );
    let of_webhook = json!({".": {}, "f:name": {}, "f:clientConfig": bundle});
    let webhooks = [WEBHOOK_NAME, OGX_WEBHOOK_NAME].map(|name| (format!("k:{{\"name\":\"{name}\"}}"), &of_webhook));
    assert_eq!(fields_of(&hook(&cluster), manager), json!({"f:webhooks": BTreeMap::from(webhooks)}));
    assert_eq!(crd(&cluster)["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"], SERVICE);
    assert_eq!(hook(&cluster)["webhooks"][0]["clientConfig"]["service"]["name"], SERVICE);

    // Taken away by somebody, it comes back.
    let nothing = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": null}}}}});
    good(cluster.send(Request::merge(format!("{CRDS}/llamastackdistributions.llamastack.io"), &nothing)));
    wait_until("the bundle is back", || !trusted(&cluster).is_empty());
    first.certificate(&cluster, &trusted(&cluster)).unwrap();

    // A lost Secret is made again. Whoever still shows the old certificate is trusted, at every moment.
    let secret = format!("{SECRETS}/{SECRET_NAME}");
    good(cluster.send(Request::delete(&secret)));
    let both_show_another = |than: &[u8]| {
        let certificate = |replica: &Replica| replica.certificate(&cluster, &trusted(&cluster)).unwrap();
        let (one, two) = (certificate(&first), certificate(&second));
        one == two && one != than
    };
    wait_until("a new certificate after the Secret was lost", || both_show_another(&shown));
    let held = decoded(&good(cluster.send(Request::get(&secret)))["data"]["ca.crt"]);
    let shown = first.certificate(&cluster, &held).unwrap();

    // It is renewed in time, and again nobody is ever distrusted.
    wait_until("a renewed certificate", || both_show_another(&shown));
    let secret_now = good(cluster.send(Request::get(&secret)));
    assert_eq!(secret_now["type"], "kubernetes.io/tls");
    assert_ne!(decoded(&secret_now["data"]["ca.crt"]), held);

    // Nobody was there to renew it, and it expired: the next one to start makes a new one.
    let last = first.certificate(&cluster, &trusted(&cluster)).unwrap();
    drop((first, second));
    let before = trusted(&cluster);
    wait_until("all authorities have expired", || {
        use llsd_operator::webhooks::unexpired;
        unexpired(&before) == 0
    });
    let (late, ready) = Replica::start(&cluster, Duration::from_secs(86_400));
    wait_until("the late replica is ready", || ready.is_ready());
    assert_ne!(late.certificate(&cluster, &trusted(&cluster)).unwrap(), last);
    assert_eq!(String::from_utf8(trusted(&cluster)).unwrap().matches("BEGIN").count(), 1, "expired ones are gone");
}
