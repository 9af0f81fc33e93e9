//! pprof: gzipped protocol buffers that `go tool pprof` and many other tools open.

use std::io::{self, Read, Write};

use super::Profile;

/// Why a pprof file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PprofError {
    /// The input could not be read or is not gzip.
    #[error("cannot read pprof: {0}")]
    Io(#[from] io::Error),
    /// The bytes are not a `profile.proto` message.
    #[error("not a pprof file: {0}")]
    Decode(#[from] prost::DecodeError),
    /// The message refers to something that it does not hold.
    #[error("broken pprof file: {0}")]
    Broken(String),
}

/// Writes `profile` as gzipped pprof.
pub fn write_pprof(_profile: &Profile, _out: impl Write) -> io::Result<()> {
    unimplemented!()
}

/// Reads a pprof file, gzipped or not, written by rabbitscope or by another program.
pub fn read_pprof(_input: impl Read) -> Result<Profile, PprofError> {
    unimplemented!()
}
