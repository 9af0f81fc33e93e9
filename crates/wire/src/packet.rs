//! A captured packet.
//!
//! For the sources of packets see `capture`; for their headers see `decode`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant on the capture's clock, in nanoseconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates a timestamp from nanoseconds since the Unix epoch.
    pub const fn from_unix_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn unix_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time since `earlier`. It is zero if `earlier` is later, because clocks may be set back.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// The header with which a packet begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// Ethernet, with or without VLAN tags.
    Ethernet,
    /// BSD's loopback: four bytes of address family in the byte order of the host that captured.
    Null,
    /// Like [`LinkType::Null`], but in network byte order.
    Loop,
    /// An IPv4 or IPv6 header.
    Raw,
    /// Linux's pseudo-device "any", version 1.
    LinuxSll,
    /// Linux's pseudo-device "any", version 2.
    LinuxSll2,
}

/// A captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Number in the capture, from 1, as Wireshark counts.
    pub number: u64,
    /// Time of capture.
    pub time: Timestamp,
    /// The header with which `data` begins.
    pub link: LinkType,
    /// Length on the wire, in bytes, from the link's header on.
    pub length: u32,
    /// Captured bytes: the whole packet, or its beginning.
    pub data: &'a [u8],
}
