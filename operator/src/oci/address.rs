//! Which addresses a registry may have, and what it refers to: its login and its storage. Any tenant can name a registry,
//! and any registry can refer to any address; the operator must not be the way into networks that neither could reach.

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which network an address belongs to, as far as the answer matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Any other address: reachable from the whole internet.
    Public,
    /// In a network of one's own: other pods, services, machines of a company.
    Private,
    /// On this machine, on this link, or no machine at all. Cloud providers serve credentials of machines there.
    Here,
}

fn place(address: IpAddr) -> Place {
    match address {
        IpAddr::V4(address) => place_v4(address),
        IpAddr::V6(address) => place_v6(address),
    }
}

fn place_v4(address: Ipv4Addr) -> Place {
    let [first, second, third, _] = address.octets();
    if address.is_loopback() || address.is_link_local() || address.is_multicast() || first == 0 || first >= 240 {
        return Place::Here;
    }
    let shared = first == 100 && second & 0xc0 == 64;
    let special = (first, second, third) == (192, 0, 0) || first == 198 && second & 0xfe == 18;
    if address.is_private() || shared || special || address.is_documentation() { Place::Private } else { Place::Public }
}

fn place_v6(address: Ipv6Addr) -> Place {
    // An address of version 4 in one of its other forms: mapped, and behind NAT64.
    if let Some(inner) = address.to_ipv4_mapped() {
        return place_v4(inner);
    }
    let parts = address.segments();
    if parts[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        let (high, low) = (parts[6].to_be_bytes(), parts[7].to_be_bytes());
        return place_v4(Ipv4Addr::new(high[0], high[1], low[0], low[1]));
    }
    let link_local = parts[0] & 0xffc0 == 0xfe80;
    if address.is_loopback() || address.is_unspecified() || address.is_multicast() || link_local {
        return Place::Here;
    }
    // Unique local addresses, and the older site-local ones.
    if parts[0] & 0xfe00 == 0xfc00 || parts[0] & 0xffc0 == 0xfec0 { Place::Private } else { Place::Public }
}

/// Lets through what one registry may be asked for. Clones share what is known.
#[derive(Clone, Debug)]
pub(super) struct Guard(Arc<Registry>);

#[derive(Debug)]
struct Registry {
    /// Host of the registry, without a port.
    host: String,
    /// Host and port, as URLs have them.
    authority: String,
    /// Whether an administrator lets it be asked without TLS, and so wherever it is.
    insecure: bool,
    /// Hosts of the proxies that this process uses.
    proxies: Vec<String>,
    /// Whether the registry itself is in a private network. Then what it refers to may be there, too.
    private: AtomicBool,
}

impl Guard {
    /// For the registry of this host and port.
    pub(super) fn new(authority: &str, insecure: bool) -> Self {
        Self(Arc::new(Registry {
            host: host_of(authority).to_owned(),
            authority: authority.to_owned(),
            insecure,
            proxies: proxies(),
            private: AtomicBool::new(false),
        }))
    }

    /// Whether the URL may be asked for: HTTPS, or the registry itself where it is insecure; no address in it that none
    /// of this may have. Names are looked at when they are resolved.
    pub(super) fn allows(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let plain = self.0.insecure && authority == self.0.authority;
        let host = host.trim_matches(['[', ']']);
        let scheme = url.scheme() == "https" || url.scheme() == "http" && plain;
        scheme && host.parse().map_or(true, |address| self.may_be(host, address))
    }

    /// Whether a host may have this address.
    fn may_be(&self, host: &str, address: IpAddr) -> bool {
        let registry = &self.0;
        let is_registry = host.eq_ignore_ascii_case(&registry.host);
        match place(address) {
            _ if registry.proxies.iter().any(|proxy| proxy.eq_ignore_ascii_case(host)) => true,
            Place::Public => true,
            Place::Private if is_registry => {
                registry.private.store(true, Ordering::Relaxed);
                true
            }
            Place::Private => registry.private.load(Ordering::Relaxed),
            Place::Here => is_registry && registry.insecure,
        }
    }
}

/// The host in `host:port` or `[address]:port`.
fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    }
}

/// Hosts of the proxies in the environment: an administrator has set them.
fn proxies() -> Vec<String> {
    let named = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    let urls = named.iter().filter_map(|name| std::env::var(name).ok());
    urls.filter_map(|text| Some(Url::parse(&text).ok()?.host_str()?.to_owned())).collect()
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (guard, host) = (self.clone(), name.as_str().to_owned());
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|found| guard.may_be(&host, found.ip())).collect();
            if allowed.is_empty() {
                return Err("the name has no address that may be asked".into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}

/// Whether two hosts belong together as far as their names tell: one is the other, or they share their last two parts.
pub(super) fn same_site(one: &str, other: &str) -> bool {
    let site = |host: &str| {
        let mut parts: Vec<_> = host.rsplit('.').take(2).map(str::to_ascii_lowercase).collect();
        parts.reverse();
        (parts.len() == 2 && host.parse::<IpAddr>().is_err()).then(|| parts.join("."))
    };
    one.eq_ignore_ascii_case(other) || site(one).is_some() && site(one) == site(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn addresses_are_told_apart() {
        let of = |text: &str| place(text.parse().expect("an address"));
        for here in ["127.0.0.1", "169.254.169.254", "0.0.0.0", "::1", "::", "fe80::1", "::ffff:127.0.0.1", "224.0.0.1"]
        {
            assert_eq!(of(here), Place::Here, "{here}");
        }
        for private in
            ["10.0.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"]
        {
            assert_eq!(of(private), Place::Private, "{private}");
        }
        for public in ["8.8.8.8", "100.128.0.1", "2606:4700::1111", "172.32.0.1", "64:ff9b::808:808"] {
            assert_eq!(of(public), Place::Public, "{public}");
        }
    }

    #[test]
    fn a_registry_leads_nowhere_that_it_is_not_itself() {
        let public = Guard::new("registry.example.com", false);
        assert!(public.allows(&url("https://storage.example.net/x")));
        for target in [
            "http://registry.example.com/x",
            "https://10.0.0.5/x",
            "https://169.254.169.254/x",
            "https://[::1]/",
            "file:///etc/passwd",
        ] {
            assert!(!public.allows(&url(target)), "{target}");
        }
        assert!(!public.may_be("storage.example.net", "10.0.0.5".parse().expect("an address")));
        let private = Guard::new("10.0.0.4:5000", false);
        assert!(private.allows(&url("https://10.0.0.4:5000/v2/")) && private.allows(&url("https://10.0.0.5/x")));
        assert!(!private.allows(&url("https://127.0.0.1:8081/x")));
        let loopback = Guard::new("127.0.0.1:5000", false);
        assert!(!loopback.allows(&url("https://127.0.0.1:5000/v2/")));
        let insecure = Guard::new("127.0.0.1:5000", true);
        assert!(insecure.allows(&url("http://127.0.0.1:5000/v2/")));
        assert!(!insecure.allows(&url("http://127.0.0.1:5001/v2/")));
    }

    #[test]
    fn logins_stay_at_the_site() {
        assert!(same_site("auth.docker.io", "registry-1.docker.io") && same_site("quay.io", "quay.io"));
        assert!(same_site("127.0.0.1", "127.0.0.1") && !same_site("127.0.0.1", "10.9.0.1"));
        assert!(!same_site("evil.example", "quay.io") && !same_site("localhost", "io"));
    }
}
