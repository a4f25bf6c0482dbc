//! What derived Secrets hold: values of the user's Secrets, in the form that llama-stack can use.
//!
//! llama-stack puts these values into URLs of its own, and turns whatever reads as a number or a boolean into one. So
//! they are percent-encoded, and never look like a number. No error quotes any part of a value.

use llsd_generator::generate::DerivedKind;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::collections::BTreeMap;

/// Why a value cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DerivedError {
    /// The bytes of the Secret are not UTF-8.
    #[error("the value is not UTF-8 text")]
    NotText,
    /// The value has no characters but line breaks.
    #[error("the value is empty")]
    Empty,
    /// It is another kind of URL, or none.
    #[error("the value is no PostgreSQL URL: it must begin with postgresql://")]
    Scheme,
    /// A part of a connection string is missing; it is named as in the message.
    #[error("the PostgreSQL URL has no {0}: it must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE")]
    Missing(&'static str),
    /// It has more than one host.
    #[error("the PostgreSQL URL names several hosts: llama-stack connects to one")]
    Hosts,
    /// The port is no number.
    #[error("the port of the PostgreSQL URL is no number between 1 and 65535")]
    Port,
    /// Percent signs that encode nothing.
    #[error("the {0} of the PostgreSQL URL is not percent-encoded properly: a percent sign is written as %25")]
    Encoding(&'static str),
}

/// The port of PostgreSQL where the URL names none.
const POSTGRES_PORT: &str = "5432";
/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The keys and values of a derived Secret, made from the value of the user's. A line break at the end of the value
/// does not count.
///
/// # Errors
/// The value cannot be used. The error says why without quoting it.
pub fn parts(kind: DerivedKind, value: &[u8]) -> Result<BTreeMap<&'static str, String>, DerivedError> {
    let value = std::str::from_utf8(value).map_err(|_| DerivedError::NotText)?.trim_end_matches(['\r', '\n']);
    if value.is_empty() {
        return Err(DerivedError::Empty);
    }
    match kind {
        DerivedKind::RedisPassword => Ok(BTreeMap::from([("password", encode(value.as_bytes()))])),
        DerivedKind::Postgres => postgres(value),
    }
}

fn postgres(url: &str) -> Result<BTreeMap<&'static str, String>, DerivedError> {
    let (scheme, rest) = url.split_once("://").ok_or(DerivedError::Scheme)?;
    // SQLAlchemy's form names a driver too: `postgresql+asyncpg`. llama-stack has its own.
    if !matches!(scheme.split('+').next(), Some("postgresql" | "postgres")) {
        return Err(DerivedError::Scheme);
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (before, query) = rest.split_once('?').map_or((rest, None), |(before, query)| (before, Some(query)));
    let (authority, database) = before.split_once('/').unwrap_or((before, ""));
    // A password with an `@` that nobody encoded is not in doubt: hosts have none.
    let (login, address) = authority.rsplit_once('@').ok_or(DerivedError::Missing("user"))?;
    let (user, password) = login.split_once(':').ok_or(DerivedError::Missing("password"))?;
    for (part, name) in [(user, "user"), (password, "password"), (database, "database")] {
        if part.is_empty() {
            return Err(DerivedError::Missing(name));
        }
    }
    if address.contains(',') {
        return Err(DerivedError::Hosts);
    }
    let (host, port) = match address.rsplit_once(':') {
        Some((host, port)) if !address.ends_with(']') => (host, port),
        _ => (address, POSTGRES_PORT),
    };
    if host.is_empty() {
        return Err(DerivedError::Missing("host"));
    }
    let port = port.parse::<u16>().ok().filter(|port| *port > 0).ok_or(DerivedError::Port)?;
    Ok(BTreeMap::from([
        ("host", host.to_owned()),
        ("port", port.to_string()),
        ("db", name_of(database, query)?),
        ("user", encode(&decode(user).ok_or(DerivedError::Encoding("user"))?)),
        ("password", encode(&decode(password).ok_or(DerivedError::Encoding("password"))?)),
    ]))
}

/// The database, and behind it the options of the connection: what comes after the last slash of llama-stack's URL. Its
/// driver calls `ssl` what others call `sslmode`.
fn name_of(database: &str, query: Option<&str>) -> Result<String, DerivedError> {
    let database = String::from_utf8(decode(database).ok_or(DerivedError::Encoding("database"))?)
        .map_err(|_| DerivedError::Encoding("database"))?;
    let options: Vec<String> = query
        .unwrap_or_default()
        .split('&')
        .filter(|option| !option.is_empty())
        .map(|option| option.strip_prefix("sslmode=").map_or_else(|| option.to_owned(), |mode| format!("ssl={mode}")))
        .collect();
    // The name is used as it is, so it cannot be encoded; an empty list of options keeps it from being a number.
    let separator = if !options.is_empty() || reads_as_number(&database) { "?" } else { "" };
    Ok(format!("{database}{separator}{}", options.join("&")))
}

/// The bytes that a percent-encoded text stands for; `None` if a percent sign is not followed by two hex digits.
fn decode(text: &str) -> Option<Vec<u8>> {
    let is_escape = |after: &str| after.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let strict = text.split('%').skip(1).all(is_escape);
    strict.then(|| percent_decode_str(text).collect())
}

/// Percent-encodes all but unreserved characters, and one of those where the text would read as a number.
fn encode(bytes: &[u8]) -> String {
    let mut text = percent_encode(bytes, RESERVED).to_string();
    if reads_as_number(&text)
        && let Some(first) = text.bytes().next()
    {
        text.replace_range(..1, &format!("%{first:02X}"));
    }
    text
}

/// Whether llama-stack would turn the text into a boolean or a number: by Python's rules, which allow underscores.
fn reads_as_number(text: &str) -> bool {
    let plain = text.trim().replace('_', "");
    plain.eq_ignore_ascii_case("true") || plain.eq_ignore_ascii_case("false") || plain.parse::<f64>().is_ok()
}
