//! Packets of MQTT, as events. Identifiers become numbers that count up, and aliases topics.

use rustc_hash::FxHashMap;

use super::{
    action::{Action, Connect, Delivered, Published, Settled, Settlement},
    event::Event,
    filters::Filters,
    properties::{Content, HEADER_BYTES, Headers, OfMqtt, Properties},
};
use crate::{
    protocols::{
        ArgumentBytes, ContentHeader, Details, Frame, MqttPacket, Property, PropertyValue,
        mqtt_properties,
    },
    report::Side,
};

/// RabbitMQ's exchange of MQTT, unless its settings name another.
const EXCHANGE: &[u8] = b"amq.topic";
/// Maximum of topic aliases of a direction that are followed. RabbitMQ permits 16.
const ALIASES_MAX: usize = 64;
/// Flags of a CONNECT: clean session, will.
const CLEAN: u8 = 0b10;
const WILL: u8 = 0b100;
/// Level of MQTT 5.
const LEVEL_5: u8 = 5;
/// Lowest reason code that is a failure.
const FAILURE: u32 = 0x80;
/// Numbers of properties: Message Expiry Interval, and Topic Alias (section 3.3.2.3 of MQTT 5).
const EXPIRY: u8 = 2;
const ALIAS: u8 = 35;
/// State of a connection.
#[derive(Debug, Default)]
pub(super) struct Packets {
    /// Messages of each side that wait for an answer.
    open: [Open; 2],
    /// Topics of each side, by alias.
    aliases: [FxHashMap<u32, Vec<u8>>; 2],
}

/// Numbers of messages that wait for an answer, by identifier.
#[derive(Debug, Default)]
struct Open {
    last: u64,
    numbers: FxHashMap<u16, u64>,
}

impl Open {
    /// Returns the number of a message. A repeated one keeps its number while it waits.
    fn number(&mut self, identifier: u16) -> u64 {
        let last = &mut self.last;
        *self.numbers.entry(identifier).or_insert_with(|| {
            *last += 1;
            *last
        })
    }
}

impl Packets {
    /// Processes the next packet.
    pub(super) fn frame(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        let Details::Mqtt(packet) = frame.details else { return };
        let action = match frame.kind {
            "PUBLISH" => return self.publish(frame, packet, each),
            "CONNECT" => connect(frame.arguments).map(Action::Connect),
            "PUBACK" | "PUBREC" => self.settle(frame, packet),
            "SUBSCRIBE" => Some(Action::Subscribe(Filters::new(frame.arguments, packet.level))),
            "UNSUBSCRIBE" => Some(Action::Unsubscribe),
            "PINGREQ" => Some(Action::Ping),
            "DISCONNECT" => Some(Action::Close),
            _ => None,
        };
        if let Some(action) = action {
            each(&Event::new(frame, action));
        }
    }

    /// Records that packets were missed. Answers to messages of before are ignored.
    pub(super) fn forget(&mut self) {
        self.open.iter_mut().for_each(|open| open.numbers.clear());
    }

