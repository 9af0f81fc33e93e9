//! Consumers on one connection.
//!
//! A message is settled as it arrives, unless its group delays messages by a rate or a processing time. It then waits
//! in `held_messages.rs`. One heap holds all scheduled tasks: the start of a consumer, the next poll, the end of a
//! processing time.

use std::sync::Arc;

use rabbitscope_amqp::{Connection, Event, Request, Table};
use rabbitscope_measurements::{Failure, Side};
use rabbitscope_runs::scenario::{LatencyEnds, Settle};
use rabbitscope_timing::{Nanos, RunInstant};
use rabbitscope_topology::field_table;
use rabbitscope_verify::{Observation, Reader};

use super::{
    consumer::{Consumer, Subscription, Unacknowledged},
    forwarding::Forwarding,
    held_messages::{HeldMessage, HeldMessages},
    poll_settings::PollSettings,
    settling::Settling,
    stream_position::StreamPosition,
    tasks::{Task, Tasks},
    unsettled::Unsettled,
};
use crate::{
    link::{
        amqp091,
        role::{EventHandler, Role},
        serve_context::ServeContext,
        socket::Socket,
    },
    packing::Unpacker,
    plan::{ConsumerPlan, Placement},
};

/// Limit of the bytes that wait for the socket. Beyond it, nothing is read, and no message is forwarded. Otherwise an alarm
/// of the broker would fill the memory. Chosen.
const BACKLOG: usize = 1024 * 1024;

pub(in crate::link) struct Consuming {
    /// Names of the queues. An empty name stands for the last queue that was declared on the channel, which the broker
    /// named.
    pub(super) queues: Arc<[String]>,
    arguments: Table,
    pub(super) auto_ack: bool,
    exclusive: bool,
    settling: Settling,
    forwarding: Option<Forwarding>,
    /// Messages for each acknowledgement.
    multi_ack_every: u32,
    tx_size: Option<u32>,
    /// Messages for each consumer.
    pub(super) limit: Option<u64>,
    pub(super) reads_headers: bool,
    /// Absent if messages are not unpacked.
    pub(super) unpacker: Option<Unpacker>,
    pub(super) polling: Option<PollSettings>,
    pub(super) consumers: Vec<Consumer>,
    /// A consumer's tag is the number of its subscription here.
    pub(super) subscriptions: Vec<Subscription>,
    /// Positions by subscription, for streams whose messages are settled as they arrive.
    pub(super) positions: Vec<StreamPosition>,
    /// Unacknowledged messages by channel number.
    unacknowledged: Vec<Unacknowledged>,
    /// Latencies that are recorded separately from delivery.
    recorded: LatencyEnds,
    unsettled: Unsettled,
    /// The consumer of each channel, for consumers that poll: each has its own channel.
    pub(super) by_channel: Vec<u32>,
    pub(super) holding: Option<HeldMessages>,
    pub(super) tasks: Tasks,
}

