//! Reasons why a packet is no TCP segment, with counts.

use serde::{Deserialize, Serialize};

/// The reason why a packet was not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotDecoded {
    /// Neither IPv4 nor IPv6: ARP, 802.2, an unknown address family.
    NotIp,
    /// A protocol other than TCP.
    NotTcp,
    /// A fragment of an IP packet. Fragments are not reassembled: TCP avoids them.
    Fragment,
    /// The captured part does not contain TCP's header.
    Truncated,
    /// A header contradicts itself.
    Malformed,
}

/// Packets by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DecodeCounts {
    /// TCP segments.
    pub segments: u64,
    /// Packets with outcome [`NotDecoded::NotIp`].
    pub not_ip: u64,
    /// Packets with outcome [`NotDecoded::NotTcp`].
    pub not_tcp: u64,
    /// Packets with outcome [`NotDecoded::Fragment`].
    pub fragments: u64,
    /// Packets with outcome [`NotDecoded::Truncated`].
    pub truncated: u64,
    /// Packets with outcome [`NotDecoded::Malformed`].
    pub malformed: u64,
}

impl DecodeCounts {
    /// Counts the outcome of one packet and returns the segment.
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
