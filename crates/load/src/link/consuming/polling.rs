//! Consumers that ask for each message (`basic.get`).

use std::cmp::Reverse;

use rabbitscope_amqp::{Connection, Delivery, Request};

use super::{super::Moment, Consuming, Held, Subscription, Task};
use crate::{clock::nanos, plan::Reading};

/// How the consumers of a group ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polling {
    /// From an answer to the next question, in nanoseconds.
    interval: u64,
    /// Queues that the broker named and nobody else knows go away with their pollers.
    pub(super) removes_queues: bool,
}

impl Polling {
    pub(super) fn of(reading: &Reading<'_>) -> Option<Self> {
        let interval = nanos(reading.group.polling?);
        Some(Self { interval, removes_queues: reading.has_own_queues() })
    }
}

impl Consuming {
    /// Asks for a message.
    pub(super) fn poll(&mut self, number: usize, connection: &mut Connection) {
        let consumer = &mut self.consumers[number];
        let at = consumer.next_poll;
        let is_last = at + 1 >= consumer.subscriptions.end;
        consumer.next_poll = if is_last { consumer.subscriptions.start } else { at + 1 };
        let queue = &self.queues[self.subscriptions[at].queue];
        connection.request(consumer.channel, &Request::Get { queue, auto_ack: self.auto_ack });
    }

    /// A question was answered with a message.
    pub(in crate::link) fn on_got(
        &mut self,
        delivery: &Delivery<'_>,
        connection: &mut Connection,
        moment: &mut Moment<'_>,
    ) {
        let number = self.by_channel[usize::from(delivery.channel)] as usize;
        let consumer = &self.consumers[number];
        // The question after this one is for the next queue in turn.
        let asked = if consumer.next_poll == consumer.subscriptions.start {
            consumer.subscriptions.end - 1
        } else {
            consumer.next_poll - 1
        };
        let Subscription { reader, slot, .. } = self.subscriptions[asked];
        let message = Held {
            arrived: moment.now,
            delivery_tag: delivery.delivery_tag,
            redelivered: delivery.redelivered,
            stamp: self.stamp(delivery),
            reader,
            slot,
        };
        if let Some(holding) = &mut self.holding
            && let Some(due) = holding.hold(number, message)
        {
            // Whoever processes a message asks for no other.
            self.agenda.push(Reverse((due, Task::Settle(number))));
            return;
        }
        self.take(number, message, connection, moment);
        self.poll_again(number, connection, moment);
    }

    /// A question was answered with nothing.
    pub(in crate::link) fn on_empty(
        &mut self,
        channel: u16,
        connection: &mut Connection,
        moment: &mut Moment<'_>,
    ) {
        moment.tally.counts.empty_polls += 1;
        let number = self.by_channel[usize::from(channel)] as usize;
        self.poll_again(number, connection, moment);
    }

    pub(super) fn poll_again(
        &mut self,
        number: usize,
        connection: &mut Connection,
        moment: &mut Moment<'_>,
    ) {
        let Some(polling) = self.polling else { return };
        if self.limit.is_some_and(|limit| self.consumers[number].received >= limit) {
            return;
        }
        if polling.interval == 0 {
            self.poll(number, connection);
        } else {
            self.agenda.push(Reverse((moment.now + polling.interval, Task::Poll(number))));
        }
    }
}
