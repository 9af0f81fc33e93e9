//! Events of the consumers of one connection.

use rabbitscope_amqp::{Connection, Delivery, Request};

use super::{consumer::Subscription, role::Consuming};
use crate::link::{amqp091::Amqp091Role, serve_context::ServeContext, socket::Socket};

impl Consuming {
    /// Returns the queue that the consumer with this tag reads.
    fn queue(&self, tag: &[u8]) -> &str {
        let subscription = number(tag).and_then(|number| self.subscriptions.get(number));
        let queue = subscription.or(self.subscriptions.first()).map_or(0, |one| one.queue);
        let name = self.queues.get(queue).filter(|name| !name.is_empty());
        name.map_or("a queue named by the broker", String::as_str)
    }
}

impl Amqp091Role for Consuming {
    #[inline]
    fn on_delivery(
        &mut self,
        delivery: &Delivery<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        let Some(tag) = number(&delivery.consumer_tag) else { return };
        let Some(&Subscription { consumer: number, .. }) = self.subscriptions.get(tag) else {
            return;
        };
        let held = self.holding.as_ref().map_or(0, |holding| holding.count(number));
        if self.limit.is_some_and(|limit| self.consumers[number].received + held >= limit) {
            // The broker sent this message before it read the cancellation. It is for the other consumers.
            if !self.auto_ack {
                let delivery_tag = delivery.delivery_tag;
                let back = Request::Reject { delivery_tag, requeue: true };
                socket.connection.request(delivery.channel, &back);
            }
            return;
        }
        if let Some(position) = self.positions.get_mut(tag) {
            position.note(&delivery.properties);
        }
        let message = self.received(delivery, tag, context);
        if self.hold(number, message) {
            return;
        }
        self.take(number, message, socket, context);
    }

    /// Takes the message that answers `basic.get`.
    fn on_got(
        &mut self,
        delivery: &Delivery<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        self.take_polled(delivery, socket, context);
    }

    /// Notes an empty queue in answer to `basic.get`.
    fn on_empty(
        &mut self,
        channel: u16,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        self.note_empty_poll(channel, connection, context);
    }

    fn consumed_queue(&self, consumer_tag: &[u8]) -> String {
        format!("queue `{}`", self.queue(consumer_tag))
    }
}

#[inline]
fn number(tag: &[u8]) -> Option<usize> {
    let mut digits = tag.iter().map(|byte| char::from(*byte).to_digit(10));
    digits.try_fold(0_usize, |number, digit| number.checked_mul(10)?.checked_add(digit? as usize))
}
