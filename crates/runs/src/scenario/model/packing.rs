//! How publishers pack what applications send: several items into one message, compressed.

use serde::{Deserialize, Serialize};

/// Name of the header that says how many items a message carries, when it may be more than one.
pub const ITEMS_HEADER: &str = "rabbitscope-items";

/// Most items in one message.
pub const MAX_ITEMS: u32 = 100_000;

/// How the messages of a group are packed. An item is what an application wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Items in each message; 1: the body is the item.
    pub items: u32,
    /// Absent: none.
    pub compression: Option<Compression>,
}

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Also the value of `content-encoding`.
    pub algorithm: Algorithm,
    /// As the algorithm counts; one of [`Algorithm::levels`].
    pub level: u32,
}

/// An algorithm that compresses.
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
    /// Bodies are made for each message, and stamps travel in a header.
    pub fn is_packed(self) -> bool {
        self.items > 1 || self.compression.is_some()
    }
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gzip, Self::Lz4, Self::Zstd];

    /// Its name in a scenario and in `content-encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// First level, last level, and what the algorithm's own tools choose. LZ4 has one.
    pub fn levels(self) -> (u32, u32, u32) {
        match self {
            Self::Gzip => (0, 9, 6),
            Self::Lz4 => (1, 1, 1),
            Self::Zstd => (1, 22, 3),
        }
    }
}

/// How messages are handed to the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteMode {
    /// All that may be sent now, in few calls.
    #[default]
    Batched,
    /// One call for each message, as the Java client does.
    PerMessage,
}
