//! The place in a packet.

/// Maximum of bytes that are read at once to be kept.
pub(super) const KEPT_MAX: u32 = 4096;

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Start,
    /// Further bytes of the remaining length.
    Length {
        length: u32,
        bytes: u32,
    },
    /// Length of the topic; with the bytes of the packet.
    TopicLength(u32),
    /// The topic, or its beginning; with its unread bytes, and the bytes after it.
    Topic {
        skip: u32,
        rest: u32,
    },
    /// The topic was skipped; with the bytes after it.
    PublishIdentifier(u32),
    /// The identifier of another packet; with the bytes after it.
    Identifier(u32),
    /// A byte of the length of properties.
    PropertyLength(PropertyLength),
    /// Properties, or their beginning; with their unread bytes, and the bytes after them.
    Properties {
        skip: u32,
        rest: u32,
    },
    /// Filters of a subscription; with the unread bytes after them.
    Filters(u32),
    /// A reason, mostly of one byte; with the unread bytes after it.
    Reason(u32),
    /// Length of the protocol's name; with the bytes of the packet.
    ConnectName(u32),
    /// Name, level, flags and keep-alive time; with the bytes after them.
    Connect(u32),
    /// Length of the client id; with the bytes of the packet after it.
    ClientId(u32),
    /// The client id, or its beginning; with its unread bytes, and the bytes after it.
    ClientIdText {
        skip: u32,
        rest: u32,
    },
    /// The client id was skipped; with the bytes after it.
    Credentials(u32),
    Skipped,
}

/// The length of properties, of which a byte is to be read: the length so far, its bytes, and the bytes of the packet
/// from here on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PropertyLength {
    pub(super) length: u32,
    pub(super) bytes: u32,
    pub(super) rest: u32,
}
