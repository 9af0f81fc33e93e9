//! Arguments that the listener heard, by tshark's name of their field.

use std::{
    collections::BTreeMap,
    fmt::{Display, Write},
};

use rabbitscope_wire::{
    activity::{Action, ActivityListener, Content, Ends, Event, Settlement},
    analyzer::{Analyzer, AnalyzerOptions},
    capture::PacketReader,
    decode::decode_inner,
    packet::Timestamp,
    report::Side,
};

/// Values by field, with their counts.
pub(super) type Values = BTreeMap<(&'static str, String), u64>;

/// Collects the arguments of all methods, and the properties of all messages.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) values: Values,
    /// Numbers and bytes of headers.
    pub(super) headers: BTreeMap<(u16, u32), u64>,
    pub(super) events: String,
    pub(super) missed: u64,
}

impl Heard {
    pub(super) fn in_file(file: &[u8], port: u16) -> Self {
        let options = AnalyzerOptions { ports: vec![port], ..AnalyzerOptions::new("test") };
        let mut analyzer = Analyzer::with_listener(options, Self::default());
        let mut reader = PacketReader::new(file).unwrap();
        while let Some(packet) = reader.next().unwrap() {
            analyzer.decoded(&packet, &decode_inner(&packet));
        }
        analyzer.finish_listening().1
    }

    fn add(&mut self, field: &'static str, value: impl Display) {
        *self.values.entry((field, value.to_string())).or_default() += 1;
    }

    fn text(&mut self, field: &'static str, value: &[u8]) {
        // tshark does not list empty texts.
        if !value.is_empty() {
            self.add(field, String::from_utf8(value.to_vec()).unwrap());
        }
    }

    fn flag(&mut self, field: &'static str, value: bool) {
        self.add(field, u8::from(value));
    }

    fn message(&mut self, exchange: &[u8], routing_key: &[u8], content: &Content) {
        self.text("exchange", exchange);
        self.text("routing_key", routing_key);
        self.add("body-size", content.header.body_bytes);
        let properties = content.properties.unwrap();
        properties.delivery_mode.into_iter().for_each(|mode| self.add("delivery_mode", mode));
        properties.priority.into_iter().for_each(|priority| self.add("priority", priority));
        let expiration = properties.expiration.into_iter();
        expiration.for_each(|millis| self.add("expiration", millis));
        if let Some(headers) = properties.headers {
            *self.headers.entry((headers.count, headers.bytes)).or_default() += 1;
        }
    }
}

impl ActivityListener for Heard {
    fn opened(&mut self, _: u64, ends: &Ends) {
        assert!(ends.from_the_start && ends.client.port() != ends.broker.port());
    }

    fn event(&mut self, _: u64, event: &Event<'_>) {
        writeln!(self.events, "{event:?}").unwrap();
        match event.action {
            Action::ExchangeDeclare(declare) => self.text("exchange", declare.exchange),
            Action::QueueDeclare(declare) => self.text("queue", declare.queue),
            Action::QueueDeclared(queue) | Action::QueueDelete(queue) => self.text("queue", queue),
            Action::QueueBind(binding) => {
                self.text("queue", binding.destination);
                self.text("exchange", binding.source);
                self.text("routing_key", binding.routing_key);
            }
            Action::ExchangeBind(binding) => self.text("routing_key", binding.routing_key),
            Action::Qos(qos) => {
                self.add("prefetch_count", qos.prefetch_count);
                self.flag("global", qos.global);
            }
            Action::Consume(consume) => {
                self.text("queue", consume.queue);
                self.text("consumer_tag", consume.consumer_tag);
                self.flag("no_ack", consume.no_ack);
            }
            Action::Consuming(tag) | Action::Cancel(tag) => self.text("consumer_tag", tag),
            Action::Get(get) => {
                self.text("queue", get.queue);
                self.flag("no_ack", get.no_ack);
            }
            Action::Publish(message) => {
                self.flag("mandatory", message.mandatory);
                self.message(message.exchange, message.routing_key, &message.content);
            }
            Action::Deliver(message) => {
                self.text("consumer_tag", message.consumer_tag.unwrap_or_default());
                self.add("delivery_tag", message.delivery_tag);
                self.flag("redelivered", message.redelivered);
                self.message(message.exchange, message.routing_key, &message.content);
            }
            Action::Return(message) => {
                self.message(message.exchange, message.routing_key, &message.content);
            }
            Action::Settle(settled) => {
                self.add("delivery_tag", settled.delivery_tag);
                match settled.settlement {
                    Settlement::Ack => self.flag("multiple", settled.multiple),
                    Settlement::Nack { requeue } => {
                        self.flag("multiple", settled.multiple);
                        self.flag("requeue", requeue);
                    }
                    Settlement::Reject { requeue } => self.flag("requeue", requeue),
                }
            }
            Action::Recover { requeue } => self.flag("requeue", requeue),
            _ => {}
        }
    }

    fn missed(&mut self, _: u64, _: Side) {
        self.missed += 1;
    }

    fn ended(&mut self, _: u64, _: Timestamp, _: bool) {}
}
