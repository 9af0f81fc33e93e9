//! Messages that a publisher has compressed together.

use rabbitscope_runs::scenario::Algorithm;
use rabbitscope_streams::Packed;

use crate::packing::decompress;

/// Replaces the contents of `into` with the messages, each with its size before it. Returns false if they are damaged,
/// or if their codec is not known.
pub(super) fn unpack(packed: &Packed<'_>, into: &mut Vec<u8>) -> bool {
    let algorithm = match packed.codec {
        1 => Algorithm::Gzip,
        3 => Algorithm::Lz4,
        4 => Algorithm::Zstd,
        _ => return false,
    };
    decompress(algorithm, packed.bytes, into).is_ok() && into.len() == packed.size as usize
}

/// Returns the next message of `rest`, and advances it; `None` at the end, and if it is damaged.
pub(super) fn next<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (size, behind) = rest.split_first_chunk()?;
    let (message, behind) = behind.split_at_checked(u32::from_be_bytes(*size) as usize)?;
    *rest = behind;
    Some(message)
}
