//! Where a provider's address goes in its config.

use serde_json::Value;

/// The config keys that take a provider's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// One key takes the address as it is written.
    Key(String),
    /// The address is taken apart into a host and a port.
    HostPort {
        /// The key of the host.
        host: String,
        /// The key of the port, an integer.
        port: String,
    },
}

/// An address that cannot be taken apart into host and port.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EndpointError {
    /// Nothing stands where the host should.
    #[error("endpoint \"{0}\" names no host; write it as host:port")]
    NoHost(String),
    /// The part after the colon is not a port number.
    #[error("endpoint \"{0}\" has no port number after its last colon; write it as host:port")]
    BadPort(String),
    /// The address has user, path or query, for which the provider has no key.
    #[error("endpoint \"{0}\" has more than a host and a port; the rest belongs into settings and secretRefs")]
    Rest(String),
}

impl Endpoint {
    /// The config keys that it uses.
    pub fn keys(&self) -> Vec<&str> {
        match self {
            Self::Key(key) => vec![key],
            Self::HostPort { host, port } => vec![host, port],
        }
    }

    /// The config keys and values for `address`. Without a port the port's key is left to its default.
    ///
    /// # Errors
    /// Only where host and port are separate keys: the address is not `host`, `host:port`, or one of these behind
    /// a scheme (`postgresql://host:port`).
    pub fn assign(&self, address: &str) -> Result<Vec<(&str, Value)>, EndpointError> {
        let (host_key, port_key) = match self {
            Self::Key(key) => return Ok(vec![(key, Value::from(address))]),
            Self::HostPort { host, port } => (host, port),
        };
        // Messages quote the host part only: an address with a user may hold a password.
        let place = address.split_once("://").map_or(address, |(_, rest)| rest);
        let place = place.strip_suffix('/').unwrap_or(place);
        if place.contains(['@', '/', '?', '#']) {
            let shown = place.rsplit('@').next().unwrap_or_default();
            return Err(EndpointError::Rest(shown.to_owned()));
        }
        let (host, port) = split_port(place);
        if host.is_empty() {
            return Err(EndpointError::NoHost(place.to_owned()));
        }
        let mut values = vec![(host_key.as_str(), Value::from(host))];
        if let Some(port) = port {
            let number = port.parse::<u16>().ok().filter(|number| *number > 0);
            let number = number.ok_or_else(|| EndpointError::BadPort(place.to_owned()))?;
            values.push((port_key, Value::from(number)));
        }
        Ok(values)
    }
}

/// Splits `host:port`, `[::1]:port` and bare IPv6 addresses.
fn split_port(place: &str) -> (&str, Option<&str>) {
    if let Some((host, rest)) = place.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        // Text between bracket and colon is no port: the empty one fails.
        let port = (!rest.is_empty()).then(|| rest.strip_prefix(':').unwrap_or_default());
        return (host, port);
    }
    match place.rsplit_once(':') {
        Some((host, _)) if host.contains(':') => (place, None),
        Some((host, port)) => (host, Some(port)),
        None => (place, None),
    }
}
