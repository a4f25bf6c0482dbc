//! Certificates that somebody else keeps up to date in a folder, by the program itself.

use crate::operator_webhooks::hooks::{collection, free_address, object, shown, wait_until};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llsd_generator::api::crd::crd;
use llsd_operator::webhooks::CONVERT_PATH;
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::Operator;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use serde_json::json;
use std::fs;

#[test]
fn what_the_folder_holds_is_served_and_what_is_broken_is_not() {
    let cluster = Cluster::own();
    let bind = free_address();
    let made = || generate_simple_self_signed(vec![bind.ip().to_string()]).unwrap();
    let (first, second) = (made(), made());
    let bundle = format!("{}{}", first.cert.pem(), second.cert.pem());
    let folder = cluster.folder().join("mounted");
    fs::create_dir(&folder).unwrap();
    let put = |made: &CertifiedKey<KeyPair>| {
        fs::write(folder.join("tls.key"), made.signing_key.serialize_pem()).unwrap();
        fs::write(folder.join("tls.crt"), made.cert.pem()).unwrap();
    };
    put(&first);

    let mut definition = crd().clone();
    definition["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"url": format!("https://{bind}{CONVERT_PATH}"), "caBundle": STANDARD.encode(&bundle)},
        },
    });
    assert!(cluster.install_crds(&[definition]).is_ok());
    let mut operator = Operator::start(
        &cluster,
        "default",
        &[&format!("--webhook-cert-dir={}", folder.display()), &format!("--webhook-bind-address={bind}")],
    );
    operator.wait_ready();
    let serves = |made: &CertifiedKey<KeyPair>| {
        shown(&cluster, bind, &bind.ip().to_string(), bundle.as_bytes()).is_ok_and(|seen| seen == **made.cert.der())
    };
    assert!(serves(&first));
    let converts = || {
        let probe = object("v1alpha1", "probe", json!({"server": {"distribution": {"name": "starter"}}}));
        cluster.send(Request::post(collection("v1alpha1"), &probe).dry()).accepted()
    };
    wait_until("the API server converts", converts);

    put(&second);
    wait_until("the new certificate is shown", || serves(&second));
    assert!(converts());

    fs::write(folder.join("tls.crt"), "nothing of use").unwrap();
    wait_until("the broken file is told of", || operator.log().contains("no webhook certificate"));
    assert!(serves(&second), "the last good one stays");
    assert!(converts());
    fs::remove_file(folder.join("tls.key")).unwrap();
    put(&first);
    wait_until("a good one is taken again", || serves(&first));
}
