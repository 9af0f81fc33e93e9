//! Readers of the stream protocol on one connection.
//!
//! The broker sends whole chunks. A chunk's credit returns when all its messages are processed, so that a slow reader
//! holds the broker back. After a lost connection each subscription resumes behind the last message that it received.

use std::{cmp::Reverse, collections::BinaryHeap, ops::Range, sync::Arc, time::SystemTime};

use rabbitscope_measurements::{Failure, Side};
use rabbitscope_runs::{
    record::Latency,
    scenario::{ConsumerGroup, FieldValue, LatencyEnds},
};
use rabbitscope_streams::{Code, Connection, Event, Message, Offset, Packed};
use rabbitscope_timing::{Nanos, RunInstant, Stamp};
use rabbitscope_verify::{Observation, Reader};

use super::{
    credit::Credit,
    packed::{next, unpack},
};
use crate::{
    link::{
        consuming::{HeldMessage, HeldMessages},
        role::{EventHandler, Role},
        serve_context::ServeContext,
        socket::Socket,
    },
    packing::Items,
    plan::{ConsumerPlan, Placement},
};

/// The readers of a connection.
pub(in crate::link) struct Subscribing {
    /// Names of the streams.
    streams: Arc<[String]>,
    /// Chunks that the broker may send ahead.
    credit: u16,
    /// Messages for each reader.
    limit: Option<u64>,
    /// Latencies that are recorded separately from delivery.
    recorded: LatencyEnds,
    readers: Vec<StreamReader>,
    /// By their numbers in the protocol.
    subscriptions: Vec<Subscription>,
    holding: Option<HeldMessages>,
    tasks: BinaryHeap<Reverse<(RunInstant, Task)>>,
    /// Space for compressed messages.
    plain: Vec<u8>,
}

#[derive(Debug)]
struct StreamReader {
    received: u64,
    start: RunInstant,
    subscriptions: Range<usize>,
}

#[derive(Debug)]
struct Subscription {
    reader: usize,
    stream: usize,
    /// Reader and stream, for the check of deliveries.
    observed: Reader,
    /// The slot of its latencies.
    slot: u16,
    /// The place from which messages are taken. It advances with each one that is received.
    offset: Offset,
    /// The place at which the subscription resumes. It advances with each message that is processed.
    resume: Offset,
    credit: Credit,
}

/// A scheduled task of the reader with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Start(usize),
    /// Processes the message that the reader has held for longest.
    Process(usize),
}

impl Subscribing {
    pub(in crate::link) fn new(plan: &ConsumerPlan<'_>, placements: &[Placement]) -> Self {
        let group = plan.group;
        let offset = offset(group);
        let mut subscribing = Self {
            streams: plan.queues.clone().into(),
            credit: group.credit.unwrap_or(1),
            limit: group.messages,
            recorded: plan.recorded,
            readers: Vec::with_capacity(placements.len()),
            subscriptions: Vec::new(),
            holding: HeldMessages::for_group(group, placements.len()),
            tasks: BinaryHeap::new(),
            plain: Vec::new(),
        };
        for (number, placement) in placements.iter().enumerate() {
            let first = subscribing.subscriptions.len();
            let consumer = plan.first_consumer + placement.member;
            subscribing.subscriptions.extend(plan.queues_of(*placement).map(|stream| {
                let observed = Reader { queue: plan.queue_numbers[stream], consumer };
                let (slot, credit) = (plan.slots[stream], Credit::default());
                let resume = offset;
                Subscription { reader: number, stream, observed, slot, offset, resume, credit }
            }));
            let delay = Nanos::from(group.slow_start) * u64::from(placement.member);
            subscribing.readers.push(StreamReader {
                received: 0,
                start: RunInstant::START + delay + group.start_delay.into(),
                subscriptions: first..subscribing.subscriptions.len(),
            });
        }
        subscribing
    }

