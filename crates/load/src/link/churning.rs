//! Things that come and go on one connection: channels, queues, bindings, consumers.
//!
//! Each slot opens one, holds it, closes it, and starts again. It has a channel of its own, so that
//! a refusal, which costs the channel, is no matter to the others.

use rabbitscope_amqp::{Connection, ConnectionError, Delivery, Event, Refusal, Reply, Request};

use super::Moment;
use crate::{
    churn::{Cycle, RETRY_NANOS},
    clock::nanos,
    plan::{ChurnMembers, Seat},
    schedule::Schedule,
};

mod requests;

use requests::{Subject, declare_own_queue};

pub(super) struct Churning {
    group: usize,
    subject: Subject,
    hold_nanos: u64,
    slots: Vec<Slot>,
    /// By channel number: number of the slot.
    by_channel: Vec<Option<usize>>,
    /// When each slot does its next step, unless it waits for the broker.
    schedule: Schedule,
    is_stopped: bool,
}

struct Slot {
    /// 0: it has none yet.
    channel: u16,
    state: State,
    /// When the broker was asked.
    since: u64,
    cycle: Cycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waits for its channel, or for the queue that all slots share.
    Unready,
    Idle,
    Opening,
    Open,
    Closing,
}

impl Churning {
    pub(super) fn new(members: &ChurnMembers<'_>, seats: &[Seat]) -> Self {
        let group = members.group;
        let slots: Vec<_> = seats
            .iter()
            .map(|seat| Slot {
                channel: 0,
                state: State::Unready,
                since: 0,
                cycle: Cycle::new(group, seat.member),
            })
            .collect();
        Self {
            group: members.number,
            subject: Subject::new(members, seats),
            hold_nanos: nanos(group.hold),
            by_channel: Vec::new(),
            schedule: Schedule::new(slots.len()),
            slots,
            is_stopped: false,
        }
    }

    /// The connection is new; slot `n` may use channel `n + 1`.
    pub(super) fn start(&mut self, connection: &mut Connection) {
        self.by_channel.clear();
        for index in 0..self.slots.len() {
            if self.subject.is_channels() {
                self.ready(index);
            } else {
                self.seat(index, u16::try_from(index + 1).unwrap_or(u16::MAX), connection);
            }
        }
    }

