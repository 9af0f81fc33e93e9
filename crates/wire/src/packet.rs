//! A packet as it was captured.
//!
//! Where packets come from lives in `capture`, what their headers say in `decode`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant on the capture's clock, in nanoseconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// From nanoseconds since the Unix epoch.
    pub const fn from_unix_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn unix_nanos(self) -> u64 {
        self.0
    }

    /// Time since `earlier`; none when that is later, as clocks may be set back.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// What a packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// Ethernet, with or without VLAN tags.
    Ethernet,
    /// BSD's loopback: four bytes of address family in the byte order of the host that captured.
    Null,
    /// As [`LinkType::Null`], in network byte order.
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
    /// Its number in the capture, from 1, as Wireshark counts.
    pub number: u64,
    /// When it was captured.
    pub time: Timestamp,
    /// What `data` begins with.
    pub link: LinkType,
    /// Its length on the wire, in bytes, from the link's header on.
    pub length: u32,
    /// What was captured of it: all of it, or its beginning.
    pub data: &'a [u8],
}