impl Consuming {
    pub(in crate::link) fn new(plan: &ConsumerPlan<'_>, placements: &[Placement]) -> Self {
        let group = plan.group;
        let channels = placements.iter().map(|placement| placement.channel).max().unwrap_or(0);
        let mut consuming = Self {
            queues: plan.queues.clone().into(),
            arguments: field_table(&group.arguments),
            auto_ack: group.auto_ack,
            exclusive: group.exclusive,
            settling: Settling::new(group, plan.random("refusals", placements)),
            forwarding: group.forward.as_ref().map(|forward| {
                Forwarding::new(forward, &plan.forwarded, plan.random("forwards", placements))
            }),
            multi_ack_every: group.multi_ack_every,
            tx_size: group.tx_size,
            limit: group.messages,
            reads_headers: plan.has_stamp_headers,
            unpacker: plan.unpacks.then(Unpacker::default),
            polling: PollSettings::from_plan(plan),
            consumers: Vec::with_capacity(placements.len()),
            subscriptions: Vec::new(),
            positions: Vec::new(),
            unacknowledged: vec![Unacknowledged::default(); usize::from(channels) + 1],
            recorded: plan.recorded,
            unsettled: Unsettled::new(plan.recorded.settled, usize::from(channels) + 1),
            by_channel: vec![0; usize::from(channels) + 1],
            holding: HeldMessages::for_group(
                group,
                &plan.random("processing", placements),
                placements.len(),
            ),
            tasks: Tasks::default(),
        };
        for (number, placement) in placements.iter().enumerate() {
            let first = consuming.subscriptions.len();
            let mine = plan.queues_of(*placement);
            let consumer = plan.first_consumer + placement.member;
            consuming.subscriptions.extend(mine.map(|queue| {
                let reader = Reader { queue: plan.queue_numbers[queue], consumer };
                Subscription { consumer: number, queue, reader, slot: plan.slots[queue] }
            }));
            let delay = Nanos::from(group.slow_start) * u64::from(placement.member);
            consuming.by_channel[usize::from(placement.channel)] =
                u32::try_from(number).unwrap_or(0);
            consuming.consumers.push(Consumer {
                channel: placement.channel,
                received: 0,
                start: RunInstant::START + delay + group.start_delay.into(),
                subscriptions: first..consuming.subscriptions.len(),
                next_poll: first,
            });
        }
        if consuming.holding.is_none() {
            let subscriptions = consuming.subscriptions.len();
            consuming.positions =
                StreamPosition::for_subscriptions(subscriptions, &consuming.arguments);
        }
        consuming
    }

    fn begin(&mut self, number: usize, connection: &mut Connection) {
        let consumer = &self.consumers[number];
        if self.limit.is_some_and(|limit| consumer.received >= limit) {
            return;
        }
        if self.polling.is_some() {
            return self.poll(number, connection);
        }
        for tag in consumer.subscriptions.clone() {
            let position = self.positions.get(tag);
            let going_on = position.and_then(|position| position.going_on(&self.arguments));
            let consume = Request::Consume {
                queue: &self.queues[self.subscriptions[tag].queue],
                consumer_tag: &tag.to_string(),
                no_local: false,
                auto_ack: self.auto_ack,
                exclusive: self.exclusive,
                arguments: going_on.as_ref().unwrap_or(&self.arguments),
            };
            connection.request(consumer.channel, &consume);
        }
    }

    /// Counts and settles a processed message.
    #[inline]
    pub(super) fn take(
        &mut self,
        number: usize,
        message: HeldMessage,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        let consumer = &mut self.consumers[number];
        let channel = consumer.channel;
        consumer.received += 1;
        let is_last = self.limit == Some(consumer.received);
        let sending = message.measure(self.recorded, context);
        if let Some(sending) = sending {
            self.unsettled.note(channel, sending, message.slot);
        }
        if let Some(forwarding) = &mut self.forwarding
            && self.settling.accepts_next()
        {
            forwarding.publish(&message, channel, socket, context);
        }
        let connection = &mut socket.connection;
        if self.auto_ack {
            context.measured.counts.settled += 1;
            self.unsettled.settle(channel, context);
        } else {
            let waiting = &mut self.unacknowledged[usize::from(channel)];
            waiting.count += 1;
            waiting.last_tag = message.delivery_tag;
            if waiting.count >= self.multi_ack_every || is_last {
                self.settle(channel, is_last, connection, context);
            }
        }
        if is_last {
            self.end(number, connection);
            context.outcome.done.consumers += 1;
        }
    }

    /// Settles the waiting messages of a channel. `commits`: commits them at once.
    #[inline]
    fn settle(
        &mut self,
        channel: u16,
        commits: bool,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        let waiting = &mut self.unacknowledged[usize::from(channel)];
        let (delivery_tag, multiple) = (waiting.last_tag, waiting.count > 1);
        let refuse = |requeue| Request::Nack { delivery_tag, multiple, requeue };
        let settle = self.settling.next();
        let request = match settle {
            Settle::Ack => Request::Ack { delivery_tag, multiple },
            Settle::Requeue => refuse(true),
            Settle::Discard => refuse(false),
        };
        connection.request(channel, &request);
        context.measured.counts.settled += u64::from(waiting.count);
        if settle != Settle::Ack {
            context.measured.counts.rejected += u64::from(waiting.count);
        }
        if let Some(size) = self.tx_size {
            waiting.uncommitted += waiting.count;
            if waiting.uncommitted >= size || commits {
                connection.request(channel, &Request::TxCommit);
                waiting.uncommitted = 0;
            }
        }
        waiting.count = 0;
        self.unsettled.settle(channel, context);
    }

