//! Consumers that poll for each message (`basic.get`).

use rabbitscope_amqp::{Connection, Delivery, Request};
use rabbitscope_timing::Nanos;

use super::{role::Consuming, tasks::Task};
use crate::link::{serve_context::ServeContext, socket::Socket};

impl Consuming {
    /// Polls the next queue of a consumer.
    pub(super) fn poll(&mut self, number: usize, connection: &mut Connection) {
        let consumer = &mut self.consumers[number];
        let at = consumer.next_poll;
        let is_last = at + 1 >= consumer.subscriptions.end;
        consumer.next_poll = if is_last { consumer.subscriptions.start } else { at + 1 };
        let queue = &self.queues[self.subscriptions[at].queue];
        connection.request(consumer.channel, &Request::Get { queue, auto_ack: self.auto_ack });
    }

    /// Handles a message that a poll returned.
    pub(super) fn take_polled(
        &mut self,
        delivery: &Delivery<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        let number = self.by_channel[usize::from(delivery.channel)] as usize;
        let consumer = &self.consumers[number];
        // The next poll is for the next queue in rotation.
        let asked = if consumer.next_poll == consumer.subscriptions.start {
            consumer.subscriptions.end - 1
        } else {
            consumer.next_poll - 1
        };
        let message = self.received(delivery, asked, context);
        if self.hold(number, message) {
            // A consumer that processes a message does not poll.
            return;
        }
        self.take(number, message, socket, context);
        self.poll_again(number, &mut socket.connection, context);
    }

    /// Handles a poll that found the queue empty.
    pub(super) fn note_empty_poll(
        &mut self,
        channel: u16,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        context.measured.counts.empty_polls += 1;
        let number = self.by_channel[usize::from(channel)] as usize;
        self.poll_again(number, connection, context);
    }

    pub(super) fn poll_again(
        &mut self,
        number: usize,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        let Some(polling) = self.polling else { return };
        if self.limit.is_some_and(|limit| self.consumers[number].received >= limit) {
            return;
        }
        if polling.interval == Nanos::ZERO {
            self.poll(number, connection);
        } else {
            self.tasks.push(context.now + polling.interval, Task::Poll(number));
        }
    }
}
