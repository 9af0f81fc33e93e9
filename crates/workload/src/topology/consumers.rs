//! Consumers as a running node knows them.

use core::net::SocketAddr;

/// The place of a consumer: the client's address, the channel, the consumer tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConsumerPlace {
    client: SocketAddr,
    channel: u16,
    consumer_tag: String,
}

impl ConsumerPlace {
    /// Creates a place. Addresses of IPv4 in IPv6 are the same as in IPv4.
    pub(crate) fn new(client: SocketAddr, channel: u16, consumer_tag: String) -> Self {
        let client = SocketAddr::new(client.ip().to_canonical(), client.port());
        Self { client, channel, consumer_tag }
    }
}

/// A consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consumer {
    pub(crate) vhost: String,
    pub(crate) queue: String,
    pub(crate) exclusive: bool,
    pub(crate) no_ack: bool,
    /// Unacknowledged messages, 0 for no limit or for that of the channel.
    pub(crate) prefetch: u16,
    pub(crate) priority: Option<i64>,
}
