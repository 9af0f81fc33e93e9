//! Frames: size, offset of the body, type and channel precede it.

use super::writer::{List, Write as _};

/// Bytes before a frame's body.
pub(crate) const FRAME_HEAD: usize = 8;

/// Offset of the body in words of four bytes.
const OFFSET: u8 = 2;

/// Appends a frame with a performative, or with nothing if it has no code.
pub(crate) fn write_frame(
    out: &mut Vec<u8>,
    kind: u8,
    channel: u16,
    performative: Option<u8>,
    write: impl FnOnce(&mut List),
) {
    let at = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, OFFSET, kind]);
    out.extend_from_slice(&channel.to_be_bytes());
    if let Some(code) = performative {
        out.put_code(code);
        out.put_list(write);
    }
    end_frame(out, at);
}

/// Writes the size of the frame that begins at `at` and reaches to the end.
#[inline]
pub(crate) fn end_frame(out: &mut [u8], at: usize) {
    let size = u32::try_from(out.len() - at).unwrap_or(u32::MAX);
    out[at..at + 4].copy_from_slice(&size.to_be_bytes());
}
