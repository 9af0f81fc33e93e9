//! Packing of items by publishers: several items into one message, compressed.

use serde::{Deserialize, Serialize};

/// Name of the header with the number of items in a message, if it may be more than one.
pub const ITEMS_HEADER: &str = "rabbitscope-items";

/// Maximum number of items in one message.
pub const MAX_ITEMS: u32 = 100_000;

/// Packing of the messages of a group. An item is a unit that an application wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Items in each message; with 1, the body is the item.
    pub items: u32,
    /// Compression of bodies, if any.
    pub compression: Option<Compression>,
}

/// Compression of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The algorithm, which is also the value of `content-encoding`.
    pub algorithm: Algorithm,
    /// Level in the algorithm's own scale, within [`Algorithm::levels`].
    pub level: u32,
}

/// A compression algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// RFC 1952.
    Gzip,
    /// LZ4's frame format.
    Lz4,
    /// RFC 8878.
    Zstd,
}

impl Packing {
    /// Returns whether bodies are made for each message, and stamps travel in a header.
    pub fn is_packed(self) -> bool {
        self.items > 1 || self.compression.is_some()
    }
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 3] = [Self::Gzip, Self::Lz4, Self::Zstd];

    /// Returns the name in a scenario and in `content-encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the first level, the last level, and the default of the algorithm's own tools. LZ4 has one.
    pub fn levels(self) -> (u32, u32, u32) {
        match self {
            Self::Gzip => (0, 9, 6),
            Self::Lz4 => (1, 1, 1),
            Self::Zstd => (1, 22, 3),
        }
    }
}

/// Delivery of messages to the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteMode {
    /// All messages that may be sent now, in few calls.
    #[default]
    Batched,
    /// One call for each message, like the Java client.
    PerMessage,
    /// One call for each frame of a message of AMQP 0-9-1: method, header, parts of the body. Like pika.
    PerFrame,
}
