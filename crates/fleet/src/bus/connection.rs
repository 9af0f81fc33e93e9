//! A connection to the bus. Whatever is to be sent is written by [`Bus::poll`], which every side calls all the time.

use std::time::Duration;

use rabbitscope_amqp::{
    ConfirmRing, Event, Properties, Request, Table, Value, blocking::ClientError,
};
use rabbitscope_load::ControlClient;
use serde::Serialize;

use super::{address::BusAddress, name::FleetName};
use crate::error::FleetError;

/// Seconds between heartbeats: the bus drops the exclusive queues of a machine that is gone after twice that. Whoever
/// starts a broker and declares queues is away from the bus for a while.
const HEARTBEAT_SECONDS: u16 = 60;

/// Most of a log: older parts go first. Chosen: ten hours of eight workers with 7 kB a second each.
const LOG_BYTES: i64 = 2 << 30;

/// One file of a log.
const SEGMENT_BYTES: i64 = 50 << 20;

/// Records that a reader of the log has on the way.
const LOG_PREFETCH: u16 = 100;

/// The tags of the consumers.
const OWN: &str = "own";
const LOG: &str = "log";

/// What comes from the bus.
#[derive(Debug)]
pub(crate) enum Received {
    /// A message for this process.
    Message(Vec<u8>),
    /// A record of the log.
    Record(Vec<u8>),
    /// The bus has this record of ours, by the number that [`Bus::append`] was given.
    Stored(u64),
    /// The bus refused this record of ours.
    Refused(u64),
}

/// A connection.
pub(crate) struct Bus {
    client: ControlClient,
    /// For messages and consumers.
    channel: u16,
    /// For the log, with confirms.
    log_channel: u16,
    ring: ConfirmRing<u64>,
    log: String,
}

impl Bus {
    pub(crate) fn connect(
        address: &BusAddress,
        fleet: &FleetName,
        name: &str,
    ) -> Result<Self, FleetError> {
        let client = address.dialer.client(name, HEARTBEAT_SECONDS);
        let mut client = client.map_err(FleetError::Unreachable)?;
        let opened = client.open_channel().and_then(|channel| {
            let log_channel = client.open_channel()?;
            client.call(log_channel, &Request::ConfirmSelect)?;
            Ok((channel, log_channel))
        });
        let (channel, log_channel) = opened.map_err(broken("opening channels"))?;
        Ok(Self { client, channel, log_channel, ring: ConfirmRing::default(), log: fleet.log() })
    }

    /// The name of the cluster, as it says of itself.
    pub(crate) fn cluster_name(&self) -> String {
        let properties = self.client.connection().server_properties();
        properties.text("cluster_name").unwrap_or_default().to_owned()
    }

    /// Declares a queue that belongs to this connection, and receives what comes to it. False: another connection has
    /// it.
    pub(crate) fn receive_at(&mut self, queue: &str) -> Result<bool, FleetError> {
        let doing = "declaring a queue";
        let none = Table::default();
        let declare = Request::QueueDeclare {
            queue,
            passive: false,
            durable: false,
            exclusive: true,
            auto_delete: true,
            arguments: &none,
        };
        match self.client.call(self.channel, &declare) {
            Err(ClientError::Channel(refusal)) if refusal.code == RESOURCE_LOCKED => {
                self.channel = self.client.open_channel().map_err(broken(doing))?;
                return Ok(false);
            }
            declared => declared.map_err(broken(doing))?,
        };
        let consume = Request::Consume {
            queue,
            consumer_tag: OWN,
            no_local: false,
            auto_ack: true,
            exclusive: true,
            arguments: &none,
        };
        self.client.call(self.channel, &consume).map_err(broken(doing))?;
        Ok(true)
    }

    /// Whether there is a log.
    pub(crate) fn has_log(&mut self) -> Result<bool, FleetError> {
        let doing = "looking for the log of a run";
        let none = Table::default();
        let passive = Request::QueueDeclare {
            queue: &self.log,
            passive: true,
            durable: true,
            exclusive: false,
            auto_delete: false,
            arguments: &none,
        };
        // On a channel of its own, which the bus closes when there is none: consumers stay.
        let channel = self.client.open_channel().map_err(broken(doing))?;
        match self.client.call(channel, &passive) {
            Err(ClientError::Channel(refusal)) if refusal.is_not_found() => Ok(false),
            found => {
                found.map_err(broken(doing))?;
                self.client.end_channel(channel);
                Ok(true)
            }
        }
    }

