//! The parts of a message that are read on arrival: its stamp, and the items that it carries.

use rabbitscope_amqp::Delivery;
use rabbitscope_timing::Stamp;

use super::{consumer::Subscription, held_messages::HeldMessage, role::Consuming};
use crate::{link::serve_context::ServeContext, packing::Items};

impl Consuming {
    /// Creates the record of a message that has just arrived, which is kept until it is settled.
    #[inline]
    pub(super) fn received(
        &mut self,
        delivery: &Delivery<'_>,
        subscription: usize,
        context: &mut ServeContext<'_>,
    ) -> HeldMessage {
        context.measured.counts.delivered += 1;
        let Subscription { reader, slot, .. } = self.subscriptions[subscription];
        HeldMessage {
            arrived: context.now,
            begun: context.now,
            delivery_tag: delivery.delivery_tag,
            subscription: u32::try_from(subscription).unwrap_or(u32::MAX),
            redelivered: delivery.redelivered,
            stamp: self.stamp(delivery),
            reader,
            slot,
            items: self.items(delivery, context),
            body_bytes: u32::try_from(delivery.body.len()).unwrap_or(u32::MAX),
        }
    }

    #[inline]
    fn stamp(&self, delivery: &Delivery<'_>) -> Option<Stamp> {
        if self.reads_headers
            && let Some(stamp) = Stamp::find(&delivery.properties)
        {
            return Some(stamp);
        }
        Stamp::decode(&delivery.body)
    }

    #[inline]
    fn items(&mut self, delivery: &Delivery<'_>, context: &mut ServeContext<'_>) -> Items {
        let Some(unpacker) = &mut self.unpacker else { return Items::one(&delivery.body) };
        unpacker.unpack(&delivery.properties, &delivery.body).unwrap_or_else(|_| {
            context.measured.counts.unpacking_failures += 1;
            Items::default()
        })
    }
}
