//! IP addresses and CIDR ranges, as Go's `net` and `netip` read them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address range: an address and the number of its leading bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    pub(crate) address: IpAddr,
    pub(crate) bits: u8,
}

impl Cidr {
    /// The address with the bits behind the prefix cleared.
    pub(crate) fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(ip) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from(u32::from(ip) & mask))
            }
            IpAddr::V6(ip) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from(u128::from(ip) & mask))
            }
        };
        Self { address, bits: self.bits }
    }

    pub(crate) fn contains(self, ip: IpAddr) -> bool {
        self.address.is_ipv4() == ip.is_ipv4() && self.masked().address == Self { address: ip, ..self }.masked().address
    }

    pub(crate) fn contains_range(self, other: Self) -> bool {
        self.bits <= other.bits && self.contains(other.address)
    }
}

/// An address in the strict form that CEL's `ip()` takes; the error is the one of Go's parser.
pub(crate) fn parse_ip(text: &str) -> Result<IpAddr, String> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        if matches!(ip, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some()) {
            return Err(format!("IPv4-mapped IPv6 address {} is not allowed", go_quote(text)));
        }
        return Ok(ip);
    }
    let said = |what: &str| Err(format!("ParseAddr({}): {what}", go_quote(text)));
    match text.find(['.', ':', '%']).and_then(|at| text.as_bytes().get(at)) {
        Some(b'.') => said(&v4_fault(text)),
        Some(b':') if text.contains('%') => {
            Err(format!("IP address {} with zone value is not allowed", go_quote(text)))
        }
        Some(b':') => said(&v6_fault(text)),
        Some(_) => said("missing IPv6 address"),
        None => said("unable to parse IP"),
    }
}

fn v4_fault(text: &str) -> String {
    let mut fields = 0;
    let mut start = 0;
    for field in text.split('.') {
        fields += 1;
        if field.is_empty() {
            return format!("IPv4 field must have at least one digit (at {})", go_quote(&text[start..]));
        }
        if let Some(at) = field.find(|c: char| !c.is_ascii_digit()) {
            return format!("unexpected character (at {})", go_quote(&text[start + at..]));
        }
        if field.len() > 1 && field.starts_with('0') {
            return "IPv4 field has octet with leading zero".to_owned();
        }
        if field.parse::<u8>().is_err() {
            return "IPv4 field has value >255".to_owned();
        }
        start += field.len() + 1;
    }
    if fields > 4 { "IPv4 address too long" } else { "IPv4 address too short" }.to_owned()
}

/// Go names what is wrong inside an IPv6 address; the common slip is named here too.
fn v6_fault(text: &str) -> String {
    let first = text.find("::").map(|at| at + 2);
    match first.and_then(|from| text[from..].find("::").map(|at| from + at + 1)) {
        Some(at) => format!("multiple :: in address (at {})", go_quote(&text[at..])),
        None => "unable to parse IP".to_owned(),
    }
}

fn go_quote(text: &str) -> String {
    crate::text::quote(text)
}

/// A range in the strict form that CEL's `cidr()` takes.
pub(crate) fn parse_cidr(text: &str) -> Result<Cidr, String> {
    let said = |what: String| Err(format!("netip.ParsePrefix({}): {what}", go_quote(text)));
    let Some((address, bits)) = text.rsplit_once('/') else { return said("no '/'".to_owned()) };
    let address = match address.parse::<IpAddr>() {
        Ok(address) => address,
        Err(_) => return said(parse_ip(address).err().unwrap_or_default()),
    };
    if matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some()) {
        return Err(format!("IPv4-mapped IPv6 address {} is not allowed", go_quote(text)));
    }
    let most = if address.is_ipv4() { 32 } else { 128 };
    let plain =
        !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit()) && (bits.len() == 1 || !bits.starts_with('0'));
    match bits.parse::<u8>() {
        Ok(bits) if plain && bits <= most => Ok(Cidr { address, bits }),
        Ok(_) if plain => said("prefix length out of range".to_owned()),
        _ => said(format!("bad bits after slash: {}", go_quote(bits))),
    }
}

/// An address whose IPv4 fields may have leading zeros, as the format `ipv4` takes it.
pub(crate) fn parse_ip_sloppy(text: &str) -> Option<IpAddr> {
    if let Ok(ip) = text.parse() {
        return Some(ip);
    }
    let fields: Vec<&str> = text.split('.').collect();
    let stripped: Vec<&str> = fields
        .iter()
        .map(|field| {
            let rest = field.trim_start_matches('0');
            if rest.is_empty() && !field.is_empty() { "0" } else { rest }
        })
        .collect();
    stripped.join(".").parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

/// A range as the format `cidr` takes it.
pub(crate) fn parse_cidr_sloppy(text: &str) -> Option<Cidr> {
    let (address, bits) = text.split_once('/')?;
    let address = parse_ip_sloppy(address)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = Some(bits).filter(|b| !b.is_empty() && b.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?;
    (bits <= most).then_some(Cidr { address, bits })
}
