//! Consumers of AMQP 1.0.
//!
//! Each has a session with one link. The broker gets credit again when half of it is settled. After a lost connection a
//! reader of a stream resumes behind the last message that was processed.

use std::collections::{BTreeMap, VecDeque};

use rabbitscope_amqp10::{Connection, Delivery, Event, Filter, Offset, Outcome, Receiver};
use rabbitscope_measurements::Failure;
use rabbitscope_runs::scenario::{ConsumerGroup, FieldValue, STAMP_HEADER, Settle, SourceFilter};
use rabbitscope_timing::Stamp;

use super::{
    receives::{Progress, Receives},
    role::{Arrival, Receiving},
};
use crate::{
    link::{role::EventHandler, serve_context::ServeContext, socket::Socket},
    message::{scalar, session},
    packing::Items,
};

/// Messages that the broker may send ahead, if the scenario does not say. Chosen: a broker of 4.x asks its queues for
/// 256 at once.
const CREDIT: u32 = 1000;

/// The progress of a subscription: the settings of its link, and its place in a stream.
#[derive(Debug)]
pub(in crate::link) struct LinkProgress {
    /// Its link, without name and address.
    link: Receiver,
    /// Present if it reads a stream.
    stream: Option<StreamPlace>,
}

#[derive(Debug, Default)]
struct StreamPlace {
    /// Numbers and offsets of messages that are not settled, the oldest first.
    unsettled: VecDeque<(u64, u64)>,
    /// Offset behind the last message that was settled.
    resume: Option<u64>,
}

impl Progress<Connection> for LinkProgress {
    fn new(group: &ConsumerGroup) -> Self {
        let argument = |name| group.arguments.get(name);
        let offset = argument("x-stream-offset").and_then(offset);
        let values = argument("x-stream-filter").and_then(texts).map(Filter::StreamFilter);
        let unfiltered = argument("x-stream-match-unfiltered") == Some(&FieldValue::Bool(true));
        let unfiltered = unfiltered.then_some(Filter::StreamMatchUnfiltered);
        let priority = match argument("x-priority") {
            Some(FieldValue::Integer(priority)) => i32::try_from(*priority).ok(),
            _ => None,
        };
        let conditions = conditions(&group.filter);
        let stream = offset.is_some().then(StreamPlace::default);
        let offset = offset.map(Filter::StreamOffset);
        let link = Receiver {
            settled: group.auto_ack,
            credit: group.prefetch.map_or(CREDIT.max(group.multi_ack_every), u32::from),
            priority,
            filters: [offset, values, unfiltered].into_iter().flatten().chain(conditions).collect(),
            ..Receiver::default()
        };
        Self { link, stream }
    }

    #[inline]
    fn on_settled(
        &mut self,
        subscription: usize,
        last: u64,
        count: u32,
        connection: &mut Connection,
    ) {
        if let Some(place) = &mut self.stream {
            while let Some((_, offset)) = place.unsettled.front().filter(|(one, _)| *one <= last) {
                place.resume = Some(offset + 1);
                place.unsettled.pop_front();
            }
        }
        connection.processed(in_protocol(subscription), count);
    }

    fn on_disconnect(&mut self) {
        let Some(place) = &mut self.stream else { return };
        place.unsettled.clear();
        for filter in &mut self.link.filters {
            if let (Filter::StreamOffset(offset), Some(resume)) = (filter, place.resume) {
                *offset = Offset::At(resume);
            }
        }
    }
}

impl Receives for Connection {
    type Progress = LinkProgress;

    fn subscribe(
        &mut self,
        subscription: usize,
        _lane: u16,
        queue: &str,
        progress: &mut LinkProgress,
    ) {
        let receiver = Receiver {
            name: format!("consumer {subscription} of {queue}"),
            address: self.addressing().queue(queue),
            ..progress.link.clone()
        };
        self.attach_receiver(in_protocol(subscription), &receiver);
    }

