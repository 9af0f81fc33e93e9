//! Grammar of frames: size, data offset, type, channel, extended header, body.

use super::{
    super::{
        arguments::KeptArguments,
        details::{Details, Sections},
        framer::{self, Known, Next, READ_MAX, Ranges, Tell, Trust},
        prefix::Prefix,
        reply::StoredReply,
        sink::{FrameSink, SensitiveKind},
    },
    deliveries::Deliveries,
    errors::error,
    parts::Part,
    performative::{OPEN, TRANSFER, details, name, sasl_name},
    private,
};

const HEADER: usize = 8;
const AMQP: u8 = 0;
const SASL: u8 = 1;
/// Bytes of the list of the SASL outcome up to its code: constructor, size, count, constructor of the code, code.
const OUTCOME: u32 = 5;
/// Longest frame that is accepted in the middle of a connection. RabbitMQ's frames have at most 131,072 bytes.
const DISTRUSTED_MAX: u32 = 1 << 20;

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    /// The protocol header's last bytes were skipped.
    Skipped,
    /// The descriptor; with the bytes of the body.
    Descriptor(u32),
    /// The code of the SASL outcome; with the bytes after it.
    Outcome(u32),
    /// The list's constructor; with the bytes after the descriptor.
    List {
        descriptor: u8,
        rest: u32,
    },
    /// Size and count of the list; with the bytes after its constructor.
    Size {
        descriptor: u8,
        rest: u32,
    },
    /// Fields; with the unread bytes of the list, and the bytes of the payload after it.
    Fields {
        descriptor: u8,
        rest: u32,
        payload: u32,
    },
    /// The rest of a long list was skipped; with the bytes of the payload.
    Payload(u32),
    /// A part of a message; with the unread bytes of the payload.
    Message(Part, u32),
}

/// The grammar of AMQP 1.0.
#[derive(Clone, Debug)]
pub(in super::super) struct Grammar {
    pub(in super::super) trust: Trust,
    state: State,
    is_sasl: bool,
    channel: u16,
    kind: &'static str,
    pub(super) details: Details,
    deliveries: Deliveries,
    /// The sections of the current message that were read.
    pub(super) sections: Sections,
    pub(in super::super) reply: StoredReply,
    pub(in super::super) arguments: KeptArguments,
}

impl Grammar {
    pub(in super::super) fn new(trust: Trust) -> Self {
        Self {
            trust,
            state: State::Start,
            is_sasl: false,
            channel: 0,
            kind: "",
            details: Details::None,
            deliveries: Deliveries::new(trust == Trust::Full),
            sections: Sections::default(),
            reply: StoredReply::default(),
            arguments: KeptArguments::default(),
        }
    }

    pub(in super::super) fn known(&self) -> Known {
        let (channel, kind, details) = (self.channel, self.kind, self.details);
        Known { channel, kind, details, is_opening: kind == "protocol-header" }
    }

    #[inline]
    fn start(&mut self, bytes: &[u8]) -> Next {
        let &[a, b, c, d, data_offset, kind, channel_high, channel_low] = bytes else {
            return Next::Lost;
        };
        self.details = Details::None;
        self.reply.clear();
        self.arguments.clear();
        if opens(bytes) {
            self.deliveries = Deliveries::new(true);
            return self.skip("protocol-header", 0);
        }
        let size = u32::from_be_bytes([a, b, c, d]);
        let header = u32::from(data_offset) * 4;
        let is_odd = self.trust == Trust::Little && (size > DISTRUSTED_MAX || data_offset != 2);
        if is_odd || data_offset < 2 || size < header || kind > SASL {
            return Next::Lost;
        }
        self.is_sasl = kind == SASL;
        self.channel =
            if self.is_sasl { 0 } else { u16::from_be_bytes([channel_high, channel_low]) };
        let extended = u64::from(header) - HEADER as u64;
        match size - header {
            0 => self.skip("empty", extended),
            1..3 => Next::Lost,
            body => {
                self.state = State::Descriptor(body - 3);
                Next::Skip { bytes: extended, then: 3 }
            }
        }
    }

