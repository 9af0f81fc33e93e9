//! Frames of a connection, as events. The frames of a message are one event. Other protocols than AMQP 0-9-1 are in
//! `amqp10`, `streams` and `packets`.

use rustc_hash::FxHashMap;

use super::{
    action::{Action, Delivered, Published, Returned},
    amqp10::Sessions,
    event::Event,
    method,
    packets::Packets,
    properties::{Content, properties},
    streams::Publishers,
};
use crate::{
    protocols::{ArgumentBytes, Details, Frame, Protocol},
    report::Side,
};

/// Maximum of channels of a connection that are followed. RabbitMQ's `channel_max` is 2,047.
const CHANNELS_MAX: usize = 4096;

/// Reads the activity of a connection.
#[derive(Debug, Default)]
pub(crate) struct ActivityReader {
    /// The message that each side is sending, by channel.
    messages: FxHashMap<u16, [Message; 2]>,
    /// State of a connection of MQTT.
    packets: Option<Box<Packets>>,
    /// State of a connection of AMQP 1.0.
    sessions: Option<Box<Sessions>>,
    /// State of a connection of the stream protocol.
    publishers: Option<Box<Publishers>>,
}

/// A message of which the last frame is missing.
#[derive(Debug, Default)]
struct Message {
    carrier: Carrier,
    consumer_tag: Vec<u8>,
    exchange: Vec<u8>,
    routing_key: Vec<u8>,
    content: Option<Content>,
    left_bytes: u64,
    first_packet: u64,
    frames: u32,
    is_frame_by_frame: bool,
}

/// The method before a message.
#[derive(Clone, Copy, Debug, Default)]
enum Carrier {
    #[default]
    None,
    Publish {
        mandatory: bool,
    },
    Deliver {
        delivery_tag: u64,
        redelivered: bool,
        is_consumed: bool,
    },
    Return(u16),
}

impl ActivityReader {
    /// Processes the next frame. An event that it completes goes to `each`.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        match frame.protocol {
            Protocol::Amqp091 => {}
            Protocol::Tls => return record(frame, each),
            Protocol::Mqtt => return self.packets.get_or_insert_default().frame(frame, each),
            Protocol::Amqp10 => return self.sessions.get_or_insert_default().frame(frame, each),
            Protocol::RabbitmqStream => {
                return self.publishers.get_or_insert_default().frame(frame, each);
            }
        }
        match frame.details {
            Details::Publish(_) | Details::Delivery(_) | Details::Return => {
                if let Some(message) = self.message(frame) {
                    message.begin(frame);
                }
            }
            Details::Header(_) | Details::Body(_) => {
                if let Some(message) = self.message(frame) {
                    message.add(frame, each);
                }
            }
            _ => {
                if frame.kind == "channel.open" {
                    self.messages.remove(&frame.channel);
                }
                if let Some(action) = method::action(frame.kind, frame.arguments) {
                    each(&Event::new(frame, action));
                }
            }
        }
    }

    fn message(&mut self, frame: &Frame<'_>) -> Option<&mut Message> {
        let is_known = self.messages.contains_key(&frame.channel);
        if !is_known && self.messages.len() >= CHANNELS_MAX {
            return None;
        }
        let sides = self.messages.entry(frame.channel).or_default();
        Some(&mut sides[frame.sender as usize])
    }

    /// Discards incomplete messages of one side, because the next frames need not belong to them.
    pub(crate) fn forget(&mut self, sender: Side) {
        for sides in self.messages.values_mut() {
            sides[sender as usize].carrier = Carrier::None;
        }
        if let Some(packets) = &mut self.packets {
            packets.forget();
        }
        if let Some(sessions) = &mut self.sessions {
            sessions.forget(sender);
        }
        if let Some(publishers) = &mut self.publishers {
            publishers.forget();
        }
    }
}

/// Bytes of a TLS record before its content.
const RECORD_HEAD: u64 = 5;

fn record(frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
    if frame.kind == "application_data" {
        let action = Action::Record(frame.place.bytes().saturating_sub(RECORD_HEAD));
        each(&Event::new(frame, action));
    }
}

impl Message {
    /// Begins with the method. Without arguments the message stays unknown.
    fn begin(&mut self, frame: &Frame<'_>) {
        self.carrier = Carrier::None;
        self.content = None;
        (self.first_packet, self.frames) = (frame.place.first_packet, 1);
        self.is_frame_by_frame = frame.place.begins_segment;
        self.carrier = self.carrier(frame).unwrap_or_default();
    }

    fn carrier(&mut self, frame: &Frame<'_>) -> Option<Carrier> {
        let mut rest = ArgumentBytes::new(frame.arguments);
        let carrier = match frame.details {
            Details::Publish(publish) => {
                rest.u16()?;
                Carrier::Publish { mandatory: publish.mandatory }
            }
            Details::Delivery(delivery) => {
                let is_consumed = delivery.consumer_tag.is_some();
                replace(&mut self.consumer_tag, if is_consumed { rest.short()? } else { &[] });
                rest.bytes(9)?;
                let (delivery_tag, redelivered) = (delivery.delivery_tag, delivery.redelivered);
                Carrier::Deliver { delivery_tag, redelivered, is_consumed }
            }
            _ => {
                let code = rest.u16()?;
                rest.short()?;
                Carrier::Return(code)
            }
        };
        replace(&mut self.exchange, rest.short()?);
        replace(&mut self.routing_key, rest.short()?);
        Some(carrier)
    }

    /// Adds a header or a part of a body.
    fn add(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        match frame.details {
            Details::Header(header) => {
                let properties = properties(frame.arguments);
                self.content = Some(Content { header, properties, ..Content::default() });
                self.left_bytes = header.body_bytes;
            }
            Details::Body(bytes) => {
                self.left_bytes = self.left_bytes.saturating_sub(u64::from(bytes));
            }
            _ => return,
        }
        self.frames += 1;
        self.is_frame_by_frame &= frame.place.begins_segment;
        let Some(content) = self.content.filter(|_| self.left_bytes == 0) else { return };
        self.content = None;
        if let Some(action) = self.action(content) {
            each(&Event {
                frames: self.frames,
                is_frame_by_frame: self.is_frame_by_frame,
                first_packet: self.first_packet,
                ..Event::new(frame, action)
            });
        }
        self.carrier = Carrier::None;
    }

    fn action(&self, content: Content) -> Option<Action<'_>> {
        let (exchange, routing_key) = (&self.exchange[..], &self.routing_key[..]);
        Some(match self.carrier {
            Carrier::None => return None,
            Carrier::Publish { mandatory } => {
                let number = None;
                Action::Publish(Published { exchange, routing_key, mandatory, number, content })
            }
            Carrier::Deliver { delivery_tag, redelivered, is_consumed } => {
                let consumer_tag = is_consumed.then_some(&self.consumer_tag[..]);
                Action::Deliver(Delivered {
                    consumer_tag,
                    delivery_tag,
                    redelivered,
                    exchange,
                    routing_key,
                    content,
                })
            }
            Carrier::Return(reply_code) => {
                Action::Return(Returned { reply_code, exchange, routing_key, content })
            }
        })
    }
}

fn replace(text: &mut Vec<u8>, with: &[u8]) {
    text.clear();
    text.extend_from_slice(with);
}