    fn begin(&mut self, number: usize, connection: &mut Connection) {
        let reader = &self.readers[number];
        if self.limit.is_some_and(|limit| reader.received >= limit) {
            return;
        }
        for index in reader.subscriptions.clone() {
            let subscription = &self.subscriptions[index];
            let stream = &self.streams[subscription.stream];
            connection.subscribe(in_protocol(index), stream, subscription.offset, self.credit, &[]);
        }
    }

    #[inline]
    fn on_message(
        &mut self,
        message: &Message<'_>,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        let index = usize::from(message.subscription);
        let Some(subscription) = self.subscriptions.get_mut(index) else { return };
        let number = subscription.reader;
        let held = self.holding.as_ref().map_or(0, |holding| holding.count(number));
        let is_full = self.limit.is_some_and(|limit| self.readers[number].received + held >= limit);
        if is_full || subscription.offset.is_behind(message.offset) {
            return;
        }
        subscription.offset = Offset::At(message.offset.wrapping_add(1));
        subscription.credit.received();
        context.measured.counts.delivered += 1;
        let body = message.body();
        let message = HeldMessage {
            arrived: context.now,
            begun: context.now,
            delivery_tag: message.offset,
            redelivered: false,
            stamp: Stamp::decode(body),
            reader: subscription.observed,
            slot: subscription.slot,
            items: Items::one(body),
        };
        let due = self.holding.as_mut().and_then(|holding| holding.hold(number, message));
        match due {
            Some(due) => self.tasks.push(Reverse((due, Task::Process(number)))),
            None => self.take(number, message, connection, context),
        }
    }

    /// Counts a processed message.
    #[inline]
    fn take(
        &mut self,
        number: usize,
        message: HeldMessage,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        let reader = &mut self.readers[number];
        reader.received += 1;
        let is_last = self.limit == Some(reader.received);
        let counts = &mut context.measured.counts;
        counts.consumed += 1;
        counts.settled += 1;
        counts.consumed_items += u64::from(message.items.count);
        counts.consumed_item_bytes += u64::from(message.items.bytes);
        let sending = message.measure(self.recorded, context);
        if let Some(sending) = sending.filter(|_| self.recorded.settled) {
            let now = context.now;
            context.reached([Latency::Settled, Latency::SettledIntended], sending, now);
        }
        let all = self.readers[number].subscriptions.clone();
        for index in all.clone() {
            let subscription = &mut self.subscriptions[index];
            if subscription.observed == message.reader {
                subscription.resume = Offset::At(message.delivery_tag.wrapping_add(1));
                give(in_protocol(index), subscription.credit.processed(), connection);
            }
        }
        if is_last {
            for index in all {
                connection.unsubscribe(in_protocol(index));
            }
            context.outcome.done.consumers += 1;
        }
    }

    /// Takes messages that are compressed together.
    fn on_packed(
        &mut self,
        packed: &Packed<'_>,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        let mut plain = std::mem::take(&mut self.plain);
        if unpack(packed, &mut plain) {
            let mut rest = &plain[..];
            let offsets = packed.offset..packed.offset.saturating_add(packed.count.into());
            for offset in offsets {
                let Some(bytes) = next(&mut rest) else { break };
                let message = Message { subscription: packed.subscription, offset, bytes };
                self.on_message(&message, connection, context);
            }
        } else {
            context.measured.counts.unpacking_failures += 1;
        }
        self.plain = plain;
    }

    fn is_done(&self) -> bool {
        self.limit.is_some_and(|limit| self.readers.iter().all(|one| one.received >= limit))
    }
}

impl Role for Subscribing {
    type Wire = Connection;

    fn start(&mut self, now: RunInstant, connection: &mut Connection) {
        self.tasks.clear();
        for number in 0..self.readers.len() {
            let start = self.readers[number].start;
            if start <= now {
                self.begin(number, connection);
            } else {
                self.tasks.push(Reverse((start, Task::Start(number))));
            }
        }
    }

