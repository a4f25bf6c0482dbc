//! Certificates for the endpoint: made, read, and judged. Nothing here knows where they are kept.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, crypto::ring};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// What the subjects of our authorities begin with: how we know our own in a bundle.
const AUTHORITY: &str = "llama-stack-operator-webhook-ca";
/// How far the clocks of API servers may be behind ours; less for certificates that are hardly longer valid.
const SKEW: Duration = Duration::from_secs(300);
/// Authorities in one bundle. There are two while certificates change; more only after Secrets were lost.
const AUTHORITIES: usize = 8;

/// Why a certificate cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The certificate library refuses to make a key or certificate.
    #[error("the certificate cannot be made: {0}")]
    Make(#[from] rcgen::Error),
    /// The texts are not what they should be.
    #[error("{part} is not usable: {reason}")]
    Read {
        /// The file that is unusable: `tls.crt`, `tls.key` or `ca.crt`.
        part: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

fn unusable(part: &'static str, reason: impl ToString) -> CertificateError {
    CertificateError::Read { part, reason: reason.to_string() }
}

/// A new certificate, all in PEM.
pub(super) struct Made {
    pub(super) certificate: String,
    pub(super) key: String,
    /// The authority that signed it. Its key is gone: it signs nothing else, ever.
    pub(super) authority: String,
}

/// Makes an authority, and with it a certificate for `names`, both valid from now for `lifetime`.
pub(super) fn make(names: &[String], now: OffsetDateTime, lifetime: Duration) -> Result<Made, CertificateError> {
    let named = |name: String, mut params: CertificateParams| {
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = now - SKEW.min(lifetime / 20);
        params.not_after = now + lifetime;
        params
    };
    let mut authority = named(format!("{AUTHORITY}-{}", now.unix_timestamp()), CertificateParams::default());
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority_key = KeyPair::generate()?;
    let authority_certificate = authority.self_signed(&authority_key)?;

    let subject = names.first().cloned().unwrap_or_default();
    // A subject's common name is at most 64 characters; the names that count are the alternative ones.
    let subject = subject.chars().take(64).collect();
    let mut params = named(subject, CertificateParams::new(names.to_vec())?);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &Issuer::from_params(&authority, &authority_key))?;
    Ok(Made { certificate: certificate.pem(), key: key.serialize_pem(), authority: authority_certificate.pem() })
}

/// A certificate that can be shown.
#[derive(Clone, Debug)]
pub(super) struct Serving {
    pub(super) key: Arc<CertifiedKey>,
    pub(super) not_before: OffsetDateTime,
    pub(super) not_after: OffsetDateTime,
}

impl Serving {
    /// Reads a chain and its key from PEM.
    pub(super) fn read(certificate: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate)
            .collect::<Result<_, _>>()
            .map_err(|error| unusable("tls.crt", error))?;
        let leaf = chain.first().ok_or_else(|| unusable("tls.crt", "it holds no certificate"))?;
        let (not_before, not_after) = validity(leaf).ok_or_else(|| unusable("tls.crt", "it holds no certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| unusable("tls.key", error))?;
        let key = CertifiedKey::from_der(chain, key, &ring::default_provider())
            .map_err(|error| unusable("tls.key", error))?;
        Ok(Self { key: Arc::new(key), not_before, not_after })
    }

    /// Whether this is the same certificate as another.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.key.cert == other.key.cert
    }

    /// When to make the next one: when a third of the time is left.
    pub(super) fn renewal(&self) -> OffsetDateTime {
        self.not_after - (self.not_after - self.not_before) / 3
    }

    /// Whether one who trusts `authorities` (PEM) takes this certificate for each of `names`.
    pub(super) fn convinces(&self, authorities: &[u8], names: &[String], now: OffsetDateTime) -> bool {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(CertificateDer::pem_slice_iter(authorities).flatten());
        let provider = Arc::new(ring::default_provider());
        let Ok(verifier) = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build() else {
            return false;
        };
        let Some((leaf, chain)) = self.key.cert.split_first() else { return false };
        let Ok(seconds) = u64::try_from(now.unix_timestamp()) else { return false };
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        names.iter().all(|name| {
            ServerName::try_from(name.as_str())
                .is_ok_and(|name| verifier.verify_server_cert(leaf, chain, &name, &[], now).is_ok())
        })
    }
}

fn validity(certificate: &[u8]) -> Option<(OffsetDateTime, OffsetDateTime)> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    Some((parsed.validity().not_before.to_datetime(), parsed.validity().not_after.to_datetime()))
}

