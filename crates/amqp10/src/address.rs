//! Addresses of queues and exchanges.

use std::fmt::Write as _;

/// The form of the broker's addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// Version 1, of the plugin before 4.0: `/amq/queue/NAME`. Queues must exist.
    V1,
    /// Version 2, since 4.0: `/queues/NAME`, with percent-encoded names.
    #[default]
    V2,
}

impl Addressing {
    /// Returns the form that a broker of this version prefers.
    pub fn of_version(version: &str) -> Self {
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        if major.is_some_and(|major| major < 4) { Self::V1 } else { Self::V2 }
    }

    /// Returns the address of a queue.
    pub fn queue(self, name: &str) -> String {
        match self {
            Self::V1 => format!("/amq/queue/{}", self.segment(name)),
            Self::V2 => format!("/queues/{}", self.segment(name)),
        }
    }

    /// Returns the address of an exchange. Version 1 takes the subject of each message for an absent key, version 2 the
    /// empty key.
    pub fn exchange(self, name: &str, key: Option<&str>) -> String {
        let base = if self == Self::V1 { "/exchange" } else { "/exchanges" };
        let mut address = format!("{base}/{}", self.segment(name));
        if let Some(key) = key {
            let _ = write!(address, "/{}", self.segment(key));
        }
        address
    }

    fn segment(self, name: &str) -> String {
        match self {
            // The broker decodes nothing else, and cuts each character to a byte of the name.
            Self::V1 => name.replace('/', "%2F").bytes().map(char::from).collect(),
            Self::V2 => percent_encoded(name),
        }
    }
}

/// Encodes all bytes but the unreserved ones of RFC 3986, section 2.3.
fn percent_encoded(name: &str) -> String {
    name.bytes().fold(String::with_capacity(name.len()), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_as_the_broker_decodes_them() {
        let check = |name, v1: &str, v2: &str| {
            let found = [Addressing::V1, Addressing::V2].map(|form| form.queue(name));
            assert_eq!(found, [format!("/amq/queue/{v1}"), format!("/queues/{v2}")]);
        };
        check("omq10", "omq10", "omq10");
        check("pr/obe 10", "pr%2Fobe 10", "pr%2Fobe%2010");
        check("50%-ü", "50%-Ã¼", "50%25-%C3%BC");
    }

    #[test]
    fn keys_are_a_segment_of_their_own() {
        assert_eq!(Addressing::V2.exchange("amq.topic", Some("a/b")), "/exchanges/amq.topic/a%2Fb");
        assert_eq!(Addressing::V2.exchange("logs", None), "/exchanges/logs");
        assert_eq!(Addressing::V1.exchange("logs", Some("a.b")), "/exchange/logs/a.b");
    }

    #[test]
    fn the_version_decides() {
        let versions = ["3.10.8", "4.0.5", "4.3.0-rc.1", "unknown"].map(Addressing::of_version);
        assert_eq!(versions, [Addressing::V1, Addressing::V2, Addressing::V2, Addressing::V2]);
    }
}