    fn settle(&mut self, frame: &Frame<'_>, packet: MqttPacket) -> Option<Action<'static>> {
        let peer = 1 - frame.sender as usize;
        let delivery_tag = self.open[peer].numbers.remove(&packet.identifier)?;
        let reason = frame.reply.and_then(|reply| reply.code).unwrap_or_default();
        let settlement = match reason {
            FAILURE.. => Settlement::Nack { requeue: false },
            _ => Settlement::Ack,
        };
        Some(Action::Settle(Settled { delivery_tag, multiple: false, settlement }))
    }

    fn publish(
        &mut self,
        frame: &Frame<'_>,
        packet: MqttPacket,
        each: &mut impl FnMut(&Event<'_>),
    ) {
        let side = frame.sender as usize;
        let mut rest = ArgumentBytes::new(frame.arguments);
        let topic = rest.u16().and_then(|length| rest.bytes(usize::from(length)));
        let Some(topic) = topic else {
            // The first packets after a search have no topic. Their answers are ignored.
            self.open[side].numbers.remove(&packet.identifier);
            return;
        };
        let number = match packet.quality_of_service {
            0 => None,
            _ => Some(self.open[side].number(packet.identifier)),
        };
        let (properties, alias) = properties(rest.rest());
        let content = content(packet, properties);
        let topic = alias.map_or(topic, |alias| self.topic(side, alias, topic));
        let (exchange, routing_key) = (EXCHANGE, topic);
        let action = match frame.sender {
            Side::Client => {
                let mandatory = false;
                Action::Publish(Published { exchange, routing_key, mandatory, number, content })
            }
            Side::Broker => Action::Deliver(Delivered {
                consumer_tag: Some(&[]),
                delivery_tag: number.unwrap_or_default(),
                redelivered: packet.is_repeated,
                exchange,
                routing_key,
                content,
            }),
        };
        each(&Event::new(frame, action));
    }

    /// Returns the topic of an alias, which a topic beside it sets. It is empty if that was not seen.
    fn topic<'t>(&'t mut self, side: usize, alias: u32, topic: &'t [u8]) -> &'t [u8] {
        let known = &mut self.aliases[side];
        if topic.is_empty() {
            return known.get(&alias).map_or(&[], Vec::as_slice);
        }
        if known.len() < ALIASES_MAX || known.contains_key(&alias) {
            known.insert(alias, topic.to_vec());
        }
        topic
    }
}

/// Reads level, flags, limits and client id.
fn connect(arguments: &[u8]) -> Option<Connect<'_>> {
    let mut rest = ArgumentBytes::new(arguments);
    let (level, flags) = (rest.u8()?, rest.u8()?);
    let (receive_maximum, expires_later) = (rest.u16()?, rest.u8()? != 0);
    Some(Connect {
        level,
        client_id: rest.rest(),
        is_persistent: if level == LEVEL_5 { expires_later } else { flags & CLEAN == 0 },
        has_will: flags & WILL != 0,
        receive_maximum: (receive_maximum > 0).then_some(receive_maximum),
    })
}

fn content(packet: MqttPacket, properties: Properties) -> Content {
    let header = ContentHeader {
        body_bytes: u64::from(packet.body_bytes),
        is_persistent: packet.quality_of_service > 0,
        is_read: true,
        ..ContentHeader::default()
    };
    Content {
        header,
        properties: Some(properties),
        mqtt: Some(OfMqtt {
            level: packet.level,
            quality_of_service: packet.quality_of_service,
            is_retained: packet.is_retained,
        }),
        ..Content::default()
    }
}

/// Returns the properties without their values, and the alias of the topic.
fn properties(bytes: &[u8]) -> (Properties, Option<u32>) {
    let (mut read, mut alias) = (Properties::default(), None);
    for Property { number, value } in mqtt_properties(bytes) {
        match (number, value) {
            (EXPIRY, PropertyValue::Number(seconds)) => {
                read.expiration = Some(u64::from(seconds) * 1_000);
            }
            (ALIAS, PropertyValue::Number(number)) => alias = Some(number),
            (_, PropertyValue::Number(_)) => {}
            (_, PropertyValue::Bytes(bytes)) => {
                let bytes = u16::try_from(bytes).unwrap_or(u16::MAX);
                read.text_bytes = read.text_bytes.saturating_add(bytes);
            }
            (_, PropertyValue::Pair(bytes)) => {
                let headers = read.headers.get_or_insert_default();
                *headers = with_entry(*headers, bytes);
            }
        }
    }
    (read, alias)
}

fn with_entry(headers: Headers, bytes: usize) -> Headers {
    let bytes = u32::try_from(bytes + HEADER_BYTES).unwrap_or(u32::MAX);
    Headers { count: headers.count.saturating_add(1), bytes: headers.bytes.saturating_add(bytes) }
}
