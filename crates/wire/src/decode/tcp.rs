//! TCP's header and options (RFC 9293).

use super::outcome::NotDecoded;
use crate::segment::{TcpFlags, TcpOptions};

const FIXED_BYTES: usize = 20;

/// Kinds of options (<https://www.iana.org/assignments/tcp-parameters>).
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAX_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SELECTIVE_ACKNOWLEDGEMENT: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// A TCP header.
#[derive(Clone, Copy, Debug)]
pub(super) struct TcpHeader {
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
    pub(super) sequence: u32,
    pub(super) acknowledgement: u32,
    pub(super) flags: TcpFlags,
    pub(super) window: u16,
    pub(super) options: TcpOptions,
    /// Length in bytes, with options.
    pub(super) length: usize,
}

impl TcpHeader {
    /// Reads the header of a segment of `on_wire` bytes. Options that were not captured count as absent.
    pub(super) fn parse(data: &[u8], on_wire: usize) -> Result<Self, NotDecoded> {
        if on_wire < FIXED_BYTES {
            return Err(NotDecoded::Malformed);
        }
        let fixed: &[u8; FIXED_BYTES] = data.first_chunk().ok_or(NotDecoded::Truncated)?;
        let length = usize::from(fixed[12] >> 4) * 4;
        if length < FIXED_BYTES {
            return Err(NotDecoded::Malformed);
        }
        let u16_at = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        Ok(Self {
            source_port: u16_at(0),
            destination_port: u16_at(2),
            sequence: u32_at(fixed, 4),
            acknowledgement: u32_at(fixed, 8),
            flags: TcpFlags(fixed[13]),
            window: u16_at(14),
            options: options(&data[FIXED_BYTES..length.min(data.len())]),
            length,
        })
    }
}

/// Reads options up to their end, or up to the first malformed one.
fn options(bytes: &[u8]) -> TcpOptions {
    let mut options = TcpOptions::default();
    // The usual options of Linux: two bytes of padding, then timestamps.
    if let [NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10, times @ ..] = bytes
        && times.len() == 8
    {
        options.timestamps = Some((u32_at(times, 0), u32_at(times, 4)));
        return options;
    }
    let mut rest = bytes;
    loop {
        match rest {
            [] | [END, ..] => return options,
            [NO_OPERATION, behind @ ..] => rest = behind,
            [kind, length, ..] => {
                let length = usize::from(*length);
                let Some(value) = rest.get(2..length) else { return options };
                set(&mut options, *kind, value);
                rest = &rest[length..];
            }
            [_] => return options,
        }
    }
}

fn set(options: &mut TcpOptions, kind: u8, value: &[u8]) {
    match (kind, value) {
        (MAX_SEGMENT_SIZE, [high, low]) => {
            options.max_segment_size = Some(u16::from_be_bytes([*high, *low]));
        }
        // RFC 7323, section 2.3: a larger shift counts as 14.
        (WINDOW_SCALE, [shift]) => options.window_scale = Some((*shift).min(14)),
        (SELECTIVE_ACKNOWLEDGEMENT, blocks) => {
            let places = options.selective_acknowledgements.iter_mut();
            for (place, block) in places.zip(blocks.chunks_exact(8)) {
                *place = Some((u32_at(block, 0), u32_at(block, 4)));
            }
        }
        (TIMESTAMPS, times) if times.len() == 8 => {
            options.timestamps = Some((u32_at(times, 0), u32_at(times, 4)));
        }
        _ => {}
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
