//! The readers of a connection: messages that arrive, are processed for a while, and are settled.

use std::{ops::Range, sync::Arc};

use rabbitscope_measurements::Side;
use rabbitscope_runs::scenario::{LatencyEnds, Settle};
use rabbitscope_timing::{Nanos, RunInstant, Stamp};
use rabbitscope_verify::{Observation, Reader};

use super::receives::{Progress, Receives};
use crate::{
    link::{
        consuming::{HeldMessage, HeldMessages, Task, Tasks, Unsettled},
        role::Role,
        serve_context::ServeContext,
        socket::Socket,
    },
    packing::Items,
    plan::{ConsumerPlan, Placement},
};

/// The readers of a connection.
pub(in crate::link) struct Receiving<W: Receives> {
    /// Names of the queues.
    queues: Arc<[String]>,
    /// True if some messages have their stamp in a property.
    pub(super) reads_headers: bool,
    auto_ack: bool,
    settle: Settle,
    /// Messages for each acknowledgement.
    multi_ack_every: u32,
    /// Messages for each reader.
    limit: Option<u64>,
    /// Latencies that are recorded separately from delivery.
    recorded: LatencyEnds,
    /// Messages that are processed but not settled, by lane.
    unsettled: Unsettled,
    readers: Vec<QueueReader>,
    subscriptions: Vec<Subscription<W::Progress>>,
    holding: Option<HeldMessages>,
    tasks: Tasks,
    /// Space for compressed messages.
    pub(super) plain: Vec<u8>,
}

#[derive(Debug)]
struct QueueReader {
    lane: u16,
    received: u64,
    start: RunInstant,
    subscriptions: Range<usize>,
    unacknowledged: Unacknowledged,
}

/// Processed messages of a reader that wait for their acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct Unacknowledged {
    count: u32,
    first: u64,
    last: u64,
}

#[derive(Debug)]
struct Subscription<P> {
    reader: usize,
    queue: usize,
    /// Reader and queue, for the check of deliveries.
    observed: Reader,
    /// The slot of its latencies.
    slot: u16,
    progress: P,
    /// Processed messages that wait for their acknowledgement, and the last of them.
    unacknowledged: u32,
    last: u64,
}

/// A message as its protocol describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Number of the subscription on the connection.
    pub(super) subscription: usize,
    /// Number of the delivery, or offset in the stream.
    pub(super) number: u64,
    pub(super) redelivered: bool,
    pub(super) stamp: Option<Stamp>,
    pub(super) items: Items,
}

impl<W: Receives> Receiving<W> {
    pub(in crate::link) fn new(plan: &ConsumerPlan<'_>, placements: &[Placement]) -> Self {
        let group = plan.group;
        let lanes = placements.iter().map(|placement| placement.channel).max().unwrap_or(0);
        let mut receiving = Self {
            queues: plan.queues.clone().into(),
            reads_headers: plan.has_stamp_headers,
            auto_ack: group.auto_ack,
            settle: group.settle(),
            multi_ack_every: group.multi_ack_every,
            limit: group.messages,
            recorded: plan.recorded,
            unsettled: Unsettled::new(plan.recorded.settled, usize::from(lanes) + 1),
            readers: Vec::with_capacity(placements.len()),
            subscriptions: Vec::new(),
            holding: HeldMessages::for_group(
                group,
                &plan.random("processing", placements),
                placements.len(),
            ),
            tasks: Tasks::default(),
            plain: Vec::new(),
        };
        for (number, placement) in placements.iter().enumerate() {
            let first = receiving.subscriptions.len();
            let consumer = plan.observed_consumer(*placement);
            let queues = plan.queues_of(*placement);
            receiving.subscriptions.extend(queues.map(|queue| Subscription {
                reader: number,
                queue,
                observed: Reader { queue: plan.queue_numbers[queue], consumer },
                slot: plan.slots[queue],
                progress: W::Progress::new(group),
                unacknowledged: 0,
                last: 0,
            }));
            let delay = Nanos::from(group.slow_start) * u64::from(placement.member);
            receiving.readers.push(QueueReader {
                lane: placement.channel,
                received: 0,
                start: RunInstant::START + delay + group.start_delay.into(),
                subscriptions: first..receiving.subscriptions.len(),
                unacknowledged: Unacknowledged::default(),
            });
        }
        receiving
    }

