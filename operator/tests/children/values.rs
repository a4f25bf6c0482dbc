//! Values that are taken apart: connection strings, passwords, bundles of certificates.

use llsd_generator::generate::DerivedKind;
use llsd_operator::resources::ca_bundle::{CaError, MAX_CERTIFICATES, Source, assemble, check_keys};
use llsd_operator::resources::derived::{DerivedError, parts};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn postgres(url: &str) -> Result<BTreeMap<&'static str, String>, DerivedError> {
    parts(DerivedKind::Postgres, url.as_bytes())
}

#[test]
fn a_postgres_url_becomes_its_parts() {
    let found = postgres("postgresql://llama:p%40ss:w/rd@db.data.svc:5433/stack?sslmode=require&application_name=x\n");
    // The slash was not encoded, so it ends the address: that is an error, not a guess.
    assert_eq!(found, Err(DerivedError::Missing("user")));
    let found =
        postgres("postgresql://llama:p%40ss:w%2Frd@db.data.svc:5433/stack?sslmode=require&application_name=x\n")
            .expect("parts");
    assert_eq!(found["host"], "db.data.svc");
    assert_eq!(found["port"], "5433");
    assert_eq!(found["db"], "stack?ssl=require&application_name=x");
    assert_eq!(found["user"], "llama");
    assert_eq!(found["password"], "p%40ss%3Aw%2Frd");
}

#[test]
fn ports_default_and_addresses_may_be_ipv6() {
    assert_eq!(postgres("postgres://u:p@[fd00::1]/d").expect("parts")["host"], "[fd00::1]");
    assert_eq!(postgres("postgres://u:p@[fd00::1]/d").expect("parts")["port"], "5432");
    assert_eq!(postgres("postgresql+asyncpg://u:p@[fd00::1]:6000/d").expect("parts")["port"], "6000");
}

/// llama-stack turns them into numbers or booleans otherwise, and then refuses them.
#[test]
fn values_that_read_as_numbers_are_written_so_that_they_do_not() {
    let found = postgres("postgresql://007:1e5@h/2024").expect("parts");
    assert_eq!((&*found["user"], &*found["password"], &*found["db"]), ("%3007", "%31e5", "2024?"));
    assert_eq!(parts(DerivedKind::RedisPassword, b"True").expect("a password")["password"], "%54rue");
    assert_eq!(parts(DerivedKind::RedisPassword, b"nan").expect("a password")["password"], "%6Ean");
    assert_eq!(parts(DerivedKind::RedisPassword, b"1_0").expect("a password")["password"], "%31_0");
}

#[test]
fn errors_say_what_is_wrong_and_quote_nothing() {
    let secret = "hunter2";
    for (url, expected) in [
        (format!("mysql://u:{secret}@h/d"), DerivedError::Scheme),
        (format!("host=h password={secret}"), DerivedError::Scheme),
        (format!("postgresql://{secret}@h/d"), DerivedError::Missing("password")),
        (format!("postgresql://{secret}:@h/d"), DerivedError::Missing("password")),
        (format!("postgresql://:{secret}@h/d"), DerivedError::Missing("user")),
        (format!("postgresql://h/d?password={secret}"), DerivedError::Missing("user")),
        (format!("postgresql://u:{secret}@/d"), DerivedError::Missing("host")),
        (format!("postgresql://u:{secret}@h"), DerivedError::Missing("database")),
        (format!("postgresql://u:{secret}@a:1,b:2/d"), DerivedError::Hosts),
        (format!("postgresql://u:{secret}@h:0/d"), DerivedError::Port),
        (format!("postgresql://u:{secret}@h:port/d"), DerivedError::Port),
        (format!("postgresql://u:{secret}%zz@h/d"), DerivedError::Encoding("password")),
        (String::new(), DerivedError::Empty),
    ] {
        let error = postgres(&url).expect_err("no parts");
        assert_eq!(error, expected);
        assert!(!format!("{error} {error:?}").contains(secret));
    }
    assert_eq!(parts(DerivedKind::RedisPassword, &[0xff]), Err(DerivedError::NotText));
    assert_eq!(parts(DerivedKind::RedisPassword, b"\n"), Err(DerivedError::Empty));
}

proptest! {
    /// Python's `unquote` gives the password back, and nothing in it can end a part of a URL.
    #[test]
    fn passwords_survive(password in "[^\r\n]{1,40}") {
        let written = parts(DerivedKind::RedisPassword, password.as_bytes()).expect("a password")["password"].clone();
        prop_assert!(written.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)));
        prop_assert!(written.replace('_', "").parse::<f64>().is_err());
        let url = format!("postgresql://u:{written}@h/d");
        prop_assert_eq!(&postgres(&url).expect("parts")["password"], &written);
        let mut bytes = Vec::new();
        let mut rest = written.bytes();
        while let Some(byte) = rest.next() {
            if byte == b'%' {
                let digits = [rest.next().expect("a digit"), rest.next().expect("a digit")];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).expect("digits"), 16).expect("a byte"));
            } else {
                bytes.push(byte);
            }
        }
        prop_assert_eq!(bytes, password.into_bytes());
    }

    #[test]
    fn no_value_panics(value in any::<Vec<u8>>(), text in "(-----(BEGIN|END) [A-Z]{0,5}CERTIFICATE-----\n|[A-Za-z=:\n]{0,9}){0,9}") {
        let _ = parts(DerivedKind::Postgres, &value);
        let _ = bundle(&text);
    }
}

