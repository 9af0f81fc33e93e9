//! Publishers and readers that begin by themselves: links of AMQP 1.0, publishers and subscriptions of streams. Each has a
//! number of its own, which is the channel of its events.

/// `attach` of AMQP 1.0, `declare-publisher` or `subscribe` of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the commands")]
pub struct Attach<'a> {
    /// True for a reader.
    pub is_reader: bool,
    /// The place of its messages.
    pub place: Place<'a>,
    /// True if all messages are settled when they are sent.
    pub is_settled: bool,
    /// Chunks that the broker may send ahead; absent with AMQP 1.0, where [`super::Action::Credit`] follows.
    pub credit: Option<u16>,
    /// True if the stream remembers the numbers of a publisher.
    pub has_reference: bool,
    /// Begin of a reader of a stream; absent if it does not say so.
    pub start: Option<Start>,
    /// Name of a reader of a stream; empty without one.
    pub name: &'a [u8],
    /// True if one of the readers with this name is active.
    pub is_single_active: bool,
    /// Number of filters of a reader.
    pub filters: u16,
    /// Priority among the readers of a queue.
    pub priority: Option<i64>,
}

/// The first transfer of a link of AMQP 1.0 that was attached before the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The client's channel of its session.
    pub session: u16,
    /// The sender's handle of the link.
    pub handle: u32,
}

/// The place that messages go to or come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// An address of AMQP 1.0, as it was sent.
    Address(&'a [u8]),
    /// A stream.
    Stream(&'a [u8]),
    /// None: each message has its own address.
    PerMessage,
    /// The coordinator of transactions.
    Transactions,
}

/// The begin of a reader of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Start {
    /// The first message.
    First,
    /// The last chunk.
    Last,
    /// The next message.
    Next,
    /// A number, a time, or an age.
    Other,
}

/// `deliver` of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Number of messages.
    pub messages: u32,
    /// Bytes of their entries.
    pub bytes: u32,
}

/// `store-offset` of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredOffset<'a> {
    /// The name under which it is stored.
    pub name: &'a [u8],
    /// The stream.
    pub stream: &'a [u8],
}

/// Settings of a message of AMQP 1.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfAmqp10 {
    /// True if it was settled when it was sent, so that it has no outcome.
    pub is_settled: bool,
    /// True if it has a header, which says whether it is durable.
    pub has_header: bool,
    /// True if its sections were read. Else the size is that of all of them.
    pub is_read: bool,
}

/// Settings of a message of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfStream {
    /// Messages of its entry; absent if it has an entry of its own. Their size is the mean.
    pub of_entry: Option<u16>,
    /// Compression of the entry: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    pub codec: u8,
    /// True if it has a value by which readers filter.
    pub has_filter: bool,
    /// True if it is a body without properties.
    pub is_data: bool,
}
