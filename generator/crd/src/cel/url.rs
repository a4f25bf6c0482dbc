//! URLs as Go's `net/url` reads them for an HTTP request: nothing is normalised.

use crate::text::quote;

/// A URL in the parts that Go's `net/url` makes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    /// The scheme in lower case; empty for an absolute path.
    pub(crate) scheme: String,
    /// Host and port, without user; an IPv6 address keeps its brackets.
    pub(crate) host: String,
    user: Option<String>,
    opaque: String,
    path: Vec<u8>,
    raw_path: String,
    raw_query: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Path,
    Host,
    User,
    Query,
}

impl Url {
    /// Reads an absolute URI or an absolute path; the error is the one that Go gives.
    pub(crate) fn parse_request(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|error| format!("parse {}: {error}", quote(text)))
    }

    fn read(text: &str) -> Result<Self, String> {
        if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text.is_empty() {
            return Err("empty url".to_owned());
        }
        let mut url = Self::default();
        if text == "*" {
            url.path = b"*".to_vec();
            return Ok(url);
        }
        let (scheme, rest) = scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        url.raw_query = query.to_owned();
        if !rest.starts_with('/') {
            if url.scheme.is_empty() {
                return Err("invalid URI for request".to_owned());
            }
            url.opaque = rest.to_owned();
            return Ok(url);
        }
        let mut path = rest;
        if !url.scheme.is_empty()
            && let Some(behind) = rest.strip_prefix("//")
        {
            let end = behind.find('/').unwrap_or(behind.len());
            path = &behind[end..];
            url.authority(&behind[..end])?;
        }
        url.path = unescape(path, Part::Path)?;
        if escape(&url.path) != path {
            url.raw_path = path.to_owned();
        }
        Ok(url)
    }

    fn authority(&mut self, text: &str) -> Result<(), String> {
        let host = match text.rsplit_once('@') {
            None => text,
            Some((user, host)) => {
                let fits = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
                if !user.chars().all(fits) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                unescape(user, Part::User)?;
                self.user = Some(user.to_owned());
                host
            }
        };
        if host.starts_with('[') {
            let Some(close) = host.rfind(']') else { return Err("missing ']' in host".to_owned()) };
            check_port(&host[close + 1..])?;
            let inside = &host[1..close];
            let address = inside.split("%25").next().unwrap_or(inside);
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return Err(format!("invalid host: ParseAddr({}): unable to parse IP", quote(address)));
            }
        } else if let Some(colon) = host.find(':') {
            check_port(&host[colon..])?;
        }
        self.host = String::from_utf8_lossy(&unescape(host, Part::Host)?).into_owned();
        Ok(())
    }

    fn split_host(&self) -> (&str, &str) {
        let (host, port) = match self.host.rfind(':') {
            Some(colon) if is_port(&self.host[colon..]) => (&self.host[..colon], &self.host[colon + 1..]),
            _ => (self.host.as_str(), ""),
        };
        (host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host), port)
    }

    /// The host without port and brackets.
    pub(crate) fn hostname(&self) -> &str {
        self.split_host().0
    }

    /// The port as it is written, empty if there is none.
    pub(crate) fn port(&self) -> &str {
        self.split_host().1
    }

    /// The path as it was written if that is a valid encoding, else escaped.
    pub(crate) fn escaped_path(&self) -> String {
        if !self.raw_path.is_empty() && valid_encoding(&self.raw_path) {
            return self.raw_path.clone();
        }
        if self.path == b"*" { "*".to_owned() } else { escape(&self.path) }
    }

    /// The parameters of the query, in order of first appearance; malformed ones are passed over.
    pub(crate) fn query(&self) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for pair in self.raw_query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Ok(key), Ok(value)) = (unescape(key, Part::Query), unescape(value, Part::Query)) else { continue };
            let key = String::from_utf8_lossy(&key).into_owned();
            let value = String::from_utf8_lossy(&value).into_owned();
            match found.iter_mut().find(|(name, _)| *name == key) {
                Some((_, values)) => values.push(value),
                None => found.push((key, vec![value])),
            }
        }
        found
    }
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

fn check_port(text: &str) -> Result<(), String> {
    if is_port(text) { Ok(()) } else { Err(format!("invalid port {} after host", quote(text))) }
}

fn unescape(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'%' => {
                let digit = |offset: usize| bytes.get(at + offset).and_then(|b| char::from(*b).to_digit(16));
                let (Some(high), Some(low)) = (digit(1), digit(2)) else {
                    let end = bytes.len().min(at + 3);
                    return Err(format!("invalid URL escape {}", quote(&String::from_utf8_lossy(&bytes[at..end]))));
                };
                let code = (high * 16 + low) as u8;
                if part == Part::Host && code < 0x80 && code != b'%' {
                    return Err(format!("invalid URL escape {}", quote(&text[at..at + 3])));
                }
                out.push(code);
                at += 3;
            }
            b'+' if part == Part::Query => {
                out.push(b' ');
                at += 1;
            }
            b if part == Part::Host && b < 0x80 && !in_host(b) => {
                return Err(format!("invalid character {} in host name", quote(&char::from(b).to_string())));
            }
            b => {
                out.push(b);
                at += 1;
            }
        }
    }
    Ok(out)
}

fn in_host(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&b)
}

fn plain_in_path(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&b)
}

fn escape(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len());
    for &b in path {
        if plain_in_path(b) {
            out.push(char::from(b));
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

fn valid_encoding(path: &str) -> bool {
    path.bytes().all(|b| plain_in_path(b) || b"!'()*[]%".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn keeps_what_go_keeps() {
        let url = Url::parse_request("HTTP://A.B:80/a/../b%20c?k=v&k=w+x").unwrap();
        assert_eq!(
            (url.scheme.as_str(), url.host.as_str(), url.hostname(), url.port()),
            ("http", "A.B:80", "A.B", "80")
        );
        assert_eq!(url.escaped_path(), "/a/../b%20c");
        assert_eq!(url.query(), [("k".to_owned(), vec!["v".to_owned(), "w x".to_owned()])]);
        assert_eq!(Url::parse_request("http://a/a b").unwrap().escaped_path(), "/a%20b");
        assert_eq!(Url::parse_request("http:///x").unwrap().hostname(), "");
        assert_eq!(Url::parse_request("http://[::1]:8/").unwrap().hostname(), "::1");
        for (text, error) in [
            ("nope", "parse \"nope\": invalid URI for request"),
            ("", "parse \"\": empty url"),
            (":x", "parse \":x\": missing protocol scheme"),
            ("http://a:b/", "parse \"http://a:b/\": invalid port \":b\" after host"),
            ("http://a b/", "parse \"http://a b/\": invalid character \" \" in host name"),
            ("/%zz", "parse \"/%zz\": invalid URL escape \"%zz\""),
        ] {
            assert_eq!(Url::parse_request(text).unwrap_err(), error);
        }
    }
}
