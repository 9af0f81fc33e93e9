//! Grammar of packets: type and flags, remaining length, variable header, payload.

use super::{
    super::{
        details::Details,
        framer::{self, Known, Next, Ranges, Trust},
        reply::StoredReply,
        sink::{FrameSink, SensitiveKind},
    },
    packet::{name, packet_type},
};

/// Maximum of bytes of the remaining length.
const LENGTH_BYTES_MAX: u32 = 4;
/// Protocol levels of MQTT 5, and of its predecessors.
const LEVEL_5: u8 = 5;
const LEVEL_3: u8 = 4;
/// Number of bytes of a topic that a search examines.
const TOPIC_MAX: u32 = 256;
/// Number of bytes after an identifier that are read for the reason at their end.
const REASONS_MAX: u32 = 64;
/// Lowest reason code that is a failure.
const FAILURE: u8 = 0x80;
/// Longest packet that a search accepts.
const DISTRUSTED_MAX: u32 = 1 << 20;

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    /// Further bytes of the remaining length.
    Length {
        length: u32,
        bytes: u32,
    },
    /// Length of the topic; with the bytes of the packet.
    TopicLength(u32),
    /// The topic, or its beginning; with its unread bytes, and the bytes after it.
    Topic {
        skip: u32,
        rest: u32,
    },
    /// The topic was skipped; with the bytes after it.
    PublishIdentifier(u32),
    /// The identifier of another packet; with the bytes after it.
    Identifier(u32),
    /// A byte of the length of properties; with the length so far, its bytes, and the bytes of the packet from here on.
    Properties {
        length: u32,
        bytes: u32,
        rest: u32,
    },
    /// A reason, mostly of one byte; with the unread bytes after it.
    Reason(u32),
    /// Length of the protocol's name; with the bytes of the packet.
    ConnectName(u32),
    /// Name, level, flags and keep-alive time; with the bytes after them.
    Connect(u32),
    /// Length of the client id; with the bytes of the packet after it.
    ClientId(u32),
    /// The client id was skipped; with the bytes after it.
    Credentials(u32),
    Skipped,
}

/// The grammar of MQTT.
#[derive(Clone, Debug)]
pub(in super::super) struct Grammar {
    pub(in super::super) trust: Trust,
    state: State,
    first: u8,
    kind: &'static str,
    identifier: u16,
    /// The protocol's level, 5 for MQTT 5, once a CONNECT or CONNACK has shown it.
    level: Option<u8>,
    pub(in super::super) reply: StoredReply,
}

impl Grammar {
    pub(in super::super) fn new(trust: Trust) -> Self {
        let (state, kind, reply) = (State::Start, "", StoredReply::default());
        Self { trust, state, first: 0, kind, identifier: 0, level: None, reply }
    }

    pub(in super::super) fn known(&self) -> Known {
        let is_publish = self.first >> 4 == packet_type::PUBLISH;
        let quality_of_service = if is_publish { self.first >> 1 & 0b11 } else { 0 };
        let details = Details::Mqtt { quality_of_service, identifier: self.identifier };
        Known { channel: 0, kind: self.kind, details, is_opening: self.kind == "CONNECT" }
    }

    #[inline]
    fn start(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let &[first, length] = bytes else { return Next::Lost };
        let Some(name) = name(first) else { return Next::Lost };
        (self.first, self.kind, self.identifier) = (first, name, 0);
        self.reply.clear();
        self.length(0, 0, length, ranges)
    }

    /// Reads a byte of the remaining length (section 2.2.3).
    #[inline]
    fn length(
        &mut self,
        so_far: u32,
        bytes: u32,
        next: u8,
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let length = so_far | u32::from(next & 0x7f) << (7 * bytes);
        if next & 0x80 == 0 {
            return self.content(length, ranges);
        }
        if bytes + 1 == LENGTH_BYTES_MAX {
            return Next::Lost;
        }
        self.state = State::Length { length, bytes: bytes + 1 };
        Next::Read(1)
    }

    #[inline]
    fn content(&mut self, length: u32, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let kind = self.first >> 4;
        if self.trust == Trust::Little && !is_plausible(kind, length) {
            return Next::Lost;
        }
        match kind {
            packet_type::PUBLISH if length >= 2 => self.read(State::TopicLength(length - 2), 2),
            packet_type::CONNECT if length >= 2 => self.read(State::ConnectName(length - 2), 2),
            packet_type::PUBACK..=packet_type::UNSUBACK if length >= 2 => {
                self.read(State::Identifier(length - 2), 2)
            }
            // In MQTT 5 their properties may contain authentication data.
            packet_type::CONNACK if length >= 2 => self.connack(length, ranges),
            // Properties follow the reason.
            packet_type::DISCONNECT if length >= 1 => {
                ranges.behind(1, u64::from(length - 1), SensitiveKind::Body);
                self.read(State::Reason(length - 1), 1)
            }
            packet_type::PINGREQ..=packet_type::DISCONNECT | packet_type::CONNACK => {
                self.skip(length)
            }
            packet_type::AUTH => self.hide(length, ranges),
            _ => Next::Lost,
        }
    }

