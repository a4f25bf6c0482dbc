//! Functions on URLs, IP addresses and CIDR ranges.

use super::strings::text;
use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::net::{Cidr, parse_cidr, parse_ip};
use crate::cel::program::Function;
use crate::cel::url::Url;
use crate::cel::value::Val;
use std::net::IpAddr;
use std::rc::Rc;

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    Some(match (name, member, count) {
        ("url", false, 1) => |_, v| match Url::parse_request(text(&v[0])?) {
            Ok(url) => Ok(Val::Url(Rc::new(url))),
            Err(error) => Err(Fail::Error(format!("URL parse error during conversion from string: {error}"))),
        },
        ("isURL", false, 1) => |_, v| Ok(Val::Bool(Url::parse_request(text(&v[0])?).is_ok())),
        ("getScheme", true, 1) => |_, v| Ok(Val::text(url(&v[0])?.scheme.clone())),
        ("getHost", true, 1) => |_, v| Ok(Val::text(url(&v[0])?.host.clone())),
        ("getHostname", true, 1) => |_, v| Ok(Val::text(url(&v[0])?.hostname())),
        ("getPort", true, 1) => |_, v| Ok(Val::text(url(&v[0])?.port())),
        ("getEscapedPath", true, 1) => |_, v| Ok(Val::text(url(&v[0])?.escaped_path())),
        ("getQuery", true, 1) => |_, v| {
            let entries = url(&v[0])?.query().into_iter();
            let entry = |(key, values): (String, Vec<String>)| {
                (Val::text(key), Val::list(values.into_iter().map(Val::text).collect()))
            };
            Ok(Val::Map(Rc::new(entries.map(entry).collect())))
        },
        ("ip", false, 1) => |_, v| to_ip(&v[0]).map(Val::Ip),
        ("isIP", false, 1) => |_, v| Ok(Val::Bool(parse_ip(text(&v[0])?).is_ok())),
        ("ip.isCanonical", false, 1) => |_, v| Ok(Val::Bool(to_ip(&v[0])?.to_string() == text(&v[0])?)),
        ("family", true, 1) => |_, v| Ok(Val::Int(if ip(&v[0])?.is_ipv4() { 4 } else { 6 })),
        ("isUnspecified", true, 1) => |_, v| Ok(Val::Bool(ip(&v[0])?.is_unspecified())),
        ("isLoopback", true, 1) => |_, v| Ok(Val::Bool(ip(&v[0])?.is_loopback())),
        ("isLinkLocalMulticast", true, 1) => |_, v| {
            Ok(Val::Bool(match ip(&v[0])? {
                IpAddr::V4(ip) => ip.octets()[..3] == [224, 0, 0],
                IpAddr::V6(ip) => ip.segments()[0] & 0xff0f == 0xff02,
            }))
        },
        ("isLinkLocalUnicast", true, 1) => |_, v| Ok(Val::Bool(link_local(ip(&v[0])?))),
        ("isGlobalUnicast", true, 1) => |_, v| {
            let ip = ip(&v[0])?;
            let broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
            let special = ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || link_local(ip) || broadcast;
            Ok(Val::Bool(!special))
        },
        ("cidr", false, 1) => |_, v| to_cidr(&v[0]).map(Val::Cidr),
        ("isCIDR", false, 1) => |_, v| Ok(Val::Bool(parse_cidr(text(&v[0])?).is_ok())),
        ("ip", true, 1) => |_, v| Ok(Val::Ip(cidr(&v[0])?.address)),
        ("prefixLength", true, 1) => |_, v| Ok(Val::Int(i64::from(cidr(&v[0])?.bits))),
        ("masked", true, 1) => |_, v| Ok(Val::Cidr(cidr(&v[0])?.masked())),
        ("containsIP", true, 2) => contains_ip,
        ("containsCIDR", true, 2) => contains_cidr,
        _ => return None,
    })
}

fn link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn url<'v>(value: &'v Val<'_>) -> Result<&'v Url, Fail> {
    match value {
        Val::Url(url) => Ok(url),
        _ => Err(Fail::no_overload()),
    }
}

fn ip(value: &Val<'_>) -> Result<IpAddr, Fail> {
    match value {
        Val::Ip(ip) => Ok(*ip),
        _ => Err(Fail::no_overload()),
    }
}

fn cidr(value: &Val<'_>) -> Result<Cidr, Fail> {
    match value {
        Val::Cidr(cidr) => Ok(*cidr),
        _ => Err(Fail::no_overload()),
    }
}

fn to_ip(value: &Val<'_>) -> Result<IpAddr, Fail> {
    let text = text(value)?;
    parse_ip(text).map_err(|error| {
        if !error.starts_with("ParseAddr") {
            return Fail::Error(error);
        }
        let quoted = crate::text::quote(text);
        Fail::Error(format!("IP Address {quoted} parse error during conversion from string: {error}"))
    })
}

fn to_cidr(value: &Val<'_>) -> Result<Cidr, Fail> {
    let error = |error: String| {
        let said = "network address parse error during conversion from string: ";
        let again = if error.starts_with("netip") { said } else { "" };
        Fail::Error(format!("{said}{again}{error}"))
    };
    parse_cidr(text(value)?).map_err(error)
}

/// A string that is no address leaves the call without a matching overload.
fn contains_ip<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let range = cidr(&v[0])?;
    let ip = match &v[1] {
        Val::Str(text) => parse_ip(text).map_err(|_| Fail::no_overload())?,
        other => ip(other)?,
    };
    Ok(Val::Bool(range.contains(ip)))
}

fn contains_cidr<'a>(_: &Env<'a>, v: &[Val<'a>]) -> EvalResult<'a> {
    let range = cidr(&v[0])?;
    let inner = match &v[1] {
        Val::Str(text) => parse_cidr(text).map_err(|_| Fail::no_overload())?,
        other => cidr(other)?,
    };
    // Kubernetes compares the masked ends: a range contains itself.
    Ok(Val::Bool(range.contains_range(inner)))
}