    /// Skips the rest of the frame.
    fn skip(&mut self, kind: &'static str, bytes: u64) -> Next {
        self.kind = kind;
        self.state = State::Skipped;
        Next::Skip { bytes, then: 0 }
    }

    /// Continues with a part of a message: `then` bytes of it, with `rest` unread bytes of the payload behind them.
    pub(super) fn part(&mut self, part: Part, skip: u32, then: u32, rest: u32) -> Next {
        self.state = State::Message(part, rest);
        Next::Skip { bytes: u64::from(skip), then: then as usize }
    }

    /// Skips the rest of a payload, which is a part of a body.
    pub(super) fn body(&mut self, rest: u32, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        ranges.next(u64::from(rest), SensitiveKind::Body);
        self.skip(self.kind, u64::from(rest))
    }

    #[inline]
    fn descriptor(
        &mut self,
        bytes: &[u8],
        rest: u32,
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        // A descriptor may have a longer form. No known program uses it; such a frame is hidden.
        let descriptor = match bytes {
            [0, 0x53, descriptor] => *descriptor,
            [0, 0x80 | 0xa3 | 0xb3, _] if self.trust == Trust::Full => {
                return self.hide("unknown performative", rest, ranges);
            }
            _ => return Next::Lost,
        };
        let known = if self.is_sasl { sasl_name(descriptor) } else { name(descriptor) };
        match known {
            None if self.trust == Trust::Little => Next::Lost,
            None => self.hide("unknown performative", rest, ranges),
            Some(name @ "sasl-mechanisms") => self.skip(name, u64::from(rest)),
            Some(name @ "sasl-outcome") if rest >= OUTCOME => {
                ranges.next(u64::from(rest), SensitiveKind::Credentials);
                self.kind = name;
                self.state = State::Outcome(rest - OUTCOME);
                Next::Read(OUTCOME as usize)
            }
            Some(name) if self.is_sasl => self.hide(name, rest, ranges),
            Some(_) if rest == 0 => Next::Lost,
            Some(name) => {
                self.kind = name;
                self.state = State::List { descriptor, rest: rest - 1 };
                Next::Read(1)
            }
        }
    }

    /// Skips content that is not read and that may contain credentials.
    fn hide(
        &mut self,
        kind: &'static str,
        rest: u32,
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        ranges.next(u64::from(rest), SensitiveKind::Credentials);
        self.skip(kind, u64::from(rest))
    }

    /// Reads a short list whose first field is the code.
    fn outcome(&mut self, bytes: &[u8], rest: u32) -> Next {
        if let &[0xc0, _, _, 0x50, code] = bytes {
            self.reply.set_code(u32::from(code));
        }
        self.skip(self.kind, u64::from(rest))
    }

    fn list(
        &mut self,
        bytes: &[u8],
        descriptor: u8,
        rest: u32,
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        self.state = State::Size { descriptor, rest };
        match bytes {
            [0xc0] if rest >= 2 => Next::Read(2),
            [0xd0] if rest >= 8 => Next::Read(8),
            [0x45] => self.payload(descriptor, &[], rest, ranges),
            _ => Next::Lost,
        }
    }

    fn size(&mut self, bytes: &[u8], descriptor: u8, rest: u32) -> Next {
        // The size includes the bytes of the count.
        let (size, counted) = match *bytes {
            [size, _] => (u32::from(size), 1),
            [a, b, c, d, ..] => (u32::from_be_bytes([a, b, c, d]), 4),
            _ => return Next::Lost,
        };
        let behind = rest - 2 * counted;
        let Some(fields) = size.checked_sub(counted).filter(|fields| *fields <= behind) else {
            return Next::Lost;
        };
        let read = READ_MAX.min(fields as usize);
        let rest = fields - u32::try_from(read).unwrap_or(fields);
        self.state = State::Fields { descriptor, rest, payload: behind - fields };
        Next::Read(read)
    }

