//! The two ends of a connection, and its two directions.

use core::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// Number of a connection in order of appearance, from 0. No number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectionId(pub u64);

/// The sender, in the words of RFC 5103.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the end that opened the connection.
    Forward,
    /// From the other end.
    Reverse,
}

impl Direction {
    /// Returns the other direction.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Endpoints {
    /// The end that opened the connection. If no SYN was seen, the sender of the first packet.
    pub opener: SocketAddr,
    /// The other end.
    pub acceptor: SocketAddr,
    /// True if a SYN shows which end opened it.
    pub opener_is_known: bool,
}

/// Both ends, the same for either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    low: (u128, u16),
    high: (u128, u16),
}

impl Pair {
    pub(super) fn new(one: SocketAddr, other: SocketAddr) -> Self {
        let number = |end: SocketAddr| {
            let address = match end.ip() {
                IpAddr::V4(address) => address.to_ipv6_mapped(),
                IpAddr::V6(address) => address,
            };
            (u128::from(address), end.port())
        };
        let (one, other) = (number(one), number(other));
        Self { low: one.min(other), high: one.max(other) }
    }
}
