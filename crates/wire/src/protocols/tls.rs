//! TLS: records by type and size. Their content is hidden.
//!
//! From RFC 8446, section 5.1; versions before 1.3 use the same record layout (RFC 5246, section 6.2.1).

use super::{
    details::Details,
    framer::{self, Known, Next, Ranges, Trust},
    reply::StoredReply,
    sink::FrameSink,
};

const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
/// The level of an alert that ends the connection.
const FATAL: u8 = 2;
/// Size of the largest record, including the overhead of encryption (RFC 5246, section 6.2.3).
const RECORD_MAX: u16 = (1 << 14) + 2048;

/// The grammar of TLS records.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    pub(super) trust: Trust,
    is_inside: bool,
    kind: &'static str,
    pub(super) reply: StoredReply,
}

impl Grammar {
    pub(super) fn new(trust: Trust) -> Self {
        Self { trust, is_inside: false, kind: "", reply: StoredReply::default() }
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
            if let &[level @ (1 | 2), description] = bytes
                && level == FATAL
            {
                self.reply.set_code(u32::from(description));
            }
            return Next::Complete;
        }
        let &[kind, 3, 0..=4, length_high, length_low] = bytes else { return Next::Lost };
        let length = u16::from_be_bytes([length_high, length_low]);
        let Some(name) = name(kind).filter(|_| length <= RECORD_MAX) else { return Next::Lost };
        self.kind = name;
        self.is_inside = true;
        self.reply.clear();
        // An alert of two bytes is not encrypted: its level and its description.
        if kind == ALERT && length == 2 {
            return Next::Read(2);
        }
        Next::Skip { bytes: u64::from(length), then: 0 }
    }
}

const fn name(kind: u8) -> Option<&'static str> {
    Some(match kind {
        20 => "change_cipher_spec",
        ALERT => "alert",
        HANDSHAKE => "handshake",
        23 => "application_data",
        24 => "heartbeat",
        _ => return None,
    })
}

/// Returns whether bytes begin a connection: a record with the hello of a client or a server.
pub(super) fn opens(bytes: &[u8]) -> bool {
    matches!(bytes, [HANDSHAKE, 3, 0..=4, _, _, 1 | 2, ..])
}

/// Returns whether a record may begin with these bytes.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    matches!(bytes, [20..=24] | [20..=24, 3] | [20..=24, 3, 0..=4, ..])
}
