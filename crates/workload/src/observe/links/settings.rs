//! Settings that only publishers and readers of streams have.

use rabbitscope_wire::activity::Start;

/// Settings of a publisher of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamPublisher {
    /// True if the stream remembers the numbers of its messages.
    pub(crate) has_reference: bool,
    /// Compression of entries of several messages; absent without such entries.
    pub(crate) codec: Option<u8>,
}

/// Settings of a reader of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamReader {
    /// Chunks that the broker may send ahead; absent if they are unknown.
    pub(crate) credit: Option<u16>,
    pub(crate) start: Option<Start>,
    /// The name under which it stores offsets; empty without one.
    pub(crate) name: String,
    pub(crate) is_single_active: bool,
}
