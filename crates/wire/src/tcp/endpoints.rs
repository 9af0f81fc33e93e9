//! The two ends of a connection, and its two directions.

use core::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// A connection's number, in the order in which connections appeared, from 0. None is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectionId(pub u64);

/// Who sends, in the words of RFC 5103.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The one that opened the connection.
    Forward,
    /// The other one.
    Reverse,
}

impl Direction {
    /// The other direction.
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
    /// Who opened the connection. Where no SYN was seen: who sent the first packet that was seen.
    pub opener: SocketAddr,
    /// The other one.
    pub acceptor: SocketAddr,
    /// Whether a SYN says who opened it.
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
