//! Grammar of frames: type, channel, length, payload, 0xCE.

use super::{
    super::{
        arguments::KeptArguments,
        details::Details,
        framer::{self, Known, Next, READ_MAX, Ranges, Tell, Trust},
        prefix::Prefix,
        reply::StoredReply,
        sink::{FrameSink, SensitiveKind},
    },
    content::header,
    method::{details, reply},
    private,
};
use rabbitscope_amqp::protocol::{
    frames::{BODY, CONTENT_HEADER, END, HEADER_BYTES, HEARTBEAT, METHOD, PROTOCOL_HEADER},
    methods::{
        BASIC, CONNECTION_SECURE, CONNECTION_SECURE_OK, CONNECTION_START_OK,
        CONNECTION_UPDATE_SECRET, Method, MethodId,
    },
    properties::BYTES_BEFORE_FLAGS,
};

/// Number of bytes read of a method's arguments. The methods of interest have at most three short strings.
const ARGUMENTS_MAX: usize = 1024;
/// Longest frame that is accepted in the middle of a connection; RabbitMQ's `frame_max` is 131,072.
const DISTRUSTED_MAX: u32 = 1 << 20;
/// Bytes of the protocol header beyond the length of a frame header.
const PROTOCOL_HEADER_REST: usize = 1;

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    ProtocolHeader,
    /// Class and method; with the bytes of the payload.
    Method(usize),
    /// Arguments, with or without the end of the frame.
    Arguments {
        id: MethodId,
        rest: usize,
    },
    /// Length of the client's properties, before its credentials; with the bytes of the arguments.
    PropertiesLength(usize),
    /// The client's properties; with their unread bytes, and the bytes after them.
    Properties {
        skip: usize,
        rest: usize,
    },
    /// Length of the mechanism; with the bytes after it.
    Mechanism(usize),
    /// Length of the response; with the bytes after it.
    Response(usize),
    /// A content header; with its unread bytes.
    Header(usize),
    End,
}

/// The grammar of AMQP 0-9-1.
#[derive(Clone, Debug)]
pub(in super::super) struct Grammar {
    pub(in super::super) trust: Trust,
    state: State,
    channel: u16,
    kind: &'static str,
    details: Details,
    pub(in super::super) reply: StoredReply,
    pub(in super::super) arguments: KeptArguments,
}

impl Grammar {
    pub(in super::super) fn new(trust: Trust) -> Self {
        Self {
            trust,
            state: State::Start,
            channel: 0,
            kind: "",
            details: Details::None,
            reply: StoredReply::default(),
            arguments: KeptArguments::default(),
        }
    }

    #[inline]
    pub(in super::super) fn known(&self) -> Known {
        let (channel, kind, details) = (self.channel, self.kind, self.details);
        let is_opening = matches!(kind, "protocol-header" | "connection.start");
        Known { channel, kind, details, is_opening }
    }

    #[inline]
    fn start(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let [kind, channel_high, channel_low, length @ ..] = bytes else { return Next::Lost };
        self.reply.clear();
        self.arguments.clear();
        let Ok(length) = <[u8; 4]>::try_from(length).map(u32::from_be_bytes) else {
            return Next::Lost;
        };
        if kind == &b'A' && PROTOCOL_HEADERS.iter().any(|header| header.starts_with(bytes)) {
            self.state = State::ProtocolHeader;
            return Next::Read(PROTOCOL_HEADER_REST);
        }
        if self.trust == Trust::Little && length > DISTRUSTED_MAX {
            return Next::Lost;
        }
        self.channel = u16::from_be_bytes([*channel_high, *channel_low]);
        let Ok(size) = usize::try_from(length) else { return Next::Lost };
        match *kind {
            METHOD if size >= 4 => {
                self.state = State::Method(size);
                Next::Read(4)
            }
            CONTENT_HEADER if size >= BYTES_BEFORE_FLAGS => self.begin_header(size),
            BODY => {
                ranges.next(u64::from(length), SensitiveKind::Body);
                self.skip_to_end("body", Details::Body(length), size)
            }
            HEARTBEAT if self.trust == Trust::Full || (size == 0 && self.channel == 0) => {
                self.skip_to_end("heartbeat", Details::None, size)
            }
            _ => Next::Lost,
        }
    }

