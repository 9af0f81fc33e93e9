//! The language of the tests: events of connections at their times, in nanoseconds.

use std::collections::BTreeMap;

use rabbitscope_runs::scenario::{self, Scenario};
use rabbitscope_wire::{
    activity::{
        Action, ActivityListener, Arguments, Client, Consume, Content, Delivered, Ends, Event, Get,
        Headers, Properties, Published, Qos, QueueDeclare, Settled, Settlement,
    },
    packet::Timestamp,
    protocols::{ContentHeader, Protocol, hash},
    report::Side,
};

use crate::{Model, Observer, Origin, Topology, model};

pub(super) const MILLIS: u64 = 1_000_000;
pub(super) const SECOND: u64 = 1_000 * MILLIS;

/// Events of all connections. They are sorted by time before they are observed.
#[derive(Default)]
pub(super) struct Talk {
    events: BTreeMap<(u64, u64), Step>,
    connections: u64,
}

/// What happens on a connection, with owned names.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Open(u64, bool),
    Started(u64, &'static str),
    Event(u64, Side, Owned),
    Missed(u64),
    Ended(u64),
}

#[derive(Clone, Debug)]
pub(super) enum Owned {
    ChannelOpen,
    Select,
    Qos(u16, bool),
    Declare(String, bool),
    Consume(String, String, bool),
    Publish {
        exchange: String,
        key: String,
        bytes: u64,
        properties: Properties,
    },
    /// A message for a queue, with a queue for its reply.
    Request {
        queue: String,
        reply_to: String,
    },
    Deliver {
        tag: String,
        number: u64,
        exchange: String,
        key: String,
    },
    Settle(u64, bool, Settlement),
    Record(u64),
    Commit,
    Committed,
    Get(String),
    GetEmpty,
}

impl Talk {
    /// Opens a connection with a channel. `from_the_start` is false for one that began before the capture.
    pub(super) fn connection(&mut self, at: u64, from_the_start: bool) -> u64 {
        let connection = self.connections;
        self.connections += 1;
        self.step(at, Step::Open(connection, from_the_start));
        if from_the_start {
            self.step(at, Step::Started(connection, "pika"));
            self.client(at, connection, Owned::ChannelOpen);
        }
        connection
    }

    pub(super) fn step(&mut self, at: u64, step: Step) {
        let place = self.events.len() as u64;
        self.events.insert((at, place), step);
    }

    pub(super) fn client(&mut self, at: u64, connection: u64, owned: Owned) {
        self.step(at, Step::Event(connection, Side::Client, owned));
    }

    pub(super) fn broker(&mut self, at: u64, connection: u64, owned: Owned) {
        self.step(at, Step::Event(connection, Side::Broker, owned));
    }

    pub(super) fn publish(
        &mut self,
        at: u64,
        connection: u64,
        (exchange, key): (&str, &str),
        bytes: u64,
    ) {
        let properties = Properties::default();
        let (exchange, key) = (exchange.to_owned(), key.to_owned());
        self.client(at, connection, Owned::Publish { exchange, key, bytes, properties });
    }

    pub(super) fn request(&mut self, at: u64, connection: u64, queue: &str, reply_to: &str) {
        let (queue, reply_to) = (queue.to_owned(), reply_to.to_owned());
        self.client(at, connection, Owned::Request { queue, reply_to });
    }

    pub(super) fn confirm(&mut self, at: u64, connection: u64, number: u64, multiple: bool) {
        self.broker(at, connection, Owned::Settle(number, multiple, Settlement::Ack));
    }

    pub(super) fn deliver(&mut self, at: u64, connection: u64, tag: &str, number: u64) {
        let (tag, key) = (tag.to_owned(), "q".to_owned());
        self.broker(at, connection, Owned::Deliver { tag, number, exchange: String::new(), key });
    }

    pub(super) fn observed(&self) -> Observer {
        let mut observer = Observer::default();
        for ((at, _), step) in &self.events {
            play(&mut observer, *at, step);
        }
        let last = self.events.keys().next_back().map_or(0, |(at, _)| *at);
        for connection in 0..self.connections {
            observer.ended(connection, Timestamp::from_unix_nanos(last), false);
        }
        observer
    }

    pub(super) fn model(&self) -> Model {
        model(&mut self.observed().finish(), Topology::default())
    }

    /// Returns the scenario as text, and as it is read.
    #[track_caller]
    pub(super) fn scenario(&self) -> (String, Scenario) {
        self.scenario_with(Topology::default())
    }