    /// Skips the message of a transfer. Bytes after another performative have no known meaning.
    #[inline]
    fn payload(
        &mut self,
        descriptor: u8,
        fields: &[u8],
        payload: u32,
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        if descriptor != TRANSFER && payload > 0 && self.trust == Trust::Little {
            return Next::Lost;
        }
        self.details = details(descriptor, fields, payload);
        self.condition(descriptor, fields);
        if let Details::Transfer(transfer) = &self.details {
            if self.deliveries.begins(self.channel, transfer) {
                self.sections = Sections::default();
                return self.next_section(payload, ranges);
            }
        } else {
            self.arguments.keep(fields);
        }
        self.body(payload, ranges)
    }

    /// Stores the error of a performative that ends or rejects something.
    fn condition(&mut self, descriptor: u8, fields: &[u8]) {
        if let Some(text) = error(descriptor, fields) {
            self.reply.set_text(&text);
        }
    }

    fn fields(
        &mut self,
        bytes: &[u8],
        (descriptor, rest, payload): (u8, u32, u32),
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        if rest == 0 {
            return self.payload(descriptor, bytes, payload, ranges);
        }
        // Only the beginning of such a long list is read; the payload begins after it.
        self.details = details(descriptor, bytes, payload);
        self.condition(descriptor, bytes);
        if let Details::Transfer(transfer) = &self.details {
            self.deliveries.begins(self.channel, transfer);
        } else {
            self.arguments.keep(bytes);
        }
        self.state = State::Payload(payload);
        Next::Skip { bytes: u64::from(rest), then: 0 }
    }
}

impl framer::Grammar for Grammar {
    const START: usize = HEADER;

    #[inline]
    fn private(&self, bytes: &[u8], wanted: usize, tell: &mut Tell<'_>) {
        let (descriptor, rest) = match self.state {
            State::Fields { descriptor, rest, .. } => (descriptor, rest),
            State::Message(part, _) => return part.private(bytes, wanted, tell),
            _ => return,
        };
        if rest == 0 && !private::may_have_maps(bytes) {
            return;
        }
        // A client may put a token into its connection properties.
        let is_client = descriptor == OPEN;
        let kind = if is_client { SensitiveKind::Credentials } else { SensitiveKind::Body };
        let tell = &mut |range| tell(range, kind);
        Prefix::read(bytes, (wanted, wanted + rest as usize), tell, private::fields);
    }

    #[inline]
    fn read(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        match self.state {
            State::Start => self.start(bytes),
            State::Descriptor(rest) => self.descriptor(bytes, rest, ranges),
            State::Outcome(rest) => self.outcome(bytes, rest),
            State::List { descriptor, rest } => self.list(bytes, descriptor, rest, ranges),
            State::Size { descriptor, rest } => self.size(bytes, descriptor, rest),
            State::Fields { descriptor, rest, payload } => {
                self.fields(bytes, (descriptor, rest, payload), ranges)
            }
            State::Payload(payload) => self.body(payload, ranges),
            State::Message(part, rest) => self.message(part, rest, bytes, ranges),
            State::Skipped => {
                self.state = State::Start;
                Next::Complete
            }
        }
    }
}

/// Returns whether bytes begin a connection: the protocol header of AMQP 1.0, of TLS inside it, or of its SASL layer.
pub(in super::super) fn opens(bytes: &[u8]) -> bool {
    matches!(bytes, [b'A', b'M', b'Q', b'P', 0 | 2 | 3, 1, 0, 0, ..])
}

/// Returns whether a frame may begin with these bytes.
pub(in super::super) fn may_begin(bytes: &[u8]) -> bool {
    if let [b'A', ..] = bytes {
        return opens(bytes)
            || (bytes.len() < 8 && b"AMQP".starts_with(&bytes[..bytes.len().min(4)]));
    }
    let is_at = |at: usize, allowed: &[u8]| bytes.get(at).is_none_or(|byte| allowed.contains(byte));
    let is_empty = bytes.starts_with(&[0, 0, 0, 8]);
    is_at(0, &[0])
        && is_at(4, &[2])
        && is_at(5, &[AMQP, SASL])
        && (is_empty || (is_at(8, &[0]) && is_at(9, &[0x53])))
}
