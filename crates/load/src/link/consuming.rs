//! Consumers on one connection.

use rabbitscope_amqp::{Connection, Delivery, Request, Table};

use super::Moment;
use crate::stamp::Stamp;

pub(super) struct Consuming {
    pub(super) queue: String,
    pub(super) arguments: Table,
    pub(super) auto_ack: bool,
    /// Messages for each acknowledgement.
    pub(super) multi_ack_every: u32,
    /// Messages for each consumer.
    pub(super) limit: Option<u64>,
    /// A consumer's tag is its number here.
    pub(super) consumers: Vec<Consumer>,
    /// By channel number.
    pub(super) unacknowledged: Vec<Unacknowledged>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Consumer {
    pub(super) channel: u16,
    pub(super) received: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unacknowledged {
    count: u32,
    last_tag: u64,
}

impl Consuming {
    pub(super) fn queue(&self) -> &str {
        &self.queue
    }

    pub(super) fn start(&mut self, connection: &mut Connection) {
        let limit = self.limit.unwrap_or(u64::MAX);
        let unfinished = |(_, consumer): &(usize, &Consumer)| consumer.received < limit;
        for (number, consumer) in self.consumers.iter().enumerate().filter(unfinished) {
            let consume = Request::Consume {
                queue: &self.queue,
                consumer_tag: &number.to_string(),
                no_local: false,
                auto_ack: self.auto_ack,
                exclusive: false,
                arguments: &self.arguments,
            };
            connection.request(consumer.channel, &consume);
        }
    }

    #[inline]
    pub(super) fn on_delivery(
        &mut self,
        delivery: &Delivery<'_>,
        connection: &mut Connection,
        moment: &mut Moment<'_>,
    ) {
        let consumer = number(&delivery.consumer_tag).and_then(|at| self.consumers.get_mut(at));
        let Some(consumer) = consumer else { return };
        if self.limit.is_some_and(|limit| consumer.received >= limit) {
            // Sent before the broker read our cancellation, which does not take back what is on
            // its way: it is for the other consumers.
            if !self.auto_ack {
                let delivery_tag = delivery.delivery_tag;
                let back = Request::Reject { delivery_tag, requeue: true };
                connection.request(delivery.channel, &back);
            }
            return;
        }
        consumer.received += 1;
        let is_last = self.limit == Some(consumer.received);
        moment.tally.counts.consumed += 1;
        moment.tally.counts.redelivered += u64::from(delivery.redelivered);
        measure(&delivery.body, moment);
        if !self.auto_ack {
            let channel = &mut self.unacknowledged[usize::from(delivery.channel)];
            channel.count += 1;
            channel.last_tag = delivery.delivery_tag;
            if channel.count >= self.multi_ack_every || is_last {
                channel.acknowledge(delivery.channel, connection);
            }
        }
        if is_last {
            let consumer_tag = String::from_utf8_lossy(&delivery.consumer_tag);
            let cancel = Request::Cancel { consumer_tag: &consumer_tag };
            connection.request(delivery.channel, &cancel);
            moment.consumers_done += 1;
        }
    }

    /// The connection is gone: the broker delivers again what was not acknowledged on it.
    pub(super) fn lose(&mut self) {
        self.unacknowledged.fill(Unacknowledged::default());
    }

    pub(super) fn is_done(&self) -> bool {
        self.limit.is_some_and(|limit| self.consumers.iter().all(|one| one.received >= limit))
    }

    /// Acknowledges what has been received.
    pub(super) fn finish(&mut self, connection: &mut Connection) {
        for (channel, unacknowledged) in (0_u16..).zip(&mut self.unacknowledged) {
            if unacknowledged.count > 0 {
                unacknowledged.acknowledge(channel, connection);
            }
        }
    }
}

impl Unacknowledged {
    #[inline]
    fn acknowledge(&mut self, channel: u16, connection: &mut Connection) {
        let multiple = self.count > 1;
        connection.request(channel, &Request::Ack { delivery_tag: self.last_tag, multiple });
        self.count = 0;
    }
}

#[inline]
fn measure(body: &[u8], moment: &mut Moment<'_>) {
    match Stamp::decode(body) {
        Some(stamp) if stamp.mark == moment.mark && stamp.nanos <= moment.now => {
            moment.delivered(stamp.nanos);
        }
        _ => moment.tally.unstamped += 1,
    }
}

#[inline]
fn number(tag: &[u8]) -> Option<usize> {
    let mut digits = tag.iter().map(|byte| char::from(*byte).to_digit(10));
    digits.try_fold(0_usize, |number, digit| number.checked_mul(10)?.checked_add(digit? as usize))
}
