//! Channels, queues, bindings and consumers that are opened and closed on one connection.
//!
//! Each slot opens one, holds it, closes it, and starts again. A slot has its own channel, because a refusal of the
//! broker closes the channel and must not affect other slots.

use rabbitscope_amqp::{Connection, ConnectionError, Delivery, Event, Refusal, Reply, Request};
use rabbitscope_measurements::{Failure, Side};
use rabbitscope_timing::{Nanos, RunInstant};

use super::requests::{Subject, declare_own_queue};
use crate::{
    link::{
        amqp091::{self, Amqp091Role},
        role::{EventHandler, Role},
        serve_context::ServeContext,
        socket::Socket,
    },
    pacing::{ChurnCycle, DueQueue, RETRY_DELAY},
    plan::{ChurnMembers, Placement},
};

pub(in crate::link) struct Churning {
    group: usize,
    subject: Subject,
    hold: Nanos,
    slots: Vec<Slot>,
    /// By channel number: number of the slot.
    by_channel: Vec<Option<usize>>,
    /// Time of each slot's next step, unless the slot waits for the broker.
    due_queue: DueQueue,
    is_stopped: bool,
}

struct Slot {
    /// 0 until the slot has a channel.
    channel: u16,
    state: State,
    /// Time of the latest request to the broker.
    since: RunInstant,
    cycle: ChurnCycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waiting for its channel, or for the queue that all slots share.
    Unready,
    Idle,
    Opening,
    Open,
    Closing,
}

impl Churning {
    pub(in crate::link) fn new(members: &ChurnMembers<'_>, placements: &[Placement]) -> Self {
        let group = members.group;
        let slots: Vec<_> = placements
            .iter()
            .map(|placement| Slot {
                channel: 0,
                state: State::Unready,
                since: RunInstant::START,
                cycle: ChurnCycle::new(group, placement.member),
            })
            .collect();
        Self {
            group: members.number,
            subject: Subject::new(members, placements),
            hold: group.hold.into(),
            by_channel: Vec::new(),
            due_queue: DueQueue::new(slots.len()),
            slots,
            is_stopped: false,
        }
    }

    /// Sets up a slot that has a channel now.
    fn set_up_slot(&mut self, index: usize, channel: u16, connection: &mut Connection) {
        self.assign(index, channel);
        self.subject.prepare(channel, connection);
        if self.subject.is_ready() {
            self.ready(index);
        } else if index == 0 {
            declare_own_queue(channel, connection);
        }
    }

    fn assign(&mut self, index: usize, channel: u16) {
        let place = usize::from(channel);
        if self.by_channel.len() <= place {
            self.by_channel.resize(place + 1, None);
        }
        self.by_channel[place] = Some(index);
        self.slots[index].channel = channel;
    }

    /// Makes a slot idle, and schedules its next opening.
    fn ready(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.state = State::Idle;
        if let Some(due) = slot.cycle.due() {
            self.due_queue.put(index, due);
        }
    }

    fn open(&mut self, index: usize, connection: &mut Connection) -> Result<(), ConnectionError> {
        if self.subject.is_channels() {
            let channel = connection.open_channel()?;
            self.assign(index, channel);
        } else {
            let slot = &self.slots[index];
            self.subject.open(index, slot.channel, connection);
        }
        self.slots[index].state = State::Opening;
        Ok(())
    }

    fn answered(&mut self, index: usize, context: &mut ServeContext<'_>) {
        let slot = &mut self.slots[index];
        let latency = context.now.since(slot.since);
        match slot.state {
            State::Opening => {
                slot.state = State::Open;
                context.measured.counts.churn_opened += 1;
                context.measured.churn.opened(self.group, latency);
                let hold = if self.is_stopped { Nanos::ZERO } else { self.hold };
                self.due_queue.put(index, context.now + hold);
            }
            State::Closing => {
                context.measured.counts.churn_closed += 1;
                context.measured.churn.closed(self.group, latency);
                self.next_cycle(index, RunInstant::START, context);
            }
            State::Unready | State::Idle | State::Open => return,
        }
        context.measured(latency);
    }

    /// Ends a cycle of a slot. The next one does not begin before `not_before`.
    fn next_cycle(&mut self, index: usize, not_before: RunInstant, context: &mut ServeContext<'_>) {
        let slot = &mut self.slots[index];
        if slot.cycle.end(not_before) {
            context.outcome.done.churn_slots += 1;
        }
        self.ready(index);
    }