    fn run_due_tasks(&mut self, connection: &mut Connection, context: &mut ServeContext<'_>) {
        while let Some(Reverse((due, task))) = self.tasks.peek().copied()
            && due <= context.now
        {
            self.tasks.pop();
            match task {
                Task::Start(number) => self.begin(number, connection),
                Task::Process(number) => {
                    let held = self.holding.as_mut().and_then(|holding| holding.release(number));
                    if let Some(message) = held {
                        self.take(number, message, connection, context);
                    }
                }
            }
        }
    }

    fn next_due(&self, _can_publish: bool) -> Option<RunInstant> {
        self.tasks.peek().map(|Reverse((due, _))| *due)
    }

    fn finish(&mut self, _connection: &mut Connection, _context: &mut ServeContext<'_>) {
        self.tasks.clear();
    }

    /// Resumes behind the last message that was processed. Messages that were held are read again.
    fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        for subscription in &mut self.subscriptions {
            (subscription.offset, subscription.credit) = (subscription.resume, Credit::default());
            if let Some(recorder) = &mut context.recorder {
                recorder.note(Observation::Resubscribed { reader: subscription.observed });
            }
        }
        self.tasks.clear();
        if let Some(holding) = &mut self.holding {
            holding.drop_all();
        }
    }

    fn side(&self) -> Side {
        Side::Receiving
    }

    fn is_consuming(&self) -> bool {
        !self.is_done()
    }
}

impl EventHandler for Subscribing {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        match event {
            Event::Delivery(message) => {
                self.on_message(&message, &mut socket.connection, context);
            }
            Event::Packed(packed) => self.on_packed(&packed, &mut socket.connection, context),
            Event::ChunkEnd { subscription } => {
                if let Some(one) = self.subscriptions.get_mut(usize::from(subscription)) {
                    give(subscription, one.credit.chunk_ended(), &mut socket.connection);
                }
            }
            Event::Answer { code, .. } if code != Code::OK => {
                return Err(Failure::consumer_cancelled(format!(
                    "the broker refused to read a stream: {code}"
                )));
            }
            Event::StreamGone { stream, code } => {
                return Err(Failure::consumer_cancelled(format!(
                    "the broker ended a reader of stream `{stream}`: {code}"
                )));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Lets the broker send as many chunks as are done.
#[inline]
fn give(subscription: u8, chunks: u16, connection: &mut Connection) {
    if chunks > 0 {
        connection.credit(subscription, chunks);
    }
}

/// Returns the number of a subscription in the protocol, which checks of the scenario keep in range.
fn in_protocol(index: usize) -> u8 {
    u8::try_from(index).unwrap_or(u8::MAX)
}

/// Returns the place at which a group begins to read.
fn offset(group: &ConsumerGroup) -> Offset {
    match group.arguments.get("x-stream-offset") {
        Some(FieldValue::Integer(offset)) => Offset::At(u64::try_from(*offset).unwrap_or(0)),
        Some(FieldValue::Time(time)) => millis(time.seconds),
        Some(FieldValue::Text(text)) => match text.as_str() {
            "first" => Offset::First,
            "last" => Offset::Last,
            ago => since(ago).map_or(Offset::Next, |span| millis(now().saturating_sub(span))),
        },
        _ => Offset::Next,
    }
}

/// Returns the seconds that a text such as `2h` means; `None` for `next`.
fn since(ago: &str) -> Option<u64> {
    const DAY: u64 = 24 * 60 * 60;
    let (number, unit) = ago.split_at(ago.len().checked_sub(1)?);
    let unit = match unit {
        "Y" => 365 * DAY,
        "M" => 30 * DAY,
        "D" => DAY,
        "h" => 60 * 60,
        "m" => 60,
        "s" => 1,
        _ => return None,
    };
    Some(number.parse::<u64>().ok()?.saturating_mul(unit))
}

/// Seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn millis(seconds: u64) -> Offset {
    Offset::Timestamp(i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX))
}