    fn begin_header(&mut self, size: usize) -> Next {
        let read = size.min(READ_MAX);
        self.state = State::Header(size - read);
        Next::Read(read)
    }

    fn skip_to_end(&mut self, kind: &'static str, details: Details, bytes: usize) -> Next {
        (self.kind, self.details, self.state) = (kind, details, State::End);
        Next::Skip { bytes: bytes as u64, then: 1 }
    }

    #[inline]
    fn method(
        &mut self,
        size: usize,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let &[class_high, class_low, method_high, method_low] = bytes else { return Next::Lost };
        let id = (
            u16::from_be_bytes([class_high, class_low]),
            u16::from_be_bytes([method_high, method_low]),
        );
        let known = Method::find(id);
        if known.is_none() && self.trust == Trust::Little {
            return Next::Lost;
        }
        self.kind = known.map_or("unknown method", |method| method.name);
        let rest = size - 4;
        match id {
            CONNECTION_START_OK if rest >= 4 => {
                self.details = Details::Method { number: id, no_wait: false };
                self.state = State::PropertiesLength(rest - 4);
                Next::Read(4)
            }
            // A challenge, its response, and a token that replaces another.
            CONNECTION_START_OK
            | CONNECTION_SECURE
            | CONNECTION_SECURE_OK
            | CONNECTION_UPDATE_SECRET => {
                self.details = Details::Method { number: id, no_wait: false };
                self.hide(rest, ranges)
            }
            _ => {
                let has_table = known.is_some_and(|method| method.has_table);
                let most = if has_table { READ_MAX } else { ARGUMENTS_MAX };
                let read = rest.min(most);
                self.state = State::Arguments { id, rest: rest - read };
                Next::Read(read)
            }
        }
    }

    #[inline]
    fn arguments(&mut self, id: MethodId, rest: usize, bytes: &[u8]) -> Next {
        self.details = details(id, bytes);
        self.arguments.keep(bytes);
        if let Some(reply) = reply(id, bytes) {
            self.reply.set(&reply);
        }
        self.state = State::End;
        Next::Skip { bytes: rest as u64, then: 1 }
    }

    /// Skips the rest of the payload, which holds credentials.
    fn hide(&mut self, bytes: usize, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        ranges.next(bytes as u64, SensitiveKind::Credentials);
        self.state = State::End;
        Next::Skip { bytes: bytes as u64, then: 1 }
    }

    fn properties_length(
        &mut self,
        rest: usize,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let length = bytes.try_into().map_or(u32::MAX, u32::from_be_bytes) as usize;
        match rest.checked_sub(length.saturating_add(1)) {
            None => self.hide(rest, ranges),
            Some(rest) => {
                let read = length.min(READ_MAX);
                self.state = State::Properties { skip: length - read, rest };
                Next::Read(read)
            }
        }
    }

    fn properties(&mut self, skip: usize, rest: usize, bytes: &[u8]) -> Next {
        self.arguments.keep(bytes);
        self.state = State::Mechanism(rest);
        Next::Skip { bytes: skip as u64, then: 1 }
    }

    fn mechanism(
        &mut self,
        rest: usize,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let length = bytes.first().map_or(usize::MAX, |length| usize::from(*length));
        match rest.checked_sub(length.saturating_add(4)) {
            None => self.hide(rest, ranges),
            Some(rest) => {
                self.state = State::Response(rest);
                Next::Skip { bytes: length as u64, then: 4 }
            }
        }
    }

    fn content_header(&mut self, rest: usize, bytes: &[u8]) -> Next {
        let Some(header) = header(bytes) else { return Next::Lost };
        self.arguments.keep(bytes);
        self.skip_to_end("header", Details::Header(header), rest)
    }

    fn end(&mut self, bytes: &[u8]) -> Next {
        self.state = State::Start;
        if bytes == [END] { Next::Complete } else { Next::Lost }
    }

    fn protocol_header(&mut self) -> Next {
        (self.kind, self.details, self.channel) = ("protocol-header", Details::None, 0);
        self.state = State::Start;
        Next::Complete
    }
}

impl framer::Grammar for Grammar {
    const START: usize = HEADER_BYTES;

