//! What labels can say, well and badly.

use crate::operator_oci::registry::{PASSWORD, Server, USER, layer};
use base64::Engine as _;
use llsd_operator::oci::{Credential, Limits, OciError, Registry, parse_docker_config};
use llsd_operator::served::Labels;
use serde_json::json;

pub(crate) const CONFIG: &str = "version: 2\nimage_name: test\napis: [inference]\n";

pub(crate) fn encoded(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn asker(server: &Server) -> Registry {
    let limits = Limits { layer: 200_000, unpacked: 1_000_000, config: 10_000, ..Limits::default() };
    Registry::new(limits, server.insecure(), None)
}

pub(crate) fn credential(server: &Server, password: &str) -> Vec<Credential> {
    let config = json!({"auths": {server.address.to_string(): {"auth": encoded(&format!("{USER}:{password}"))}}});
    parse_docker_config(config.to_string().as_bytes()).unwrap()
}

#[tokio::test]
async fn a_config_in_the_label_itself() {
    let server = Server::open();
    let labels = json!({"io.llamastack.config.base64": encoded(CONFIG), "io.llamastack.config.version": "2"});
    let (image, digest) = server.push("base64:1", labels, vec![layer(&[("a", b"x")], true)]).await;
    let found = asker(&server).config(&image, &[]).await.unwrap().unwrap();
    assert_eq!((found.text.as_str(), &found.digest, found.version.as_deref()), (CONFIG, &digest, Some("2")));
    // The same by its digest.
    let pinned = format!("{}@{digest}", image.trim_end_matches(":1"));
    assert_eq!(asker(&server).config(&pinned, &[]).await.unwrap().unwrap(), found);
}

#[tokio::test]
async fn a_config_in_a_layer() {
    let server = Server::open();
    for packed in [true, false] {
        let wanted = layer(&[("etc/hosts", b"x"), ("app/config.yaml", CONFIG.as_bytes())], packed);
        let labels = json!({
            "io.llamastack.config.layer": wanted.sha256_digest(),
            "io.llamastack.config.path": "/app/config.yaml",
        });
        let layers = vec![layer(&[("app/config.yaml", b"of another layer")], true), wanted];
        let (image, _) = server.push(&format!("layer:{packed}"), labels, layers).await;
        assert_eq!(asker(&server).config(&image, &[]).await.unwrap().unwrap().text, CONFIG);
    }
}

#[tokio::test]
async fn a_config_of_ogx_is_the_file_that_a_label_names() {
    let server = Server::open();
    let (default, file) = ("com.ogx.distribution.default-config", "com.ogx.config.config.yaml");
    let asker = asker(&server).labelled(Labels::Ogx);
    let found = |name: &'static str, labels| {
        let (server, asker) = (&server, &asker);
        async move {
            let (image, _) = server.push(name, labels, vec![layer(&[("a", b"x")], true)]).await;
            asker.config(&image, &[]).await.map(|config| config.map(|config| config.text))
        }
    };
    let whole =
        json!({default: "config.yaml", file: encoded(CONFIG), "com.ogx.config.other.yaml": encoded("other: 1")});
    assert_eq!(found("ogx:1", whole).await, Ok(Some(CONFIG.to_owned())));
    assert_eq!(found("ogx:2", json!({file: encoded(CONFIG)})).await, Ok(None), "none is named");
    assert_eq!(found("ogx:3", json!({"io.llamastack.config.base64": encoded(CONFIG)})).await, Ok(None));
    for (name, labels, words) in [
        ("ogx:4", json!({default: "config.yaml"}), "the image has no label \"com.ogx.config.config.yaml\""),
        ("ogx:5", json!({default: ""}), "no name of a file"),
        ("ogx:6", json!({default: "x".repeat(300)}), "no name of a file"),
        ("ogx:7", json!({default: "config.yaml", file: "%%%"}), "Invalid"),
        ("ogx:8", json!({default: "config.yaml", file: encoded("x").repeat(4_000)}), "larger than 10000 bytes"),
    ] {
        let error = found(name, labels).await.unwrap_err();
        assert!(matches!(error, OciError::Label { .. }) && error.to_string().contains(words), "{name}: {error}");
        assert!(error.to_string().len() < 300, "{name}: what a label says is not repeated at length");
    }
}