    /// Reads a CONNACK. Only MQTT 5 has more than flags and the reason.
    fn connack(&mut self, length: u32, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        self.level = Some(LEVEL_3);
        if length > 2 {
            self.level = Some(LEVEL_5);
            ranges.next(u64::from(length), SensitiveKind::Credentials);
        }
        self.read(State::Reason(length - 2), 2)
    }

    fn read(&mut self, state: State, bytes: usize) -> Next {
        self.state = state;
        Next::Read(bytes)
    }

    fn skip(&mut self, bytes: u32) -> Next {
        self.state = State::Skipped;
        Next::Skip { bytes: u64::from(bytes), then: 0 }
    }

    fn hide(&mut self, bytes: u32, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        ranges.next(u64::from(bytes), SensitiveKind::Credentials);
        self.skip(bytes)
    }

    fn topic_length(&mut self, rest: u32, bytes: &[u8]) -> Next {
        let length = length_of(bytes);
        let is_enough = |rest: &u32| *rest >= self.identifier_bytes();
        let Some(rest) = rest.checked_sub(length).filter(is_enough) else {
            return Next::Lost;
        };
        let read = length.min(TOPIC_MAX);
        self.read(State::Topic { skip: length - read, rest }, read as usize)
    }

    fn topic(
        &mut self,
        skip: u32,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        if self.trust == Trust::Little && !is_topic(bytes) {
            return Next::Lost;
        }
        self.state = State::PublishIdentifier(rest);
        let then = self.identifier_bytes() as usize;
        if skip == 0 && then == 0 {
            return self.publish_identifier(rest, &[], ranges);
        }
        Next::Skip { bytes: u64::from(skip), then }
    }

    /// Returns the size of a PUBLISH's identifier. It has none at quality of service 0.
    const fn identifier_bytes(&self) -> u32 {
        if self.first & 0b0110 == 0 { 0 } else { 2 }
    }

    /// Reads a PUBLISH's identifier. Without the CONNECT, properties of MQTT 5 are unknown, so they count as the body.
    fn publish_identifier(
        &mut self,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        self.identifier = identifier_of(bytes);
        let body = rest - self.identifier_bytes();
        ranges.next(u64::from(body), SensitiveKind::Body);
        self.skip(body)
    }

    /// Reads the identifier of an answer (then a reason and properties) or a subscription (then properties and topics).
    /// Before MQTT 5 there are no properties: an answer ends here, and a subscription has only topics.
    fn identifier(
        &mut self,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        self.identifier = identifier_of(bytes);
        let is_answer = (packet_type::PUBACK..=packet_type::PUBCOMP).contains(&(self.first >> 4));
        match self.level {
            _ if is_answer && rest > 0 => {
                ranges.behind(1, u64::from(rest - 1), SensitiveKind::Body);
                self.read(State::Reason(rest - 1), 1)
            }
            Some(LEVEL_5) if rest > 0 => {
                self.read(State::Properties { length: 0, bytes: 0, rest }, 1)
            }
            Some(_) => self.reasons(0, rest),
            // It is unknown whether there are properties.
            None => {
                ranges.next(u64::from(rest), SensitiveKind::Credentials);
                self.reasons(0, rest)
            }
        }
    }

    /// Reads the reasons at the end of an answer to a subscription: `before` bytes precede `reasons` bytes of them.
    fn reasons(&mut self, before: u32, reasons: u32) -> Next {
        let is_answer = matches!(self.first >> 4, packet_type::SUBACK | packet_type::UNSUBACK);
        if !is_answer || reasons == 0 {
            return self.skip(before + reasons);
        }
        self.state = State::Reason(reasons.saturating_sub(REASONS_MAX));
        Next::Skip { bytes: u64::from(before), then: reasons.min(REASONS_MAX) as usize }
    }

    /// Stores the last byte, or the first failure of an answer to a subscription, which has a reason for each topic.
    fn reason(&mut self, rest: u32, bytes: &[u8]) -> Next {
        let is_list = self.level.is_some() && self.first >> 4 >= packet_type::SUBACK;
        let failure = bytes.iter().find(|code| is_list && **code >= FAILURE);
        if let Some(code) = failure.or(bytes.last()) {
            self.reply.set_code(u32::from(*code));
        }
        self.skip(rest)
    }