    fn unsubscribe(&mut self, subscription: usize, _lane: u16) {
        self.detach(in_protocol(subscription));
    }

    #[inline]
    fn settle(&mut self, lane: u16, first: u64, last: u64, how: Settle) {
        let outcome = match how {
            Settle::Ack => Outcome::Accepted,
            Settle::Requeue => Outcome::Released,
            Settle::Discard => Outcome::Rejected,
        };
        Connection::settle(self, session(lane), first, last, outcome);
    }
}

impl Receiving<Connection> {
    #[inline]
    fn on_delivery(
        &mut self,
        delivery: &Delivery<'_>,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        let subscription = usize::from(delivery.lane);
        let place = self.progress(subscription).and_then(|progress| progress.stream.as_mut());
        if let Some(place) = place
            && let Some(offset) = delivery.stream_offset()
        {
            place.unsettled.push_back((delivery.number, offset));
        }
        let body = delivery.body();
        let property = if self.reads_headers { delivery.property(STAMP_HEADER) } else { None };
        let arrival = Arrival {
            subscription,
            number: delivery.number,
            redelivered: delivery.is_redelivered(),
            stamp: property.map_or_else(|| Stamp::decode(body), Stamp::from_property),
            items: Items::one(body),
        };
        self.on_arrival(arrival, connection, context);
    }
}

impl EventHandler for Receiving<Connection> {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        match event {
            Event::Delivery(delivery) => {
                self.on_delivery(&delivery, &mut socket.connection, context);
            }
            Event::Attached { lane } => {
                let missing = socket.connection.missing_filters(lane);
                if !missing.is_empty() {
                    let (queue, names) = (self.queue(lane.into()), missing.join(", "));
                    let releases = missing.iter().map(|name| Filter::first_release(name));
                    let (major, minor) = releases.max().unwrap_or_default();
                    return Err(Failure::wrong(format!(
                        "the broker does not filter queue `{queue}` by {names}: RabbitMQ does so for streams, from \
                         {major}.{minor} on"
                    )));
                }
            }
            Event::Ended { lane, refusal, .. } => {
                let queue = self.queue(lane.into());
                return Err(Failure::consumer_cancelled(format!(
                    "the broker ended a consumer of queue `{queue}`: {refusal}"
                )));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the filters of a group's conditions.
fn conditions(filter: &SourceFilter) -> impl Iterator<Item = Filter> {
    let pairs = |table: &BTreeMap<String, FieldValue>| -> Option<Vec<_>> {
        let pairs = table.iter().filter_map(|(name, value)| Some((name.clone(), scalar(value)?)));
        (!table.is_empty()).then(|| pairs.collect())
    };
    let properties = pairs(&filter.properties).map(Filter::Properties);
    let headers = pairs(&filter.headers).map(Filter::ApplicationProperties);
    let sql = filter.sql.clone().map(Filter::Sql);
    [properties, headers, sql].into_iter().flatten()
}

/// Returns the session of a subscription: each consumer has one of both.
#[inline]
fn in_protocol(subscription: usize) -> u16 {
    u16::try_from(subscription).unwrap_or(u16::MAX)
}

/// Returns the place in a stream that an argument names.
fn offset(value: &FieldValue) -> Option<Offset> {
    Some(match value {
        FieldValue::Integer(offset) => Offset::At(u64::try_from(*offset).unwrap_or(0)),
        FieldValue::Time(time) => {
            let millis = time.seconds.saturating_mul(1000);
            Offset::Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
        }
        FieldValue::Text(name) => Offset::Named(name.clone()),
        _ => return None,
    })
}

/// Returns a text, or the texts of a list.
fn texts(value: &FieldValue) -> Option<Vec<String>> {
    match value {
        FieldValue::Text(text) => Some(vec![text.clone()]),
        FieldValue::Array(values) => values.iter().map(|one| texts(one)?.pop()).collect(),
        _ => None,
    }
}
