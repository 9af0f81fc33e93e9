//! Bounded reading of the kernel's text files.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Limit for the size of a file. By default a process has at most 65,530 mappings, each with a path of up to 4 KiB.
const MAX_BYTES: u64 = 256 << 20;

/// Room for most files of a process, so that one read takes all of it.
const USUAL_BYTES: usize = 4 << 10;

/// Reads a file. A process may choose its names from any bytes; those that are not UTF-8 are replaced.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<String> {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    let length = File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if length as u64 > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let lossy =
        |error: std::string::FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
    Ok(String::from_utf8(bytes).unwrap_or_else(lossy))
}

/// Returns the text after `key` at the beginning of a line.
pub(crate) fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}
