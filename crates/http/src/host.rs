//! The host of a request, and the check that it is this server.
//!
//! A foreign page in a browser on this machine can send requests to a server on 127.0.0.1 under the page's own name,
//! once that name resolves to 127.0.0.1 (DNS rebinding). The browser then treats our answer as the page's own. Only
//! the name in `Host` reveals this.

use std::{
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

/// Length limit of a DNS name.
const MAX_NAME_BYTES: usize = 253;

/// A name or an address without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name, in lower case, without a trailing dot.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl Host {
    /// Parses `HOST` or `HOST:PORT` from the header `Host` or an absolute target.
    pub(crate) fn from_authority(text: &str) -> Option<Self> {
        let (host, port) = match text.rfind(':') {
            // A colon within brackets belongs to the address.
            Some(colon) if !text[colon..].contains(']') => (&text[..colon], &text[colon + 1..]),
            _ => (text, ""),
        };
        let port_is_valid = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
        Self::parse(host).filter(|_| port_is_valid)
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some(address) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let address = address.parse::<Ipv6Addr>().ok();
            return address.map(|address| Self::Address(IpAddr::V6(address)));
        }
        if let Ok(address) = text.parse() {
            return Some(Self::Address(IpAddr::V4(address)));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_name = (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_letter);
        is_name.then(|| Self::Name(name.to_ascii_lowercase()))
    }

    /// Returns true if the host is this machine's own name, the address that the client connected to, or an allowed
    /// host. The port may differ: connections are forwarded.
    pub(crate) fn is_ours(&self, local: IpAddr, allowed: &[Self]) -> bool {
        let always = match self {
            Self::Name(name) => name == "localhost",
            Self::Address(address) => {
                let address = address.to_canonical();
                address.is_loopback() || address == local.to_canonical()
            }
        };
        always || allowed.contains(self)
    }
}

impl FromStr for Host {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Without a port, brackets are unnecessary.
        let bare = text.parse::<Ipv6Addr>().map(|address| Self::Address(IpAddr::V6(address)));
        bare.ok().or_else(|| Self::parse(text)).ok_or(
            "must be a name or an address without a port, such as metrics.example or 192.0.2.7",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_server() {
        fn check(authority: &str, expected: Option<bool>) {
            let allowed = ["metrics.example", "fd00::7", "192.0.2.7"];
            let allowed = allowed.map(|host| host.parse().unwrap());
            let local = "10.0.0.5".parse().unwrap();
            let ours = Host::from_authority(authority).map(|host| host.is_ours(local, &allowed));
            assert_eq!(ours, expected, "{authority}");
        }
        for ours in [
            "localhost",
            "LOCALHOST.:80",
            "127.0.0.1:1",
            "127.200.0.1",
            "[::1]",
            "[::1]:65535",
            "[::ffff:127.0.0.1]",
            "10.0.0.5",
            "[::ffff:10.0.0.5]:1",
            "metrics.example:9419",
            "Metrics.Example.",
            "[fd00::7]:1",
            "192.0.2.7",
        ] {
            check(ours, Some(true));
        }
        for other in [
            "evil.example",
            "localhost.evil.example",
            "evil.localhost",
            "10.0.0.6",
            "0.0.0.0",
            "2130706433",
            "127.1",
            "0x7f.0.0.1",
            "[::]",
            "metrics.example.evil",
        ] {
            check(other, Some(false));
        }
        for wrong in [
            "",
            ":80",
            ".",
            "localhost:x",
            "localhost:123456",
            "localhost:80:80",
            "::1",
            "[::1",
            "::1]",
            "[::1]x",
            "[::1%lo]",
            "[127.0.0.1]",
            "user@localhost",
            "local host",
            "localhost/",
            "löcalhost",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_may_be_allowed() {
        fn check(text: &str, expected: bool) {
            assert_eq!(text.parse::<Host>().is_ok(), expected, "{text}");
        }
        check("metrics.example", true);
        check("fd00::7", true);
        check("[fd00::7]", true);
        check("metrics.example:80", false);
        check("*", false);
        check("http://metrics.example", false);
        check("", false);
    }
}
