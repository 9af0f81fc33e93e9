//! TLS: records by type and size. What they carry is hidden.
//!
//! From RFC 8446, section 5.1; versions before 1.3 write records the same way (RFC 5246, section 6.2.1).

use super::{
    details::Details,
    framer::{self, Known, Next, Ranges, Trust},
    sink::FrameSink,
};

const HANDSHAKE: u8 = 22;
/// The largest record, with what encryption adds (RFC 5246, section 6.2.3).
const RECORD_MAX: u16 = (1 << 14) + 2048;

/// Understands the outside of TLS.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    pub(super) trust: Trust,
    is_inside: bool,
    kind: &'static str,
}

impl Grammar {
    pub(super) const fn new(trust: Trust) -> Self {
        Self { trust, is_inside: false, kind: "" }
    }

    pub(super) const fn known(&self) -> Known {
        Known { channel: 0, kind: self.kind, details: Details::None, is_opening: false }
    }
}

impl framer::Grammar for Grammar {
    const START: usize = 5;

    fn read(&mut self, bytes: &[u8], _: &mut Ranges<'_, impl FrameSink>) -> Next {
        if self.is_inside {
            self.is_inside = false;
            return Next::Complete;
        }
        let &[kind, 3, 0..=4, length_high, length_low] = bytes else { return Next::Lost };
        let length = u16::from_be_bytes([length_high, length_low]);
        let Some(name) = name(kind).filter(|_| length <= RECORD_MAX) else { return Next::Lost };
        self.kind = name;
        self.is_inside = true;
        Next::Skip { bytes: u64::from(length), then: 0 }
    }
}

const fn name(kind: u8) -> Option<&'static str> {
    Some(match kind {
        20 => "change_cipher_spec",
        21 => "alert",
        HANDSHAKE => "handshake",
        23 => "application_data",
        24 => "heartbeat",
        _ => return None,
    })
}

/// Whether bytes begin a connection: a record with the hello of a client or a server.
pub(super) fn opens(bytes: &[u8]) -> bool {
    matches!(bytes, [HANDSHAKE, 3, 0..=4, _, _, 1 | 2, ..])
}

/// Whether a record may begin with these bytes.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    matches!(bytes, [20..=24] | [20..=24, 3] | [20..=24, 3, 0..=4, ..])
}