    /// Returns the progress of a subscription; `None` if there is none with this number.
    #[inline]
    pub(super) fn progress(&mut self, subscription: usize) -> Option<&mut W::Progress> {
        self.subscriptions.get_mut(subscription).map(|one| &mut one.progress)
    }

    /// Returns the first subscription whose progress is like this, with its number.
    pub(super) fn find(
        &mut self,
        is_it: impl Fn(&W::Progress) -> bool,
    ) -> Option<(usize, &mut W::Progress)> {
        let mut all = self.subscriptions.iter_mut().map(|one| &mut one.progress).enumerate();
        all.find(|(_, progress)| is_it(progress))
    }

    /// Drops messages of a subscription that are not processed: another reader gets them.
    pub(super) fn hand_over(&mut self, subscription: usize) {
        let Some(one) = self.subscriptions.get(subscription) else { return };
        if let Some(holding) = &mut self.holding {
            holding.give_up(one.reader, u32::try_from(subscription).unwrap_or(u32::MAX));
        }
    }

    /// Notes that a subscription reads on behind another reader, and may read some messages again.
    pub(super) fn take_over(&mut self, subscription: usize, context: &mut ServeContext<'_>) {
        if let Some(one) = self.subscriptions.get(subscription)
            && let Some(recorder) = &mut context.recorder
        {
            recorder.note(Observation::Resubscribed { reader: one.observed });
        }
    }

    /// Returns the queue of a subscription; empty if there is none with this number.
    pub(super) fn queue(&self, subscription: usize) -> &str {
        let queue = self.subscriptions.get(subscription).and_then(|one| self.queues.get(one.queue));
        queue.map_or("", String::as_str)
    }

    fn begin(&mut self, number: usize, connection: &mut W) {
        let reader = &self.readers[number];
        if self.limit.is_some_and(|limit| reader.received >= limit) {
            return;
        }
        for index in reader.subscriptions.clone() {
            let subscription = &mut self.subscriptions[index];
            let queue = &self.queues[subscription.queue];
            connection.subscribe(index, reader.lane, queue, &mut subscription.progress);
        }
    }

    /// Takes a message that has just arrived.
    #[inline]
    pub(super) fn on_arrival(
        &mut self,
        arrival: Arrival,
        connection: &mut W,
        context: &mut ServeContext<'_>,
    ) {
        let Some(subscription) = self.subscriptions.get_mut(arrival.subscription) else { return };
        let number = subscription.reader;
        let held = self.holding.as_ref().map_or(0, |holding| holding.count(number));
        let is_full = self.limit.is_some_and(|limit| self.readers[number].received + held >= limit);
        if is_full {
            // The broker sent this message before it read the cancellation. It is for other readers.
            if !self.auto_ack {
                let lane = self.readers[number].lane;
                connection.settle(lane, arrival.number, arrival.number, Settle::Requeue);
            }
            return;
        }
        if !subscription.progress.on_arrival(arrival.number) {
            return;
        }
        context.measured.counts.delivered += 1;
        let message = HeldMessage {
            arrived: context.now,
            begun: context.now,
            delivery_tag: arrival.number,
            subscription: u32::try_from(arrival.subscription).unwrap_or(u32::MAX),
            redelivered: arrival.redelivered,
            stamp: arrival.stamp,
            reader: subscription.observed,
            slot: subscription.slot,
            items: arrival.items,
            // Messages are forwarded by AMQP 0-9-1 alone.
            body_bytes: 0,
        };
        let due = self.holding.as_mut().and_then(|holding| holding.hold(number, message));
        match due {
            Some(due) => self.tasks.push(due, Task::Process(number)),
            None => self.take(number, message, connection, context),
        }
    }

