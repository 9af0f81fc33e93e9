//! Grammar of packets: type and flags, remaining length, variable header, payload.

use super::{
    super::{
        arguments::KeptArguments,
        details::{Details, MqttPacket},
        framer::{self, Known, Next, Ranges, Trust},
        reply::StoredReply,
        sink::{FrameSink, SensitiveKind},
    },
    packet::{name, packet_type},
    recognition::{LENGTH_BYTES_MAX, is_plausible},
    state::{KEPT_MAX, PropertyLength, State},
};

/// Protocol levels of MQTT 5, and of its predecessors.
pub(super) const LEVEL_5: u8 = 5;
const LEVEL_3: u8 = 4;
/// Number of bytes after an identifier that are read for the reason at their end.
const REASONS_MAX: u32 = 64;
/// Lowest reason code that is a failure.
const FAILURE: u8 = 0x80;

/// The grammar of MQTT.
#[derive(Clone, Debug)]
pub(in super::super) struct Grammar {
    pub(in super::super) trust: Trust,
    pub(super) state: State,
    pub(super) first: u8,
    kind: &'static str,
    pub(super) identifier: u16,
    /// Bytes of a PUBLISH's body.
    pub(super) body_bytes: u32,
    /// The protocol's level, 5 for MQTT 5, once a packet of either direction has shown it.
    pub(super) level: Option<u8>,
    pub(in super::super) reply: StoredReply,
    pub(in super::super) arguments: KeptArguments,
}

impl Grammar {
    pub(in super::super) fn new(trust: Trust) -> Self {
        Self {
            trust,
            state: State::Start,
            first: 0,
            kind: "",
            identifier: 0,
            body_bytes: 0,
            level: None,
            reply: StoredReply::default(),
            arguments: KeptArguments::default(),
        }
    }

    pub(in super::super) fn known(&self) -> Known {
        let is_publish = self.first >> 4 == packet_type::PUBLISH;
        let flags = if is_publish { self.first & 0b1111 } else { 0 };
        let details = Details::Mqtt(MqttPacket {
            quality_of_service: flags >> 1 & 0b11,
            identifier: self.identifier,
            is_repeated: flags & 0b1000 != 0,
            is_retained: flags & 1 != 0,
            body_bytes: self.body_bytes,
            level: self.level,
        });
        Known { channel: 0, kind: self.kind, details, is_opening: self.kind == "CONNECT" }
    }

    /// Returns the protocol's level, if it is known.
    pub(in super::super) const fn level(&self) -> Option<u8> {
        self.level
    }

    /// Takes the level that the other direction has shown, unless one is known.
    pub(in super::super) fn expect_level(&mut self, level: u8) {
        self.level.get_or_insert(level);
    }

    #[inline]
    fn start(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let &[first, length] = bytes else { return Next::Lost };
        let Some(name) = name(first) else { return Next::Lost };
        (self.first, self.kind, self.identifier, self.body_bytes) = (first, name, 0, 0);
        self.reply.clear();
        self.arguments.clear();
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

    pub(super) fn read(&mut self, state: State, bytes: usize) -> Next {
        self.state = state;
        Next::Read(bytes)
    }

    pub(super) fn skip(&mut self, bytes: u32) -> Next {
        self.state = State::Skipped;
        Next::Skip { bytes: u64::from(bytes), then: 0 }
    }

    pub(super) fn hide(&mut self, bytes: u32, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        ranges.next(u64::from(bytes), SensitiveKind::Credentials);
        self.skip(bytes)
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
                if self.trust == Trust::Full {
                    self.expect_level(LEVEL_5);
                }
                ranges.behind(1, u64::from(rest - 1), SensitiveKind::Body);
                self.read(State::Reason(rest - 1), 1)
            }
            Some(LEVEL_5) if rest > 0 => self.property_length(rest),
            Some(_) => self.content_of_subscription(0, rest),
            // It is unknown whether there are properties.
            None => {
                ranges.next(u64::from(rest), SensitiveKind::Credentials);
                self.content_of_subscription(0, rest)
            }
        }
    }

    /// Reads filters, or the reasons for them: `before` bytes precede `rest` bytes of them.
    fn content_of_subscription(&mut self, before: u32, rest: u32) -> Next {
        if self.first >> 4 != packet_type::SUBSCRIBE || !self.arguments.is_on() || rest == 0 {
            return self.reasons(before, rest);
        }
        let read = rest.min(KEPT_MAX);
        self.state = State::Filters(rest - read);
        Next::Skip { bytes: u64::from(before), then: read as usize }
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

    /// Reads the length of properties, which begins here.
    pub(super) fn property_length(&mut self, rest: u32) -> Next {
        let next = PropertyLength { rest, ..PropertyLength::default() };
        self.read(State::PropertyLength(next), 1)
    }

    /// Reads a byte of the length of properties (section 1.5.5 of MQTT 5).
    fn length_of_properties(
        &mut self,
        so_far: PropertyLength,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let next = bytes.first().copied().unwrap_or_default();
        let length = so_far.length | u32::from(next & 0x7f) << (7 * so_far.bytes);
        let (bytes, rest) = (so_far.bytes + 1, so_far.rest - 1);
        if next & 0x80 != 0 && bytes < LENGTH_BYTES_MAX && rest > 0 {
            return self.read(State::PropertyLength(PropertyLength { length, bytes, rest }), 1);
        }
        let length = length.min(rest);
        match self.first >> 4 {
            packet_type::PUBLISH => self.properties_of_publish(length, rest, ranges),
            packet_type::CONNECT => self.properties_of_connect(length, rest, ranges),
            _ => {
                ranges.next(u64::from(length), SensitiveKind::Body);
                self.content_of_subscription(length, rest - length)
            }
        }
    }

    fn properties(&mut self, (skip, rest): (u32, u32), bytes: &[u8]) -> Next {
        if self.first >> 4 == packet_type::CONNECT {
            return self.read_properties_of_connect((skip, rest), bytes);
        }
        self.arguments.keep(bytes);
        self.skip(skip + rest)
    }

    fn filters(&mut self, skip: u32, bytes: &[u8]) -> Next {
        self.arguments.keep(bytes);
        self.skip(skip)
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
            State::PropertyLength(so_far) => self.length_of_properties(so_far, bytes, ranges),
            State::Properties { skip, rest } => self.properties((skip, rest), bytes),
            State::Filters(skip) => self.filters(skip, bytes),
            State::Reason(rest) => self.reason(rest, bytes),
            State::ConnectName(rest) => self.connect_name(rest, bytes),
            State::Connect(rest) => self.connect(rest, bytes, ranges),
            State::ClientId(rest) => self.client_id(rest, bytes, ranges),
            State::ClientIdText { skip, rest } => self.client_id_text((skip, rest), bytes),
            State::Credentials(rest) => self.hide(rest, ranges),
            State::Skipped => {
                self.state = State::Start;
                Next::Complete
            }
        }
    }
}

pub(super) fn length_of(bytes: &[u8]) -> u32 {
    u32::from(identifier_of(bytes))
}

pub(super) fn identifier_of(bytes: &[u8]) -> u16 {
    bytes.try_into().map_or(0, u16::from_be_bytes)
}