    /// Cancels a consumer that has received its last message.
    fn end(&self, number: usize, connection: &mut Connection) {
        let consumer = &self.consumers[number];
        if self.polling.is_some() {
            return;
        }
        for tag in consumer.subscriptions.clone() {
            let cancel = Request::Cancel { consumer_tag: &tag.to_string() };
            connection.request(consumer.channel, &cancel);
        }
    }

    /// Returns whether messages to forward wait for the broker.
    fn waits(&self, socket: &mut Socket<Connection>) -> bool {
        self.forwarding.is_some() && (socket.is_blocked() || Self::is_congested(socket))
    }

    fn is_done(&self) -> bool {
        self.limit.is_some_and(|limit| self.consumers.iter().all(|one| one.received >= limit))
    }

    /// Holds a message of a consumer that processes it for a while. Returns false if the caller must settle it at once.
    #[inline]
    pub(super) fn hold(&mut self, number: usize, message: HeldMessage) -> bool {
        let due = self.holding.as_mut().and_then(|holding| holding.hold(number, message));
        if let Some(due) = due {
            self.tasks.push(due, Task::Process(number));
        }
        due.is_some()
    }
}

impl Role for Consuming {
    type Wire = Connection;

    fn start(&mut self, now: RunInstant, connection: &mut Connection) {
        self.tasks.clear();
        for number in 0..self.consumers.len() {
            let start = self.consumers[number].start;
            if start <= now {
                self.begin(number, connection);
            } else {
                self.tasks.push(start, Task::Start(number));
            }
        }
    }

    fn run_due_tasks(&mut self, socket: &mut Socket<Connection>, context: &mut ServeContext<'_>) {
        while !self.waits(socket)
            && let Some(task) = self.tasks.take(context.now)
        {
            match task {
                Task::Start(number) => self.begin(number, &mut socket.connection),
                Task::Poll(number) => self.poll(number, &mut socket.connection),
                Task::Process(number) => {
                    let held = self.holding.as_mut().and_then(|holding| holding.release(number));
                    if let Some(message) = held {
                        self.take(number, message, socket, context);
                        self.poll_again(number, &mut socket.connection, context);
                    }
                }
            }
        }
    }

    fn next_due(&self, can_publish: bool) -> Option<RunInstant> {
        self.tasks.next_due().filter(|_| can_publish || self.forwarding.is_none())
    }

    fn is_congested(socket: &mut Socket<Connection>) -> bool {
        socket.unwritten_bytes() > BACKLOG
    }

    fn finish(&mut self, connection: &mut Connection, context: &mut ServeContext<'_>) {
        self.tasks.clear();
        for channel in 0..u16::try_from(self.unacknowledged.len()).unwrap_or(u16::MAX) {
            let waiting = self.unacknowledged[usize::from(channel)];
            if waiting.count > 0 {
                self.settle(channel, true, connection, context);
            } else if waiting.uncommitted > 0 {
                connection.request(channel, &Request::TxCommit);
            }
        }
        let polling = self.polling.filter(|polling| polling.removes_queues);
        for consumer in self.consumers.iter().filter(|_| polling.is_some()) {
            let delete = Request::QueueDelete { queue: "", if_unused: false, if_empty: false };
            connection.request(consumer.channel, &delete);
        }
    }

    fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        if let Some(recorder) = &mut context.recorder {
            for Subscription { reader, .. } in &self.subscriptions {
                recorder.note(Observation::Resubscribed { reader: *reader });
            }
        }
        self.tasks.clear();
        self.unacknowledged.fill(Unacknowledged::default());
        self.unsettled.drop_all();
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

impl EventHandler for Consuming {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        amqp091::on_event(self, event, socket, context)
    }

    fn ask(&mut self, socket: &mut Socket<Connection>, now: RunInstant) -> bool {
        amqp091::ask(self, socket, now)
    }
}