    fn failed(&mut self, index: usize, reason: &str, context: &mut ServeContext<'_>) {
        context.measured.churn_failed(reason);
        self.next_cycle(index, context.now + RETRY_DELAY, context);
    }

    fn slot_of(&self, channel: u16) -> Option<usize> {
        self.by_channel.get(usize::from(channel)).copied().flatten()
    }
}

impl Role for Churning {
    type Wire = Connection;

    fn start(&mut self, _now: RunInstant, connection: &mut Connection) {
        self.by_channel.clear();
        for index in 0..self.slots.len() {
            if self.subject.is_channels() {
                self.ready(index);
            } else {
                self.set_up_slot(index, u16::try_from(index + 1).unwrap_or(u16::MAX), connection);
            }
        }
    }

    fn encode(
        &mut self,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        context.now = context.run.clock.now();
        while let Some(index) = self.due_queue.take(context.now) {
            match self.slots[index].state {
                State::Idle if !self.is_stopped && self.slots[index].cycle.due().is_some() => {
                    self.open(index, &mut socket.connection)?;
                }
                State::Open => {
                    let slot = &self.slots[index];
                    self.subject.close(index, slot.channel, &mut socket.connection);
                    self.slots[index].state = State::Closing;
                }
                _ => continue,
            }
            self.slots[index].since = context.now;
        }
        Ok(false)
    }

    fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        self.subject.on_disconnect();
        for index in 0..self.slots.len() {
            if !matches!(self.slots[index].state, State::Idle | State::Unready) {
                self.failed(index, "the connection was lost", context);
            }
            let slot = &mut self.slots[index];
            (slot.channel, slot.state) = (0, State::Unready);
        }
    }

    fn next_due(&self, _can_publish: bool) -> Option<RunInstant> {
        self.due_queue.first()
    }

    fn awaited(&self) -> u64 {
        let present = |slot: &&Slot| !matches!(slot.state, State::Idle | State::Unready);
        self.slots.iter().filter(present).count() as u64
    }

    fn is_owed(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.state, State::Opening | State::Closing))
    }

    fn stop(&mut self, _connection: &mut Connection, _context: &mut ServeContext<'_>) {
        self.is_stopped = true;
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.state == State::Open {
                self.due_queue.put(index, RunInstant::START);
            }
        }
    }

    fn side(&self) -> Side {
        Side::Churning
    }

    fn write_rounds(&self) -> u32 {
        1
    }
}

impl EventHandler for Churning {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        amqp091::on_event(self, event, socket, context)
    }
}

impl Amqp091Role for Churning {
    fn on_reply(
        &mut self,
        channel: u16,
        reply: Reply,
        _connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        let Some(index) = self.slot_of(channel) else { return Ok(()) };
        match reply {
            Reply::QosSet => {}
            Reply::QueueDeclared { queue, .. } if !self.subject.is_ready() => {
                self.subject.own_queue_is(queue);
                for index in 0..self.slots.len() {
                    if self.slots[index].channel != 0 {
                        self.ready(index);
                    }
                }
            }
            _ => self.answered(index, context),
        }
        Ok(())
    }

    fn on_channel_opened(
        &mut self,
        channel: u16,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        let Some(index) = self.slot_of(channel) else { return };
        if self.subject.is_channels() {
            self.answered(index, context);
        } else {
            self.set_up_slot(index, channel, connection);
        }
    }

    fn on_channel_closed(
        &mut self,
        channel: u16,
        refusal: Option<Refusal>,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        let Some(index) = self.slot_of(channel) else { return Ok(()) };
        self.by_channel[usize::from(channel)] = None;
        self.slots[index].channel = 0;
        let Some(refusal) = refusal else {
            self.answered(index, context);
            return Ok(());
        };
        self.failed(index, &refusal.text, context);
        if !self.subject.is_channels() {
            let channel = connection.open_channel()?;
            self.assign(index, channel);
            self.slots[index].state = State::Unready;
        }
        Ok(())
    }

    fn on_consumer_cancelled(
        &mut self,
        channel: u16,
        _consumer_tag: &[u8],
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        if let Some(index) = self.slot_of(channel)
            && self.slots[index].state != State::Idle
        {
            self.failed(index, "the queue of a consumer was deleted or moved", context);
        }
        Ok(())
    }

    /// Acknowledges each message.
    fn on_delivery(
        &mut self,
        delivery: &Delivery<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        context.measured.counts.consume_at_once();
        context.measured.counts.redelivered += u64::from(delivery.redelivered);
        let ack = Request::Ack { delivery_tag: delivery.delivery_tag, multiple: false };
        socket.connection.request(delivery.channel, &ack);
    }
}