    #[track_caller]
    pub(super) fn scenario_with(&self, topology: Topology) -> (String, Scenario) {
        let model = model(&mut self.observed().finish(), topology);
        let origin = Origin { name: "test".to_owned(), ..Origin::default() };
        let text = crate::scenario(&model, &origin, crate::RunLength::from_seconds(10));
        let read = scenario::parse(&text, "test", &[]);
        let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
        (text, read)
    }
}

fn play(observer: &mut Observer, at: u64, step: &Step) {
    let time = Timestamp::from_unix_nanos(at);
    match step {
        Step::Open(connection, from_the_start) => {
            let ends = Ends {
                client: ([127, 0, 0, 1], 40_000).into(),
                broker: ([127, 0, 0, 1], 5_672).into(),
                from_the_start: *from_the_start,
                time,
            };
            observer.opened(*connection, &ends);
        }
        Step::Started(connection, product) => {
            let client = Client { product: product.as_bytes(), ..Client::default() };
            observer.event(*connection, &event(time, Side::Client, Action::Start(client)));
        }
        Step::Event(connection, side, owned) => {
            observer.event(*connection, &event(time, *side, action(owned)));
        }
        Step::Missed(connection) => observer.missed(*connection, Side::Client),
        Step::Ended(connection) => observer.ended(*connection, time, true),
    }
}

fn event(time: Timestamp, sender: Side, action: Action<'_>) -> Event<'_> {
    let (first_packet, last_packet, frames) = (1, 1, 3);
    let is_frame_by_frame = false;
    let protocol = Protocol::Amqp091;
    Event {
        sender,
        protocol,
        channel: 1,
        time,
        first_packet,
        last_packet,
        frames,
        is_frame_by_frame,
        action,
    }
}

fn content(bytes: u64, properties: Properties) -> Content {
    let is_persistent = properties.delivery_mode == Some(2);
    let header = ContentHeader { body_bytes: bytes, is_persistent, ..ContentHeader::default() };
    Content { header, properties: Some(properties), ..Content::default() }
}

fn action(owned: &Owned) -> Action<'_> {
    match owned {
        Owned::ChannelOpen => Action::ChannelOpen,
        Owned::Select => Action::ConfirmSelect,
        Owned::Qos(prefetch_count, global) => {
            Action::Qos(Qos { prefetch_count: *prefetch_count, prefetch_size: 0, global: *global })
        }
        Owned::Declare(queue, durable) => Action::QueueDeclare(QueueDeclare {
            queue: queue.as_bytes(),
            passive: false,
            durable: *durable,
            exclusive: false,
            auto_delete: false,
            arguments: Arguments::default(),
        }),
        Owned::Consume(queue, tag, no_ack) => Action::Consume(Consume {
            queue: queue.as_bytes(),
            consumer_tag: tag.as_bytes(),
            no_ack: *no_ack,
            exclusive: false,
            no_wait: false,
            arguments: Arguments::default(),
        }),
        Owned::Record(bytes) => Action::Record(*bytes),
        Owned::Commit => Action::TxCommit,
        Owned::Committed => Action::TxCommitted,
        Owned::Get(queue) => Action::Get(Get { queue: queue.as_bytes(), no_ack: true }),
        Owned::GetEmpty => Action::GetEmpty,
        Owned::Publish { exchange, key, bytes, properties } => Action::Publish(Published {
            exchange: exchange.as_bytes(),
            routing_key: key.as_bytes(),
            mandatory: false,
            number: None,
            content: content(*bytes, *properties),
        }),
        Owned::Request { queue, reply_to } => {
            let mut content = content(100, Properties::default());
            content.header.reply_to = Some(hash(reply_to.as_bytes()));
            let (exchange, routing_key) = (&b""[..], queue.as_bytes());
            let (mandatory, number) = (false, None);
            Action::Publish(Published { exchange, routing_key, mandatory, number, content })
        }
        Owned::Deliver { tag, number, exchange, key } => Action::Deliver(Delivered {
            consumer_tag: Some(tag.as_bytes()),
            delivery_tag: *number,
            redelivered: false,
            exchange: exchange.as_bytes(),
            routing_key: key.as_bytes(),
            content: content(100, Properties::default()),
        }),
        Owned::Settle(delivery_tag, multiple, settlement) => Action::Settle(Settled {
            delivery_tag: *delivery_tag,
            multiple: *multiple,
            settlement: *settlement,
        }),
    }
}

/// Returns properties with a priority, and with headers of this number and size.
pub(super) fn properties(priority: u8, count: u16, bytes: u32) -> Properties {
    Properties {
        priority: Some(priority),
        headers: Some(Headers { count, bytes }),
        delivery_mode: Some(2),
        ..Properties::default()
    }
}
