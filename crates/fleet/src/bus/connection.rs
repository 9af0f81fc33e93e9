//! A connection to the bus. [`Bus::poll`] writes pending messages; both sides call it continually.

use std::time::Duration;

use rabbitscope_amqp::{Event, Properties, Request, Table, Value, blocking::ClientError};
use rabbitscope_protocol::ConfirmRing;
use rabbitscope_topology::ControlClient;
use serde::Serialize;

use super::{address::BusAddress, name::FleetName};
use crate::error::FleetError;

/// Seconds between heartbeats. The bus drops the exclusive queues of a dead machine after twice that time. A
/// controller is away from the bus while it starts a broker and declares queues.
const HEARTBEAT_SECONDS: u16 = 60;

/// Size limit of a log; the bus drops the oldest segments first. Chosen: ten hours of eight workers that send 7 kB/s
/// each.
const LOG_BYTES: i64 = 2 << 30;

/// Size of one segment file of a log.
const SEGMENT_BYTES: i64 = 50 << 20;

/// Prefetch of the log's consumer, in records.
const LOG_PREFETCH: u16 = 100;

/// Consumer tags.
const OWN: &str = "own";
const LOG: &str = "log";

/// A delivery or confirm from the bus.
#[derive(Debug)]
pub(crate) enum Received {
    /// A message for this process.
    Message(Vec<u8>),
    /// A record of the log.
    Record(Vec<u8>),
    /// The bus stored a record; the number is the one given to [`Bus::append`].
    Stored(u64),
    /// The bus refused a record.
    Refused(u64),
}

/// A connection to the bus.
pub(crate) struct Bus {
    client: ControlClient,
    /// Channel for messages and consumers.
    channel: u16,
    /// Channel for the log, in confirm mode.
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

    /// Returns the cluster name that the bus announces.
    pub(crate) fn cluster_name(&self) -> String {
        let properties = self.client.connection().server_properties();
        properties.text("cluster_name").unwrap_or_default().to_owned()
    }

    /// Declares a queue that is exclusive to this connection, and consumes from it. Returns false if another
    /// connection owns the queue.
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
            Err(ClientError::Refused(refusal)) if refusal.code == RESOURCE_LOCKED => {
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

    /// Returns true if the fleet has a log.
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
        // A missing queue closes its channel, so this request has its own: consumers stay.
        let channel = self.client.open_channel().map_err(broken(doing))?;
        match self.client.call(channel, &passive) {
            Err(ClientError::Refused(refusal)) if refusal.is_not_found() => Ok(false),
            found => {
                found.map_err(broken(doing))?;
                self.client.end_channel(channel);
                Ok(true)
            }
        }
    }

    /// Creates an empty log; an existing one is deleted.
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

    /// Deletes the log.
    pub(crate) fn delete_log(&mut self) -> Result<(), FleetError> {
        let delete = Request::QueueDelete { queue: &self.log, if_unused: false, if_empty: false };
        let deleted = self.client.call(self.channel, &delete);
        deleted.map(|_| ()).map_err(broken("removing the log of a run"))
    }

    /// Starts to read the log from its first record, and then new records as they arrive.
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

    /// Stops reading the log.
    pub(crate) fn stop_reading(&mut self) -> Result<(), FleetError> {
        let cancelled = self.client.call(self.channel, &Request::Cancel { consumer_tag: LOG });
        cancelled.map(|_| ()).map_err(broken("closing the log of a run"))
    }

    /// Sends a message to a queue. The bus drops it if the queue does not exist.
    pub(crate) fn send(&mut self, queue: &str, message: &impl Serialize) {
        let body = serde_json::to_vec(message).expect("texts and numbers are JSON");
        self.client.publish(self.channel, queue, &Properties::with_delivery_mode(false), &body);
    }

    /// Appends a record to the log. `number` comes back in [`Received::Stored`] or [`Received::Refused`].
    pub(crate) fn append(&mut self, number: u64, record: &[u8]) {
        self.ring.push(number);
        let log = self.log.clone();
        self.client.publish(self.log_channel, &log, &Properties::with_delivery_mode(true), record);
    }

    /// Writes pending messages. Returns as soon as anything arrives, after `wait` at the latest.
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
                    // A confirm for a settled record is ignored.
                    ring.settle(tag, multiple, |number, _| received.push(of(*number))).ok();
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

    /// Closes the connection. A bus that does not answer is ignored.
    pub(crate) fn close(self) {
        self.client.close().ok();
    }
}

/// Reply code `RESOURCE_LOCKED` of AMQP 0-9-1: the queue is exclusive to another connection.
const RESOURCE_LOCKED: u16 = 405;

fn broken(doing: &'static str) -> impl Fn(ClientError) -> FleetError {
    move |source| FleetError::Broken { doing, source }
}