    /// Begins a log, in place of any that is there.
    pub(crate) fn begin_log(&mut self) -> Result<(), FleetError> {
        self.delete_log()?;
        let text = |name: &str, value: &str| (name.to_owned(), Value::Text(value.to_owned()));
        let number = |name: &str, value: i64| (name.to_owned(), Value::Integer(value));
        let arguments = Table(vec![
            text("x-queue-type", "stream"),
            number("x-max-length-bytes", LOG_BYTES),
            number("x-stream-max-segment-size-bytes", SEGMENT_BYTES),
        ]);
        let declare = Request::QueueDeclare {
            queue: &self.log,
            passive: false,
            durable: true,
            exclusive: false,
            auto_delete: false,
            arguments: &arguments,
        };
        let declared = self.client.call(self.channel, &declare);
        declared.map(|_| ()).map_err(broken("declaring the log of the run, a stream"))
    }

    /// Removes the log.
    pub(crate) fn delete_log(&mut self) -> Result<(), FleetError> {
        let delete = Request::QueueDelete { queue: &self.log, if_unused: false, if_empty: false };
        let deleted = self.client.call(self.channel, &delete);
        deleted.map(|_| ()).map_err(broken("removing the log of a run"))
    }

    /// Reads the log from its beginning, and what is added to it from then on.
    pub(crate) fn read_log(&mut self) -> Result<(), FleetError> {
        let doing = "reading the log of the run";
        let qos = Request::Qos { prefetch: LOG_PREFETCH, global: false };
        self.client.call(self.channel, &qos).map_err(broken(doing))?;
        let first = Value::Text("first".to_owned());
        let arguments = Table(vec![("x-stream-offset".to_owned(), first)]);
        let consume = Request::Consume {
            queue: &self.log,
            consumer_tag: LOG,
            no_local: false,
            auto_ack: false,
            exclusive: false,
            arguments: &arguments,
        };
        self.client.call(self.channel, &consume).map(|_| ()).map_err(broken(doing))
    }

    /// Reads the log no longer.
    pub(crate) fn stop_reading(&mut self) -> Result<(), FleetError> {
        let cancelled = self.client.call(self.channel, &Request::Cancel { consumer_tag: LOG });
        cancelled.map(|_| ()).map_err(broken("closing the log of a run"))
    }

    /// Sends a message to a queue; it is dropped when there is no such queue.
    pub(crate) fn send(&mut self, queue: &str, message: &impl Serialize) {
        let body = serde_json::to_vec(message).expect("texts and numbers are JSON");
        self.client.publish(self.channel, queue, &Properties::with_delivery_mode(false), &body);
    }

    /// Adds a record to the log. `number` comes back when the bus has it.
    pub(crate) fn append(&mut self, number: u64, record: &[u8]) {
        self.ring.push(number);
        let log = self.log.clone();
        self.client.publish(self.log_channel, &log, &Properties::with_delivery_mode(true), record);
    }

    /// Writes what is to be sent, and returns what comes within `wait`, as soon as anything does.
    pub(crate) fn poll(&mut self, wait: Duration) -> Result<Vec<Received>, FleetError> {
        let Self { client, ring, channel, .. } = self;
        let (mut received, mut last_record) = (Vec::new(), None);
        let polled = client.poll(wait, |event| {
            let before = received.len();
            match event {
                Event::Delivery(delivery) if &*delivery.consumer_tag == LOG.as_bytes() => {
                    last_record = Some(delivery.delivery_tag);
                    received.push(Received::Record(delivery.body.into_owned()));
                }
                Event::Delivery(delivery) => {
                    received.push(Received::Message(delivery.body.into_owned()));
                }
                Event::Confirm { tag, multiple, accepted, .. } => {
                    let of = if accepted { Received::Stored } else { Received::Refused };
                    // A confirm of what is settled already says nothing new.
                    ring.settle(tag, multiple, |number| received.push(of(number))).ok();
                }
                _ => {}
            }
            received.len() > before
        });
        if let Some(delivery_tag) = last_record {
            client.send(*channel, &Request::Ack { delivery_tag, multiple: true });
        }
        polled.map(|()| received).map_err(broken("waiting for messages"))
    }

    /// Closes the connection. It does not matter when the bus does not answer.
    pub(crate) fn close(self) {
        self.client.close().ok();
    }
}

/// `RESOURCE_LOCKED` of AMQP 0-9-1: an exclusive queue of another connection.
const RESOURCE_LOCKED: u16 = 405;

fn broken(doing: &'static str) -> impl Fn(ClientError) -> FleetError {
    move |source| FleetError::Broken { doing, source }
}
