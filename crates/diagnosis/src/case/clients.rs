//! Connections, channels and consumers of a node.

/// The clients of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clients {
    /// Connections with the most traffic or channels.
    pub connections: Vec<ConnectionCase>,
    /// Channels with the most messages or unacknowledged messages.
    pub channels: Vec<ChannelCase>,
}

/// A connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionCase {
    /// Pid of the reader, as the node prints it.
    pub pid: String,
    /// Name, `host:port -> host:port`.
    pub name: String,
    /// The client's name for its connection; empty if it gave none.
    pub client: String,
    /// User.
    pub user: String,
    /// Virtual host.
    pub vhost: String,
    /// Protocol, such as `AMQP 0-9-1`.
    pub protocol: String,
    /// Name of the client library with its version; empty if it gave none.
    pub library: String,
    /// State: `running`, `flow`, `blocked` …
    pub state: String,
    /// Number of channels.
    pub channels: u64,
    /// Bytes received per second.
    pub received_bytes_per_second: Option<f64>,
    /// Bytes sent per second.
    pub sent_bytes_per_second: Option<f64>,
    /// Bytes that wait for the socket.
    pub send_pending: Option<u64>,
}

/// A channel, or a session of AMQP 1.0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelCase {
    /// Pid, as the node prints it.
    pub pid: String,
    /// Name, `host:port -> host:port (number)`.
    pub name: String,
    /// Pid of the connection's reader.
    pub connection: String,
    /// The client's name for its connection; empty if it gave none.
    pub client: String,
    /// User.
    pub user: String,
    /// Virtual host.
    pub vhost: String,
    /// Number of consumers.
    pub consumers: u64,
    /// Consumers without acknowledgement.
    pub consumers_without_ack: u64,
    /// Prefetch count of the consumers, the smallest; 0 means no limit. Absent without consumers.
    pub prefetch: Option<u64>,
    /// Prefetch count of the whole channel; 0 means no limit.
    pub global_prefetch: u64,
    /// Unacknowledged messages at the end.
    pub unacknowledged: u64,
    /// Growth of the unacknowledged messages per second.
    pub unacknowledged_growth: f64,
    /// Messages published but not confirmed, at the end.
    pub unconfirmed: u64,
    /// Is true if the channel confirms.
    pub is_confirming: bool,
    /// Is true if the channel is transactional.
    pub is_transactional: bool,
    /// Names of the queues that it consumes from, at most ten.
    pub consumed_queues: Vec<String>,
    /// Published messages per second. Absent without statistics, like the rates below.
    pub published_per_second: Option<f64>,
    /// Confirmed messages per second.
    pub confirmed_per_second: Option<f64>,
    /// Delivered messages per second.
    pub delivered_per_second: Option<f64>,
    /// Acknowledged messages per second. One acknowledgement can settle several.
    pub acknowledged_per_second: Option<f64>,
    /// Messages got per second.
    pub got_per_second: Option<f64>,
    /// Answers of empty queues to `basic.get` per second.
    pub get_empty_per_second: Option<f64>,
}

impl ChannelCase {
    /// Returns whether messages passed the channel, as far as the node counts them.
    pub(crate) fn has_messages(&self) -> bool {
        let rates = [self.published_per_second, self.delivered_per_second, self.got_per_second];
        rates.into_iter().flatten().any(|rate| rate > 0.0)
    }
}
