//! Why a packet is no TCP segment, and how many are not.

use serde::{Deserialize, Serialize};

/// Why a packet was not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotDecoded {
    /// Neither IPv4 nor IPv6: ARP, 802.2, an unknown address family.
    NotIp,
    /// Another protocol than TCP.
    NotTcp,
    /// A fragment of an IP packet. Fragments are not put together: TCP avoids them.
    Fragment,
    /// Not enough was captured to see TCP's header.
    Truncated,
    /// A header contradicts itself.
    Malformed,
}

/// Packets by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DecodeCounts {
    /// TCP segments.
    pub segments: u64,
    /// As [`NotDecoded::NotIp`].
    pub not_ip: u64,
    /// As [`NotDecoded::NotTcp`].
    pub not_tcp: u64,
    /// As [`NotDecoded::Fragment`].
    pub fragments: u64,
    /// As [`NotDecoded::Truncated`].
    pub truncated: u64,
    /// As [`NotDecoded::Malformed`].
    pub malformed: u64,
}

impl DecodeCounts {
    /// Counts the outcome of one packet and hands the segment on.
    pub fn count<T>(&mut self, outcome: Result<T, NotDecoded>) -> Option<T> {
        let counter = match outcome {
            Ok(_) => &mut self.segments,
            Err(NotDecoded::NotIp) => &mut self.not_ip,
            Err(NotDecoded::NotTcp) => &mut self.not_tcp,
            Err(NotDecoded::Fragment) => &mut self.fragments,
            Err(NotDecoded::Truncated) => &mut self.truncated,
            Err(NotDecoded::Malformed) => &mut self.malformed,
        };
        *counter += 1;
        outcome.ok()
    }
}