#[tokio::test]
async fn images_without_labels_have_no_config() {
    let server = Server::open();
    for (name, labels) in [("none:1", json!(null)), ("other:1", json!({"maintainer": "x"}))] {
        let (image, _) = server.push(name, labels, vec![layer(&[("a", b"x")], true)]).await;
        assert_eq!(asker(&server).config(&image, &[]).await, Ok(None));
    }
}

#[tokio::test]
async fn broken_labels_are_named() {
    let server = Server::open();
    let good = layer(&[("config.yaml", CONFIG.as_bytes())], true);
    let large = layer(&[("config.yaml", &[b'x'; 20_000])], true);
    // Random bytes do not pack: this one is too large to be transferred.
    let noise: Vec<u8> = (0..300_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let huge = layer(&[("noise", &noise), ("config.yaml", CONFIG.as_bytes())], false);
    let bomb = layer(&[("zeros", &vec![0; 2_000_000]), ("config.yaml", CONFIG.as_bytes())], true);
    let text = layer(&[("config.yaml", &[0xff, 0xfe])], true);
    let mut noise = good.clone();
    noise.data = b"\x1f\x8bnot gzip at all".to_vec().into();
    let by_layer = |layer: &oci_client::client::ImageLayer, path: &str| json!({"io.llamastack.config.layer": layer.sha256_digest(), "io.llamastack.config.path": path});
    let base64 = "io.llamastack.config.base64";
    let cases = [
        ("a", json!({base64: "%%%"}), &good, base64, "Invalid"),
        ("b", json!({base64: encoded("x").repeat(4_000)}), &good, base64, "larger than 10000 bytes"),
        ("c", json!({base64: "//8="}), &good, base64, "not UTF-8"),
        (
            "d",
            json!({"io.llamastack.config.layer": good.sha256_digest()}),
            &good,
            "io.llamastack.config.path",
            "missing",
        ),
        ("e", json!({"io.llamastack.config.path": "x"}), &good, "io.llamastack.config.layer", "missing"),
        ("f", by_layer(&large, "config.yaml"), &good, "io.llamastack.config.layer", "the image has no layer"),
        (
            "g",
            by_layer(&good, "other.yaml"),
            &good,
            "io.llamastack.config.path",
            "the layer has no file \"other.yaml\"",
        ),
        ("h", by_layer(&large, "config.yaml"), &large, "io.llamastack.config.layer", "larger than 10000 bytes"),
        ("i", by_layer(&huge, "config.yaml"), &huge, "io.llamastack.config.layer", "layer is larger than 200000 bytes"),
        ("j", by_layer(&bomb, "config.yaml"), &bomb, "io.llamastack.config.layer", "unpacks to more than 1000000"),
        ("k", by_layer(&text, "config.yaml"), &text, "io.llamastack.config.path", "not UTF-8"),
        ("l", by_layer(&noise, "config.yaml"), &noise, "io.llamastack.config.layer", ""),
    ];
    for (name, labels, layer, label, words) in cases {
        let (image, _) = server.push(&format!("broken-{name}:1"), labels, vec![layer.clone()]).await;
        let error = asker(&server).config(&image, &[]).await.unwrap_err();
        let OciError::Label { label: named, .. } = &error else { panic!("{name}: {error:?}") };
        assert_eq!(*named, label, "{name}");
        assert!(error.to_string().contains(words), "{name}: {error}");
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn a_private_registry_wants_the_right_pull_secret() {
    let server = Server::private();
    let labels = json!({"io.llamastack.config.base64": encoded(CONFIG)});
    let (image, _) = server.push("team/private:1", labels, vec![layer(&[("a", b"x")], true)]).await;
    let asker = asker(&server);
    let wrong = credential(&server, "wrong");
    let right = credential(&server, PASSWORD);
    assert_eq!(asker.config(&image, &right).await.unwrap().unwrap().text, CONFIG);
    // The next ones are tried after those that are refused.
    let both = [wrong.clone(), right].concat();
    assert_eq!(asker.config(&image, &both).await.unwrap().unwrap().text, CONFIG);
    // What one was told is not told to another.
    for credentials in [&[][..], &wrong] {
        let error = asker.config(&image, credentials).await.unwrap_err();
        assert!(matches!(error, OciError::Denied { .. }), "{error:?}");
        assert!(!error.to_string().contains("wrong") && !error.to_string().contains(USER), "{error}");
    }
}
