//! Why a pprof file could not be read.

use std::io;

use rabbitscope_text::display_size;

use crate::{TooLarge, UnknownValue};

/// Why a pprof file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PprofError {
    /// The input could not be read, or its compression is broken.
    #[error("cannot read pprof: {0}")]
    Io(#[from] io::Error),
    /// The bytes are not a `profile.proto` message.
    #[error("not a pprof file: {0}")]
    Decode(#[from] prost::DecodeError),
    /// The message lacks something, or refers to something that it does not hold.
    #[error("broken pprof file: {0}")]
    Broken(String),
    /// The bytes are not those of any message.
    #[error("not a pprof file: {0}")]
    Foreign(String),
    /// It has more bytes after decompression than were asked for.
    #[error(
        "it has more than {} after decompression; `flamegraph` and `diff` take more with --max-size",
        display_size(*limit_bytes)
    )]
    TooLong {
        /// Bytes that it may have.
        limit_bytes: u64,
    },
    /// It does not have what was asked for.
    #[error(transparent)]
    Value(#[from] UnknownValue),
    /// What it holds takes too much memory.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
}
