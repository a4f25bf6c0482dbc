//! The string formats that the API server checks.

use crate::cel::net::{parse_cidr_sloppy, parse_ip_sloppy};
use crate::cel::time;
use crate::cel::url::Url;
use crate::pattern::compile;
use regex::Regex;
use std::net::IpAddr;
use std::sync::LazyLock;

const KNOWN: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
    )
});
static UUID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{12}$")
});
static RGB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*";
    compile(&format!(r"^rgb\({part},{part},{part}\)$"))
});

/// Whether the API server checks the format; it passes over others.
pub(crate) fn is_known(format: &str) -> bool {
    KNOWN.contains(&normalized(format).as_str())
}

fn normalized(format: &str) -> String {
    format.replace('-', "")
}

/// Whether `text` has the format; `None` if that cannot be told here.
pub(crate) fn matches(format: &str, text: &str) -> Option<bool> {
    let hex = |count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_hexdigit());
    Some(match normalized(format).as_str() {
        "bsonobjectid" => hex(24),
        "uri" => Url::parse_request(text).is_ok(),
        "email" => return email(text),
        "hostname" => hostname(text)?,
        "ipv4" => text.contains('.') && parse_ip_sloppy(text).is_some(),
        "ipv6" => text.contains(':') && text.parse::<IpAddr>().is_ok(),
        "cidr" => parse_cidr_sloppy(text).is_some(),
        "mac" => mac(text),
        "uuid" => uuid(text, None)?,
        "uuid3" => uuid(text, Some('3'))?,
        "uuid4" => uuid(text, Some('4'))?,
        "uuid5" => uuid(text, Some('5'))?,
        "ssn" => {
            let bytes = text.as_bytes();
            bytes.len() == 11
                && bytes.iter().enumerate().all(|(at, b)| match at {
                    3 | 6 => matches!(b, b'-' | b' '),
                    _ => b.is_ascii_digit(),
                })
        }
        "hexcolor" => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
        }
        "rgbcolor" => RGB.as_ref()?.is_match(text),
        "byte" => base64(text),
        "password" => true,
        "date" => time::parse_date(text).is_some(),
        "datetime" => date_time(text),
        "duration" => time::parse_duration_loosely(text).is_some(),
        "k8sshortname" => dns_label(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(dns_name_part),
        // Check digits of books and credit cards: nobody has asked for them yet.
        _ => return None,
    })
}

/// Lower-case letters, digits and inner dashes, at most 63.
pub(crate) fn dns_label(text: &str) -> bool {
    text.len() <= 63 && dns_name_part(text)
}

/// Like [`dns_label`], of any length.
pub(crate) fn dns_name_part(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

/// Plain addresses, perhaps with a plain name before them: the full grammar has comments and quoted parts too.
fn email(text: &str) -> Option<bool> {
    let atom = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b))
    };
    let address = match text.strip_suffix('>').and_then(|text| text.split_once(" <")) {
        Some((name, address)) if name.split(' ').all(atom) => address,
        _ => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return Some(false) };
    if local.is_empty() || domain.is_empty() {
        return Some(false);
    }
    (local.split('.').all(atom) && domain.split('.').all(atom)).then_some(true)
}

fn hostname(text: &str) -> Option<bool> {
    let fits = HOSTNAME.as_ref()?.is_match(text);
    Some(fits && text.len() <= 255 && text.split('.').all(|part| part.len() <= 63))
}

fn uuid(text: &str, version: Option<char>) -> Option<bool> {
    let Some(found) = UUID.as_ref()?.captures(text) else { return Some(false) };
    let group = |number: usize| found.get(number).map_or("", |group| group.as_str());
    let variant = "89abAB".contains(group(2));
    Some(match version {
        None => true,
        Some('3') => group(1) == "3",
        Some(version) => group(1).starts_with(version) && variant,
    })
}

fn base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    let padding = bytes.iter().rev().take_while(|b| **b == b'=').count();
    !bytes.is_empty()
        && bytes.len().is_multiple_of(4)
        && padding <= 2
        && bytes[..bytes.len() - padding].iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

fn mac(text: &str) -> bool {
    let groups = |separator: char, width: usize, counts: &[usize]| {
        let parts: Vec<&str> = text.split(separator).collect();
        counts.contains(&parts.len())
            && parts.iter().all(|part| part.len() == width && part.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    groups(':', 2, &[6, 8, 20]) || groups('-', 2, &[6, 8, 20]) || groups('.', 4, &[3, 4, 10])
}

fn date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(clock)) = (parts.next(), parts.next()) else { return false };
    if time::parse_date(date).is_none() || !clock.is_ascii() || clock.len() < 9 {
        return false;
    }
    let pair = |at: usize| clock[at..at + 2].parse::<u8>().ok().filter(|_| clock.as_bytes()[at].is_ascii_digit());
    let colon = |at: usize| clock.as_bytes()[at] == b':';
    let (Some(hour), Some(minute), Some(second)) = (pair(0), pair(3), pair(6)) else { return false };
    if !colon(2) || !colon(5) || hour > 23 || minute > 59 || second > 59 {
        return false;
    }
    let mut rest = &clock[8..];
    // Any one character may stand before the fraction.
    let digits = rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
    let whole_zone = |zone: &str| {
        let bytes = zone.as_bytes();
        zone == "z"
            || (bytes.len() == 6
                && matches!(bytes[0], b'+' | b'-')
                && bytes[3] == b':'
                && [1, 2, 4, 5].iter().all(|at| bytes[*at].is_ascii_digit()))
    };
    if whole_zone(rest) {
        return true;
    }
    if digits > 0 {
        rest = &rest[1 + digits..];
    }
    whole_zone(rest)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn agrees_with_the_api_server() {
        for (format, text, expected) in [
            ("date-time", "2025-01-01T00:00:00Z", true),
            ("date-time", "2025-01-01T00:00:00.5+02:00", true),
            ("date-time", "2025-01-01 00:00:00Z", false),
            ("date-time", "2025-02-30T00:00:00Z", false),
            ("date", "2024-02-29", true),
            ("date", "2025-02-29", false),
            ("duration", "90s", true),
            ("duration", "2 m", true),
            ("duration", "3 weeks", true),
            ("duration", "soon", false),
            ("byte", "YWI=", true),
            ("byte", "YWI", false),
            ("uri", "/abs", true),
            ("uri", "rel", false),
            ("ipv4", "010.0.0.1", true),
            ("ipv6", "::1", true),
            ("cidr", "10.0.0.0/33", false),
            ("uuid4", "550e8400-e29b-41d4-a716-446655440000", true),
            ("mac", "01:23:45:67:89:ab", true),
            ("hostname", "a.example.com", true),
            ("hostname", "a_b", false),
            ("k8s-short-name", "A", false),
            ("email", "a@b.c", true),
            ("email", "a", false),
        ] {
            assert_eq!(matches(format, text), Some(expected), "{format} {text}");
        }
    }
}
