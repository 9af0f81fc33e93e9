//! Connections and consumers as a running node knows them.

use core::net::SocketAddr;

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    /// Empty for protocols that choose it later.
    pub(crate) vhost: String,
    /// The client's program; empty if it does not introduce itself.
    pub(crate) product: String,
    /// The version of TLS; empty without.
    pub(crate) tls: String,
    /// True if a run of this program declares its queues by it.
    pub(crate) is_control: bool,
}

/// Returns the address by which a client is known: IPv4 in IPv6 is the same as IPv4.
pub(crate) fn canonical(client: SocketAddr) -> SocketAddr {
    SocketAddr::new(client.ip().to_canonical(), client.port())
}

/// The place of a consumer: the client's address, the channel, the consumer tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConsumerPlace {
    pub(crate) client: SocketAddr,
    pub(crate) channel: u16,
    pub(crate) consumer_tag: String,
}

impl ConsumerPlace {
    pub(crate) fn new(client: SocketAddr, channel: u16, consumer_tag: String) -> Self {
        Self { client: canonical(client), channel, consumer_tag }
    }
}

/// The protocol of a client, as the node names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClientProtocol {
    /// AMQP 0-9-1, and MQTT.
    #[default]
    Amqp091,
    /// AMQP 1.0.
    Amqp10,
    /// The stream protocol.
    Stream,
}

/// The place of a link of AMQP 1.0: the client's address, the channel of its session, the handle, and whether it is a reader.
pub(crate) type LinkPlace = (SocketAddr, u16, u32, bool);

/// A link of AMQP 1.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownLink {
    pub(crate) vhost: String,
    pub(crate) address: String,
}

/// A publisher of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamPublisher {
    pub(crate) vhost: String,
    pub(crate) stream: String,
    /// True if the stream remembers the numbers of its messages.
    pub(crate) has_reference: bool,
}

/// A consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consumer {
    pub(crate) protocol: ClientProtocol,
    pub(crate) vhost: String,
    pub(crate) queue: String,
    pub(crate) exclusive: bool,
    pub(crate) no_ack: bool,
    /// Limit of unacknowledged messages; 0 for none, or for that of the channel.
    pub(crate) prefetch: u16,
    /// Limit of the channel, 0 for none; none if the node did not say it.
    pub(crate) channel_prefetch: Option<u16>,
    pub(crate) priority: Option<i64>,
}