fn certificate() -> String {
    let made = rcgen::generate_simple_self_signed(vec!["example.com".to_owned()]).expect("a certificate");
    made.cert.pem().replace("\r\n", "\n")
}

fn bundle(text: &str) -> Result<Option<String>, CaError> {
    of(&[], &[("ca-bundle.crt", text)])
}

fn of(keys: &[&str], data: &[(&str, &str)]) -> Result<Option<String>, CaError> {
    let keys: Vec<_> = keys.iter().map(|key| (*key).to_owned()).collect();
    let data = data.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let source = Source { namespace: "team", name: "my-ca", keys: &keys, data: &data };
    Ok(assemble(&[source], None)?.map(|assembled| assembled.pem))
}

#[test]
fn only_certificates_are_taken() {
    let (one, two) = (certificate(), certificate());
    let key = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n";
    let text = format!("subject=first\n{one}{key}issuer=second\n{two}");
    assert_eq!(bundle(&text), Ok(Some(format!("{one}\n{two}"))));
}

#[test]
fn keys_are_taken_in_their_order() {
    let (one, two) = (certificate(), certificate());
    let data = [("a.crt", one.as_str()), ("b.crt", two.as_str())];
    assert_eq!(of(&["b.crt", "a.crt"], &data), Ok(Some(format!("{two}\n{one}"))));
}

#[test]
fn open_data_hub_comes_last_sorted_and_its_faults_are_skipped() {
    let (own, first, second) = (certificate(), certificate(), certificate());
    let data = BTreeMap::from([("ca-bundle.crt".to_owned(), own.clone())]);
    let odh = BTreeMap::from([
        ("z".to_owned(), second.clone()),
        ("a".to_owned(), first.clone()),
        ("m".to_owned(), "no certificate".to_owned()),
        ("empty".to_owned(), " \n".to_owned()),
    ]);
    let source = Source { namespace: "team", name: "my-ca", keys: &[], data: &data };
    let found = assemble(&[source], Some(&odh)).expect("a bundle").expect("certificates");
    assert_eq!(found.pem, format!("{own}\n{first}\n{second}"));
    assert_eq!(found.certificates, 3);
    assert_eq!(found.skipped, [("m".to_owned(), CaError::NoCertificate("m".to_owned()))]);
}

#[test]
fn white_space_is_no_bundle_and_no_error() {
    assert_eq!(bundle(""), Ok(None));
    assert_eq!(bundle(" \n\n"), Ok(None));
    assert_eq!(assemble(&[], Some(&BTreeMap::from([("a".to_owned(), "\n".to_owned())]))), Ok(None));
    assert_eq!(assemble(&[], None), Ok(None));
}

#[test]
fn what_is_wrong_with_a_bundle_is_said_with_the_key() {
    assert_eq!(bundle("text"), Err(CaError::NoCertificate("ca-bundle.crt".to_owned())));
    let broken = "-----BEGIN CERTIFICATE-----\nc2VjcmV0\n-----END CERTIFICATE-----\n";
    let error = bundle(broken).expect_err("no certificate").to_string();
    assert!(error.starts_with("failed to parse X.509 certificate from key 'ca-bundle.crt': "), "{error}");
    let error = of(&["other"], &[]).expect_err("no such key").to_string();
    assert_eq!(error, "failed to find CA bundle key 'other' in ConfigMap team/my-ca");
    for key in ["", "..", "a..b", "a/b", "-a", &"a".repeat(254)] {
        assert_eq!(check_keys(&[key.to_owned()]), Err(CaError::InvalidKey(key.to_owned())));
    }
    assert_eq!(check_keys(&["ca.crt".to_owned(), "a_b-c".to_owned()]), Ok(()));
}

#[test]
fn limits_are_kept() {
    let one = certificate();
    assert_eq!(bundle(&one.repeat(MAX_CERTIFICATES + 1)), Err(CaError::TooMany));
    let many = MAX_CERTIFICATES.min(1024 * 1024 / one.len());
    assert!(bundle(&one.repeat(many - 20)).is_ok());
    let long = rcgen::generate_simple_self_signed(vec![format!("{}.example.com", "a".repeat(60)); 30]).expect("one");
    let long = long.cert.pem();
    let fill = 1024 * 1024 / long.len() + 1;
    assert!(fill < MAX_CERTIFICATES);
    assert!(matches!(bundle(&long.repeat(fill)), Err(CaError::DoesNotFit(_))));
}