    /// The slot has a channel now.
    fn seat(&mut self, index: usize, channel: u16, connection: &mut Connection) {
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

    /// The slot may open its next one as soon as its schedule says so.
    fn ready(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.state = State::Idle;
        if let Some(due) = slot.cycle.due() {
            self.schedule.put(index, due);
        }
    }

    /// Asks for whatever is due.
    pub(super) fn encode(
        &mut self,
        connection: &mut Connection,
        moment: &mut Moment<'_>,
    ) -> Result<(), ConnectionError> {
        moment.now = moment.clock.nanos();
        while let Some(index) = self.schedule.take(moment.now) {
            match self.slots[index].state {
                State::Idle if !self.is_stopped && self.slots[index].cycle.due().is_some() => {
                    self.open(index, connection)?;
                }
                State::Open => {
                    let slot = &self.slots[index];
                    self.subject.close(index, slot.channel, connection);
                    self.slots[index].state = State::Closing;
                }
                _ => continue,
            }
            self.slots[index].since = moment.now;
        }
        Ok(())
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

    /// Events that churn has to do with.
    pub(super) fn is_concerned(event: &Event<'_>) -> bool {
        matches!(
            event,
            Event::Delivery(_)
                | Event::Reply { .. }
                | Event::ChannelOpened { .. }
                | Event::ChannelClosed { .. }
                | Event::ConsumerCancelled { .. }
        )
    }

    pub(super) fn on_event(
        &mut self,
        event: Event<'_>,
        connection: &mut Connection,
        moment: &mut Moment<'_>,
    ) -> Result<(), ConnectionError> {
        match event {
            Event::Delivery(delivery) => acknowledge(&delivery, connection, moment),
            Event::Reply { channel, reply } => self.on_reply(channel, reply, moment),
            Event::ChannelOpened { channel } => self.on_channel_opened(channel, connection, moment),
            Event::ChannelClosed { channel, refusal } => {
                self.on_channel_closed(channel, refusal, connection, moment)?;
            }
            Event::ConsumerCancelled { channel, .. } => self.on_consumer_cancelled(channel, moment),
            _ => {}
        }
        Ok(())
    }

    fn on_reply(&mut self, channel: u16, reply: Reply, moment: &mut Moment<'_>) {
        let Some(index) = self.slot_of(channel) else { return };
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
            _ => self.answered(index, moment),
        }
    }

    fn answered(&mut self, index: usize, moment: &mut Moment<'_>) {
        let slot = &mut self.slots[index];
        let nanos = moment.now.saturating_sub(slot.since);
        match slot.state {
            State::Opening => {
                slot.state = State::Open;
                moment.tally.counts.churn_opened += 1;
                moment.tally.churn.opened(self.group, nanos);
                let hold = if self.is_stopped { 0 } else { self.hold_nanos };
                self.schedule.put(index, moment.now + hold);
            }
            State::Closing => {
                moment.tally.counts.churn_closed += 1;
                moment.tally.churn.closed(self.group, nanos);
                self.next_cycle(index, 0, moment);
            }
            State::Unready | State::Idle | State::Open => return,
        }
        moment.measured(nanos);
    }

    /// One time round is over, not before `not_before`.
    fn next_cycle(&mut self, index: usize, not_before: u64, moment: &mut Moment<'_>) {
        let slot = &mut self.slots[index];
        if slot.cycle.end(not_before) {
            moment.churners_done += 1;
        }
        self.ready(index);
    }

    fn on_channel_opened(
        &mut self,
        channel: u16,
        connection: &mut Connection,
        moment: &mut Moment<'_>,
    ) {
        let Some(index) = self.slot_of(channel) else { return };
        if self.subject.is_channels() {
            self.answered(index, moment);
        } else {
            self.seat(index, channel, connection);
        }
    }

    /// A slot that is refused tries again after a while, on a new channel if it needs one.
    fn on_channel_closed(
        &mut self,
        channel: u16,
        refusal: Option<Refusal>,
        connection: &mut Connection,
        moment: &mut Moment<'_>,
    ) -> Result<(), ConnectionError> {
        let Some(index) = self.slot_of(channel) else { return Ok(()) };
        self.by_channel[usize::from(channel)] = None;
        self.slots[index].channel = 0;
        let Some(refusal) = refusal else {
            self.answered(index, moment);
            return Ok(());
        };
        self.failed(index, &refusal.text, moment);
        if !self.subject.is_channels() {
            let channel = connection.open_channel()?;
            self.assign(index, channel);
            self.slots[index].state = State::Unready;
        }
        Ok(())
    }

    /// The broker ended a consumer.
    fn on_consumer_cancelled(&mut self, channel: u16, moment: &mut Moment<'_>) {
        if let Some(index) = self.slot_of(channel)
            && self.slots[index].state != State::Idle
        {
            self.failed(index, "the queue of a consumer was deleted or moved", moment);
        }
    }

    fn failed(&mut self, index: usize, reason: &str, moment: &mut Moment<'_>) {
        moment.tally.churn_failed(reason);
        self.next_cycle(index, moment.now + RETRY_NANOS, moment);
    }

    fn slot_of(&self, channel: u16) -> Option<usize> {
        self.by_channel.get(usize::from(channel)).copied().flatten()
    }

    /// The connection is gone, and with it whatever was open or about to be.
    pub(super) fn lose(&mut self, moment: &mut Moment<'_>) {
        self.subject.lose();
        for index in 0..self.slots.len() {
            if !matches!(self.slots[index].state, State::Idle | State::Unready) {
                self.failed(index, "the connection was lost", moment);
            }
            let slot = &mut self.slots[index];
            (slot.channel, slot.state) = (0, State::Unready);
        }
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        self.schedule.first()
    }

    /// Things that are there, or may be.
    pub(super) fn present(&self) -> u64 {
        let present = |slot: &&Slot| !matches!(slot.state, State::Idle | State::Unready);
        self.slots.iter().filter(present).count() as u64
    }

    /// Nothing more is opened, and what is open is closed at once.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.state == State::Open {
                self.schedule.put(index, 0);
            }
        }
    }
}

/// Whatever a consumer gets is acknowledged.
fn acknowledge(delivery: &Delivery<'_>, connection: &mut Connection, moment: &mut Moment<'_>) {
    moment.tally.counts.consumed += 1;
    moment.tally.counts.redelivered += u64::from(delivery.redelivered);
    let ack = Request::Ack { delivery_tag: delivery.delivery_tag, multiple: false };
    connection.request(delivery.channel, &ack);
}
