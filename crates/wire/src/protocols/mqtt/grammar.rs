//! Packets: type and flags, remaining length, variable header, payload.

use super::{
    super::{
        details::Details,
        framer::{self, Known, Next, Ranges, Trust},
        reply::StoredReply,
        sink::{FrameSink, SensitiveKind},
    },
    packet::{name, packet_type},
};

/// The longest remaining length takes four bytes.
const LENGTH_BYTES_MAX: u32 = 4;
/// What of a topic is looked at when packets are searched for.
const TOPIC_MAX: u32 = 256;
/// Bytes behind an identifier that are read for the reason at their end.
const REASONS_MAX: u32 = 64;
/// Longest packet that is believed when packets are searched for.
const DISTRUSTED_MAX: u32 = 1 << 20;

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    /// Further bytes of the remaining length.
    Length {
        length: u32,
        bytes: u32,
    },
    /// Length of the topic; bytes of the packet.
    TopicLength(u32),
    /// The topic, or its beginning: bytes of it that are not read, bytes behind it.
    Topic {
        skip: u32,
        rest: u32,
    },
    /// The topic was passed; bytes behind it.
    PublishIdentifier(u32),
    /// The identifier of another packet; bytes behind it.
    Identifier(u32),
    /// A reason, mostly of one byte; bytes behind it.
    Reason(u32),
    /// Length of the protocol's name; bytes of the packet.
    ConnectName(u32),
    /// Name, level, flags, time of keep-alive; bytes behind them.
    Connect(u32),
    /// Length of the client's id; bytes of the packet behind it.
    ClientId(u32),
    /// The client's id was passed; bytes behind it.
    Credentials(u32),
    Skipped,
}

/// Understands MQTT.
#[derive(Clone, Debug)]
pub(in super::super) struct Grammar {
    pub(in super::super) trust: Trust,
    state: State,
    first: u8,
    kind: &'static str,
    identifier: u16,
    pub(in super::super) reply: StoredReply,
}

impl Grammar {
    pub(in super::super) fn new(trust: Trust) -> Self {
        let reply = StoredReply::default();
        Self { trust, state: State::Start, first: 0, kind: "", identifier: 0, reply }
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

    /// Section 2.2.3.
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
            // With MQTT 5 they may have data of an authentication among their properties.
            packet_type::CONNACK if length >= 2 => self.read(State::Reason(length - 2), 2),
            packet_type::DISCONNECT if length >= 1 => self.read(State::Reason(length - 1), 1),
            packet_type::AUTH => self.hide(length, ranges),
            packet_type::PINGREQ..=packet_type::DISCONNECT | packet_type::CONNACK => {
                self.skip(length)
            }
            _ => Next::Lost,
        }
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

    /// Of a PUBLISH: without a quality of service it has no identifier.
    const fn identifier_bytes(&self) -> u32 {
        if self.first & 0b0110 == 0 { 0 } else { 2 }
    }

    /// Properties of MQTT 5 count as the body: without the CONNECT nobody knows whether there are some.
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

    fn identifier(&mut self, rest: u32, bytes: &[u8]) -> Next {
        self.identifier = identifier_of(bytes);
        match (self.first >> 4, rest) {
            (packet_type::PUBACK..=packet_type::PUBCOMP, 1..) => {
                self.read(State::Reason(rest - 1), 1)
            }
            (packet_type::SUBACK | packet_type::UNSUBACK, 1..=REASONS_MAX) => {
                self.read(State::Reason(0), rest as usize)
            }
            _ => self.skip(rest),
        }
    }

    /// The last byte is the reason; with MQTT 5 properties may follow, which may hold data of an authentication.
    fn reason(&mut self, rest: u32, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        if let Some(code) = bytes.last() {
            self.reply.set_code(u32::from(*code));
        }
        self.hide(rest, ranges)
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
        match bytes {
            // Its properties, before the client's id, may have data of an authentication.
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
            State::Identifier(rest) => self.identifier(rest, bytes),
            State::Reason(rest) => self.reason(rest, bytes, ranges),
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

/// Whether a packet of this type may be so long. Texts are full of bytes that begin packets, but not of such short ones. An answer
/// has an identifier, with MQTT 5 a reason and an empty list of properties.
fn is_plausible(kind: u8, length: u32) -> bool {
    match kind {
        packet_type::PINGREQ | packet_type::PINGRESP => length == 0,
        packet_type::PUBACK..=packet_type::PUBCOMP => (2..=4).contains(&length),
        packet_type::DISCONNECT | packet_type::CONNACK => length <= 2,
        _ => length <= DISTRUSTED_MAX,
    }
}

/// Whether bytes begin a topic of a PUBLISH: no control characters, no wildcards (section 4.7). A character may be cut.
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

/// Whether bytes begin a connection: a CONNECT.
pub(in super::super) fn opens(bytes: &[u8]) -> bool {
    let [0x10, rest @ ..] = bytes else { return false };
    let length = rest.iter().take(LENGTH_BYTES_MAX as usize).take_while(|byte| **byte & 0x80 != 0);
    let behind = rest.get(length.count() + 1..).unwrap_or_default();
    behind.starts_with(b"\0\x04MQTT") || behind.starts_with(b"\0\x06MQIsdp")
}

/// Whether a packet may begin with these bytes.
pub(in super::super) fn may_begin(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| name(*first).is_some())
}