    #[inline]
    fn private(&self, bytes: &[u8], wanted: usize, tell: &mut Tell<'_>) {
        match self.state {
            State::Header(rest) => {
                let tell = &mut |range| tell(range, SensitiveKind::Body);
                Prefix::read(bytes, (wanted, wanted + rest), tell, private::properties);
            }
            State::Arguments { id, rest } => {
                let Some(method) = Method::find(id).filter(|method| method.has_table) else {
                    return;
                };
                let tell = &mut |range| tell(range, SensitiveKind::Body);
                let arguments = |prefix: &mut Prefix<'_, '_>| private::arguments(prefix, method);
                Prefix::read(bytes, (wanted, wanted + rest), tell, arguments);
            }
            State::Properties { skip, .. } => {
                let tell = &mut |range| tell(range, SensitiveKind::Credentials);
                Prefix::read(bytes, (wanted, wanted + skip), tell, private::client_properties);
            }
            _ => {}
        }
    }

    #[inline]
    fn read(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        match self.state {
            State::Start => self.start(bytes, ranges),
            State::Method(size) => self.method(size, bytes, ranges),
            State::Arguments { id, rest } => self.arguments(id, rest, bytes),
            State::Header(rest) => self.content_header(rest, bytes),
            State::End => self.end(bytes),
            State::PropertiesLength(rest) => self.properties_length(rest, bytes, ranges),
            State::Properties { skip, rest } => self.properties(skip, rest, bytes),
            State::Mechanism(rest) => self.mechanism(rest, bytes, ranges),
            State::Response(rest) => self.hide(rest, ranges),
            State::ProtocolHeader => self.protocol_header(),
        }
    }
}

/// Protocol headers of 0-9-1, 0-9 and 0-8, whose frames are the same.
const PROTOCOL_HEADERS: [&[u8; 8]; 3] =
    [&PROTOCOL_HEADER, b"AMQP\x01\x01\0\x09", b"AMQP\x01\x01\x08\0"];

/// Returns whether bytes begin a connection.
pub(in super::super) fn opens(bytes: &[u8]) -> bool {
    let is_start = matches!(bytes, [METHOD, 0, 0, 0, _, _, _, 0, 10, 0, 10, ..]);
    is_start || PROTOCOL_HEADERS.iter().any(|header| bytes.starts_with(*header))
}

/// Returns whether a frame may begin with these bytes.
pub(in super::super) fn may_begin(bytes: &[u8]) -> bool {
    let is_short_enough = bytes.get(3).is_none_or(|high| *high == 0);
    match bytes.first() {
        Some(&METHOD) => is_short_enough && may_be_known(bytes),
        Some(&CONTENT_HEADER) => {
            is_short_enough && agrees(bytes.get(HEADER_BYTES..), &BASIC.to_be_bytes())
        }
        Some(&BODY) => is_short_enough,
        Some(&HEARTBEAT) => agrees(bytes.get(1..), &[0, 0, 0, 0, 0, 0, END]),
        Some(b'A') => PROTOCOL_HEADERS.iter().any(|header| agrees(Some(bytes), *header)),
        _ => false,
    }
}

fn may_be_known(bytes: &[u8]) -> bool {
    match bytes.get(7..11) {
        None => true,
        Some(&[0, class, 0, method]) => Method::find((class.into(), method.into())).is_some(),
        Some(_) => false,
    }
}

/// Returns whether the available bytes agree with a pattern.
fn agrees(bytes: Option<&[u8]>, pattern: &[u8]) -> bool {
    let bytes = bytes.unwrap_or_default();
    let common = bytes.len().min(pattern.len());
    bytes[..common] == pattern[..common]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_begins_with_what_its_type_allows() {
        fn check(bytes: &[u8], expected: bool) {
            assert_eq!(may_begin(bytes), expected, "{bytes:?}");
        }
        check(&[1, 0, 1, 0, 0, 0, 13, 0, 60, 0, 80], true);
        check(&[1, 0, 1, 0, 0, 0, 13, 0, 60, 0, 81], false);
        check(&[1, 0, 1, 0, 0, 0, 13, 0, 60], true);
        check(&[1, 0, 1, 1], false);
        check(&[2, 0, 1, 0, 0, 0, 14, 0, 61], false);
        check(&[3, 0, 1, 0], true);
        check(&[8, 0, 0, 0, 0, 0, 0, 0xce], true);
        check(&[8, 0, 1], false);
        check(b"AMQ", true);
        check(b"AMQP\x03", false);
        check(&[4], false);
    }
}