    /// Counts a processed message, and settles it with those that wait for it.
    #[inline]
    fn take(
        &mut self,
        number: usize,
        message: HeldMessage,
        connection: &mut W,
        context: &mut ServeContext<'_>,
    ) {
        let reader = &mut self.readers[number];
        reader.received += 1;
        let is_last = self.limit == Some(reader.received);
        if let Some(sending) = message.measure(self.recorded, context) {
            self.unsettled.note(reader.lane, sending, message.slot);
        }
        let waiting = &mut reader.unacknowledged;
        if waiting.count == 0 {
            waiting.first = message.delivery_tag;
        }
        waiting.last = message.delivery_tag;
        waiting.count += 1;
        let subscription = &mut self.subscriptions[message.subscription as usize];
        subscription.unacknowledged += 1;
        subscription.last = message.delivery_tag;
        if waiting.count >= self.multi_ack_every || is_last {
            self.settle(number, connection, context);
        }
        if is_last {
            self.end(number, connection);
            context.outcome.done.consumers += 1;
        }
    }

    /// Settles the waiting messages of a reader.
    #[inline]
    fn settle(&mut self, number: usize, connection: &mut W, context: &mut ServeContext<'_>) {
        let reader = &mut self.readers[number];
        let Unacknowledged { count, first, last } = std::mem::take(&mut reader.unacknowledged);
        if !self.auto_ack {
            connection.settle(reader.lane, first, last, self.settle);
        }
        let counts = &mut context.measured.counts;
        counts.settled += u64::from(count);
        if self.settle != Settle::Ack {
            counts.rejected += u64::from(count);
        }
        self.unsettled.settle(reader.lane, context);
        for index in reader.subscriptions.clone() {
            let subscription = &mut self.subscriptions[index];
            let count = std::mem::take(&mut subscription.unacknowledged);
            if count > 0 {
                subscription.progress.on_settled(index, subscription.last, count, connection);
            }
        }
    }

    fn end(&mut self, number: usize, connection: &mut W) {
        let reader = &self.readers[number];
        for index in reader.subscriptions.clone() {
            self.subscriptions[index].progress.before_end(connection);
            connection.unsubscribe(index, reader.lane);
        }
    }

    fn is_done(&self) -> bool {
        self.limit.is_some_and(|limit| self.readers.iter().all(|one| one.received >= limit))
    }
}

impl<W: Receives> Role for Receiving<W> {
    type Wire = W;

    fn start(&mut self, now: RunInstant, connection: &mut W) {
        self.tasks.clear();
        for number in 0..self.readers.len() {
            let start = self.readers[number].start;
            if start <= now {
                self.begin(number, connection);
            } else {
                self.tasks.push(start, Task::Start(number));
            }
        }
    }

    fn run_due_tasks(&mut self, socket: &mut Socket<W>, context: &mut ServeContext<'_>) {
        let connection = &mut socket.connection;
        while let Some(task) = self.tasks.take(context.now) {
            match task {
                Task::Start(number) => self.begin(number, connection),
                // Only consumers of AMQP 0-9-1 poll.
                Task::Poll(_) => {}
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
        self.tasks.next_due()
    }

    fn finish(&mut self, connection: &mut W, context: &mut ServeContext<'_>) {
        self.tasks.clear();
        for number in 0..self.readers.len() {
            if self.readers[number].unacknowledged.count > 0 {
                self.settle(number, connection, context);
            }
        }
        for subscription in &mut self.subscriptions {
            subscription.progress.before_end(connection);
        }
    }

    /// Drops messages that were held or not settled: the broker sends them again.
    fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        for subscription in &mut self.subscriptions {
            subscription.progress.on_disconnect();
            subscription.unacknowledged = 0;
            if let Some(recorder) = &mut context.recorder {
                recorder.note(Observation::Resubscribed { reader: subscription.observed });
            }
        }
        for reader in &mut self.readers {
            reader.unacknowledged = Unacknowledged::default();
        }
        self.tasks.clear();
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