    fn properties(
        &mut self,
        (so_far, count, rest): (u32, u32, u32),
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let next = bytes.first().copied().unwrap_or_default();
        let (length, bytes) = (so_far | u32::from(next & 0x7f) << (7 * count), count + 1);
        let rest = rest - 1;
        if next & 0x80 != 0 && bytes < LENGTH_BYTES_MAX && rest > 0 {
            return self.read(State::Properties { length, bytes, rest }, 1);
        }
        let length = length.min(rest);
        ranges.next(u64::from(length), SensitiveKind::Body);
        self.reasons(length, rest - length)
    }

    fn connect_name(&mut self, rest: u32, bytes: &[u8]) -> Next {
        let name = length_of(bytes);
        let fixed = name + 4;
        match rest.checked_sub(fixed) {
            Some(rest) if matches!(name, 4 | 6) => self.read(State::Connect(rest), fixed as usize),
            _ => Next::Lost,
        }
    }

    fn connect(
        &mut self,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        self.level = bytes.get(bytes.len().saturating_sub(4)).copied();
        match bytes {
            // Its properties, before the client id, may contain authentication data.
            [b'M', b'Q', b'T', b'T', 5, ..] => self.hide(rest, ranges),
            [b'M', b'Q', b'T', b'T', ..] | [b'M', b'Q', b'I', b's', b'd', b'p', ..]
                if rest >= 2 =>
            {
                self.read(State::ClientId(rest - 2), 2)
            }
            _ => Next::Lost,
        }
    }

    fn client_id(
        &mut self,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let length = length_of(bytes);
        match rest.checked_sub(length) {
            None => self.hide(rest, ranges),
            Some(rest) => {
                self.state = State::Credentials(rest);
                Next::Skip { bytes: u64::from(length), then: 0 }
            }
        }
    }
}

impl framer::Grammar for Grammar {
    const START: usize = 2;

    #[inline]
    fn read(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        match self.state {
            State::Start => self.start(bytes, ranges),
            State::Length { length, bytes: count } => match bytes {
                [next] => self.length(length, count, *next, ranges),
                _ => Next::Lost,
            },
            State::TopicLength(rest) => self.topic_length(rest, bytes),
            State::Topic { skip, rest } => self.topic(skip, rest, bytes, ranges),
            State::PublishIdentifier(rest) => self.publish_identifier(rest, bytes, ranges),
            State::Identifier(rest) => self.identifier(rest, bytes, ranges),
            State::Properties { length, bytes: count, rest } => {
                self.properties((length, count, rest), bytes, ranges)
            }
            State::Reason(rest) => self.reason(rest, bytes),
            State::ConnectName(rest) => self.connect_name(rest, bytes),
            State::Connect(rest) => self.connect(rest, bytes, ranges),
            State::ClientId(rest) => self.client_id(rest, bytes, ranges),
            State::Credentials(rest) => self.hide(rest, ranges),
            State::Skipped => {
                self.state = State::Start;
                Next::Complete
            }
        }
    }
}

fn length_of(bytes: &[u8]) -> u32 {
    u32::from(identifier_of(bytes))
}

fn identifier_of(bytes: &[u8]) -> u16 {
    bytes.try_into().map_or(0, u16::from_be_bytes)
}

/// Returns whether a packet of this type may have this length. Texts are full of bytes that begin packets, but rarely
/// of such short ones. An answer has an identifier, and in MQTT 5 a reason and an empty list of properties.
fn is_plausible(kind: u8, length: u32) -> bool {
    match kind {
        packet_type::PINGREQ | packet_type::PINGRESP => length == 0,
        packet_type::PUBACK..=packet_type::PUBCOMP => (2..=4).contains(&length),
        packet_type::DISCONNECT | packet_type::CONNACK => length <= 2,
        _ => length <= DISTRUSTED_MAX,
    }
}

/// Returns whether bytes begin a topic: no control characters or wildcards (section 4.7). A character may be cut off.
fn is_topic(bytes: &[u8]) -> bool {
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.chars().any(|character| character.is_control() || matches!(character, '+' | '#'))
}

/// Returns whether bytes begin a connection with a CONNECT.
pub(in super::super) fn opens(bytes: &[u8]) -> bool {
    let [0x10, rest @ ..] = bytes else { return false };
    let length = rest.iter().take(LENGTH_BYTES_MAX as usize).take_while(|byte| **byte & 0x80 != 0);
    let behind = rest.get(length.count() + 1..).unwrap_or_default();
    behind.starts_with(b"\0\x04MQTT") || behind.starts_with(b"\0\x06MQIsdp")
}

/// Returns whether a packet may begin with these bytes.
pub(in super::super) fn may_begin(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| name(*first).is_some())
}
