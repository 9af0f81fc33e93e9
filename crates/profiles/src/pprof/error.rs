//! Errors of the pprof reader.

use std::io;

use rabbitscope_text::display_size;

use crate::{TooLarge, UnknownValue};

/// A failure to read a pprof file.
#[derive(Debug, thiserror::Error)]
pub enum PprofError {
    /// The input could not be read, or its compression is broken.
    #[error("cannot read pprof: {0}")]
    Io(#[from] io::Error),
    /// The bytes are not a `profile.proto` message.
    #[error("not a pprof file: {0}")]
    Decode(#[from] prost::DecodeError),
    /// The message lacks something, or refers to something that is missing.
    #[error("broken pprof file: {0}")]
    Broken(String),
    /// The bytes are no protocol buffer message.
    #[error("not a pprof file: {0}")]
    Foreign(String),
    /// The file has more bytes after decompression than the limit.
    #[error(
        "it has more than {} after decompression; `flamegraph` and `diff` accept more with --max-size",
        display_size(*limit_bytes)
    )]
    TooLong {
        /// The limit.
        limit_bytes: u64,
    },
    /// The file lacks the value that the caller chose.
    #[error(transparent)]
    Value(#[from] UnknownValue),
    /// The profile takes too much memory.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
}
