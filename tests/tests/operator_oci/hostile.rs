//! Registries that want to hurt: they send without end, lead elsewhere, ask for logins, and say things that are to be
//! repeated.

use crate::operator_oci::labels::{CONFIG, encoded};
use crate::operator_oci::registry::{Server, layer};
use llsd_operator::oci::{Limits, OciError, Registry, parse_docker_config};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// What must be in no message.
const SECRET_WORDS: &str = "words-of-the-registry";

/// Answers every request with `answer(request)`, where `{self}` stands for its own address. Returns that address and the
/// heads of the requests so far.
async fn speaking(answer: fn(&str) -> Vec<u8>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let all = Arc::clone(&all);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => head.push(byte),
                        Err(_) => return,
                    }
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                all.lock().unwrap().push(head.clone());
                let _ = stream.write_all(&answer(&head)).await;
                if head.contains("/endless/") {
                    let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat();
                    while stream.write_all(&chunk).await.is_ok() {}
                }
            });
        }
    });
    (address, asked)
}

fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn registry(address: &str) -> Registry {
    Registry::new(Limits::default(), vec![address.to_owned()], None)
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let (address, _) = speaking(|_| b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()).await;
    let error = registry(&address).config(&format!("{address}/endless/x:1"), &[]).await.unwrap_err();
    let OciError::Registry { reason, .. } = &error else { panic!("{error:?}") };
    assert!(reason.contains("larger than 4194304 bytes"), "{reason}");
}

#[tokio::test]
async fn nobody_is_asked_who_is_not_the_registry() {
    let (victim, hits) = speaking(|_| response("200 OK", "", "{}")).await;
    static VICTIM: Mutex<String> = Mutex::new(String::new());
    *VICTIM.lock().unwrap() = victim;
    let (address, _) = speaking(|head| {
        let victim = VICTIM.lock().unwrap().clone();
        let place = format!("http://{victim}/v1/secret");
        if head.contains("/login/") {
            response("401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{place}\"\r\n"), "")
        } else if head.contains("/blobs/") || head.contains("/manifest-moves/") {
            response("307 Temporary Redirect", &format!("Location: {place}\r\n"), "")
        } else {
            let manifest = json!({
                "schemaVersion": 2,
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": {"mediaType": "x", "size": 2, "digest": format!("sha256:{}", "0".repeat(64))},
                "layers": [],
            });
            response("200 OK", "", &manifest.to_string())
        }
    })
    .await;
    let registry = registry(&address);
    for name in ["login", "manifest-moves", "blob-moves"] {
        let error = registry.config(&format!("{address}/{name}/x:1"), &[]).await.unwrap_err();
        assert!(matches!(error, OciError::Registry { .. }), "{name}: {error:?}");
    }
    assert_eq!(*hits.lock().unwrap(), Vec::<String>::new());
    // Without a word of an administrator, this machine is not asked at all.
    let (address, hits) = speaking(|_| response("200 OK", "", "{}")).await;
    let strict = Registry::new(Limits::default(), Vec::new(), None);
    for host in [address.clone(), address.replace("127.0.0.1", "localhost")] {
        let error = strict.config(&format!("{host}/x:1"), &[]).await.unwrap_err();
        assert!(matches!(error, OciError::Registry { .. }), "{error:?}");
    }
    assert_eq!(*hits.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn what_a_registry_says_is_not_repeated() {
    for status in ["500 Internal Server Error", "200 OK", "404 Not Found", "403 Forbidden", "429 Too Many Requests"] {
        static STATUS: Mutex<String> = Mutex::new(String::new());
        *STATUS.lock().unwrap() = status.to_owned();
        let (address, _) = speaking(|_| {
            let body = json!({"errors": [{"code": SECRET_WORDS, "message": SECRET_WORDS, "detail": SECRET_WORDS}]});
            response(&STATUS.lock().unwrap(), "", &body.to_string())
        })
        .await;
        let error = registry(&address).config(&format!("{address}/x:1"), &[]).await.unwrap_err();
        assert!(!error.to_string().contains(SECRET_WORDS), "{error}");
    }
}

#[tokio::test]
async fn a_login_is_sent_to_its_own_site_only() {
    static REALM: Mutex<String> = Mutex::new(String::new());
    let (address, asked) = speaking(|head| {
        let challenge = format!("WWW-Authenticate: Bearer realm=\"{}\",service=\"s\"\r\n", REALM.lock().unwrap());
        if head.contains("/token") {
            response("200 OK", "", &json!({"token": "t"}).to_string())
        } else if head.contains("Bearer t") {
            response("404 Not Found", "", "")
        } else {
            response("401 Unauthorized", &challenge, "")
        }
    })
    .await;
    *REALM.lock().unwrap() = format!("http://{address}/token");
    let config = json!({"auths": {&address: {"username": "u", "password": "p"}}});
    let login = parse_docker_config(config.to_string().as_bytes()).unwrap();
    let error = registry(&address).config(&format!("{address}/a/b:1"), &login).await.unwrap_err();
    assert!(matches!(error, OciError::NotFound { .. }), "{error:?}");
    let heads = asked.lock().unwrap().clone();
    let token = heads.iter().find(|head| head.contains("/token")).expect("a login");
    assert!(
        token.contains("scope=repository%3Aa%2Fb%3Apull") && token.to_lowercase().contains("authorization: basic"),
        "{token}"
    );

    *REALM.lock().unwrap() = "https://registry.example.invalid/token".to_owned();
    let error = registry(&address).config(&format!("{address}/a/c:1"), &login).await.unwrap_err();
    assert!(error.to_string().contains("--registries"), "{error}");
}

#[tokio::test]
async fn only_the_registries_of_the_list_are_asked() {
    let server = Server::open();
    let labels = json!({"io.llamastack.config.base64": encoded(CONFIG)});
    let (image, _) = server.push("listed:1", labels, vec![layer(&[("a", b"x")], true)]).await;
    let listed =
        |list: &[&str]| registry(&server.address.to_string()).only(list.iter().map(ToString::to_string).collect());
    let own = server.address.to_string();
    assert_eq!(listed(&["quay.io", &own]).config(&image, &[]).await.unwrap().unwrap().text, CONFIG);
    let error = listed(&["quay.io"]).config(&image, &[]).await.unwrap_err();
    assert!(matches!(&error, OciError::NotAsked { registry } if *registry == own), "{error:?}");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn what_does_not_have_its_digest_does_not_count() {
    let (address, _) = speaking(|_| response("200 OK", "", "{}")).await;
    let image = format!("{address}/x@sha256:{}", "0".repeat(64));
    let error = registry(&address).config(&image, &[]).await.unwrap_err();
    assert!(error.to_string().contains("does not have the digest"), "{error}");
}
