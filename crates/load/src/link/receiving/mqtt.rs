//! Readers of MQTT. The broker ends their queues with the connection, and sends messages of quality 1 until it misses as
//! many acknowledgements as it allows.

use std::sync::Arc;

use rabbitscope_measurements::Failure;
use rabbitscope_mqtt::{Connection, Event, Message, QualityOfService, Reason};
use rabbitscope_runs::scenario::{ConsumerGroup, STAMP_HEADER, Settle};
use rabbitscope_timing::Stamp;

use super::{
    receives::{Progress, Receives},
    role::{Arrival, Receiving},
};
use crate::{
    link::{role::EventHandler, serve_context::ServeContext, socket::Socket},
    message::quality,
    packing::Items,
};

/// A subscription to the topics of a group.
#[derive(Debug)]
pub(in crate::link) struct MqttProgress {
    filters: Arc<[String]>,
    quality: QualityOfService,
    /// True if the set-up of the connection has subscribed.
    is_subscribed: bool,
}

impl Progress<Connection> for MqttProgress {
    fn new(group: &ConsumerGroup) -> Self {
        Self {
            filters: group.topics.clone().into(),
            quality: quality(group.qos),
            is_subscribed: group.is_subscribed_from_the_start(),
        }
    }

    /// Each acknowledgement is credit for one message.
    fn on_settled(
        &mut self,
        _subscription: usize,
        _last: u64,
        _count: u32,
        _connection: &mut Connection,
    ) {
    }

    fn on_disconnect(&mut self) {}
}

impl Receives for Connection {
    type Progress = MqttProgress;

    fn subscribe(
        &mut self,
        _subscription: usize,
        _lane: u16,
        _topics: &str,
        progress: &mut MqttProgress,
    ) {
        if !progress.is_subscribed {
            Connection::subscribe(self, &progress.filters, progress.quality);
        }
    }

    fn unsubscribe(&mut self, _subscription: usize, _lane: u16) {
        Connection::unsubscribe(self);
    }

    /// Acknowledges messages that need it. One for another reader stays without an acknowledgement.
    #[inline]
    fn settle(&mut self, _lane: u16, first: u64, _last: u64, how: Settle) {
        if let (Ok(packet @ 1..), Settle::Ack) = (u16::try_from(first), how) {
            self.acknowledge(packet);
        }
    }
}

impl EventHandler for Receiving<Connection> {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        match event {
            Event::Delivery(message) => {
                let arrival = arrival(&message, self.reads_headers);
                self.on_arrival(arrival, &mut socket.connection, context);
            }
            Event::Answer { reason, .. } if reason != Reason::SUCCESS => {
                return Err(Failure::consumer_cancelled(format!(
                    "the broker refused a subscription: {reason}"
                )));
            }
            _ => {}
        }
        Ok(())
    }
}

#[inline]
fn arrival(message: &Message<'_>, reads_headers: bool) -> Arrival {
    let property = if reads_headers { message.user_property(STAMP_HEADER) } else { None };
    Arrival {
        // A client has one reader with one subscription.
        subscription: 0,
        number: message.packet.unwrap_or(0).into(),
        redelivered: message.is_duplicate,
        stamp: property.map_or_else(|| Stamp::decode(&message.body), Stamp::from_property),
        items: Items::one(&message.body),
    }
}