/// The authorities of all the given PEM texts that are still valid, each once, newest first: whoever puts the same
/// ones together gets the same text. Of texts that are not trusted as a whole, pass what [`ours`] leaves.
pub(super) fn bundle(texts: &[&[u8]], now: OffsetDateTime) -> String {
    let mut found: Vec<_> = texts
        .iter()
        .flat_map(|text| CertificateDer::pem_slice_iter(text).flatten())
        .filter_map(|der| validity(&der).map(|(from, until)| (from, until, der)))
        .filter(|(_, until, _)| *until > now)
        .collect();
    found.sort_by(|a, b| (b.0, a.2.as_ref()).cmp(&(a.0, b.2.as_ref())));
    found.dedup_by(|a, b| a.2 == b.2);
    found.truncate(AUTHORITIES);
    found.iter().map(|(_, _, der)| pem(der)).collect()
}

/// How many certificates of a PEM text are still valid now.
#[must_use]
pub fn unexpired(text: &[u8]) -> usize {
    bundle(&[text], OffsetDateTime::now_utc()).matches("BEGIN CERTIFICATE").count()
}

/// The authorities in a PEM text that operators of this kind have made.
pub(super) fn ours(text: &[u8]) -> String {
    CertificateDer::pem_slice_iter(text).flatten().filter(|der| is_ours(der)).map(|der| pem(&der)).collect()
}

fn is_ours(der: &[u8]) -> bool {
    X509Certificate::from_der(der).is_ok_and(|(_, parsed)| {
        let mut names = parsed.subject().iter_common_name();
        names.any(|name| name.as_str().is_ok_and(|name| name.starts_with(AUTHORITY)))
    })
}

fn pem(der: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    // Base64 is ASCII: any place is a character's.
    let lines: Vec<_> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(1_800_000_000).expect("a time")
    }

    fn names() -> Vec<String> {
        vec!["webhook.operators.svc".to_owned(), "127.0.0.1".to_owned()]
    }

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn what_is_made_convinces() {
        let made = make(&names(), now(), 90 * DAY).expect("a certificate");
        let serving = Serving::read(made.certificate.as_bytes(), made.key.as_bytes()).expect("it is usable");
        let convinces = |names: &[String], at| serving.convinces(made.authority.as_bytes(), names, at);
        assert!(convinces(&names(), now()));
        assert!(convinces(&names(), now() - SKEW), "a clock behind ours");
        assert!(!convinces(&names(), now() + 91 * DAY), "expired");
        assert!(!convinces(&["other.operators.svc".to_owned()], now()), "another name");
        let other = make(&names(), now(), 90 * DAY).expect("a certificate");
        assert!(!serving.convinces(other.authority.as_bytes(), &names(), now()), "another authority");
        assert!(!serving.convinces(b"", &names(), now()));
        assert!(serving.renewal() > now() + 59 * DAY && serving.renewal() < now() + 61 * DAY);
        let wrong = Serving::read(made.certificate.as_bytes(), other.key.as_bytes());
        assert!(wrong.is_err(), "the key of another certificate");
    }

    #[test]
    fn a_bundle_depends_on_nothing_but_its_certificates() {
        let old = make(&names(), now() - 80 * DAY, 90 * DAY).expect("a certificate").authority;
        let new = make(&names(), now(), 90 * DAY).expect("a certificate").authority;
        let gone = make(&names(), now() - 100 * DAY, 90 * DAY).expect("a certificate").authority;
        let one = bundle(&[old.as_bytes(), new.as_bytes()], now());
        let both = format!("{new}{old}{gone}nonsense");
        assert_eq!(one, bundle(&[both.as_bytes(), old.as_bytes()], now()));
        assert_eq!(one.matches("BEGIN CERTIFICATE").count(), 2);
        assert_eq!(one, bundle(&[one.as_bytes()], now()));
        assert_eq!(bundle(&[], now()), "");
        assert_eq!(ours(one.as_bytes()), one);
    }

    #[test]
    fn certificates_of_others_are_not_ours() {
        let made = make(&names(), now(), 90 * DAY).expect("a certificate");
        assert_eq!(ours(made.certificate.as_bytes()), "");
    }
}
