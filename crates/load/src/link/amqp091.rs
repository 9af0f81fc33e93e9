//! Roles on connections of AMQP 0-9-1, and their events.

use rabbitscope_amqp::{Connection, Delivery, Event, Refusal, Reply};
use rabbitscope_measurements::Failure;
use rabbitscope_timing::RunInstant;

use super::{role::Role, serve_context::ServeContext, socket::Socket};

/// A role on connections of AMQP 0-9-1: its reaction to each event. All methods have a default that does nothing.
pub(super) trait Amqp091Role: Role<Wire = Connection> {
    /// `basic.deliver`
    fn on_delivery(
        &mut self,
        _delivery: &Delivery<'_>,
        _socket: &mut Socket<Connection>,
        _context: &mut ServeContext<'_>,
    ) {
    }

    /// `basic.get-ok`
    fn on_got(
        &mut self,
        _delivery: &Delivery<'_>,
        _socket: &mut Socket<Connection>,
        _context: &mut ServeContext<'_>,
    ) {
    }

    /// `basic.get-empty`
    fn on_empty(
        &mut self,
        _channel: u16,
        _connection: &mut Connection,
        _context: &mut ServeContext<'_>,
    ) {
    }

    /// `basic.ack` or `basic.nack` of the broker
    fn on_confirm(
        &mut self,
        _channel: u16,
        _tag: u64,
        _multiple: bool,
        _accepted: bool,
        _context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// The answer to a request
    fn on_reply(
        &mut self,
        _channel: u16,
        _reply: Reply,
        _connection: &mut Connection,
        _context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// Notes a barrier behind the messages of a channel.
    fn on_barrier(&mut self, _channel: u16) {}

    /// Notes the answer to the oldest barrier of a channel: the broker has accepted the messages before it.
    fn on_accepted(&mut self, _channel: u16, _context: &mut ServeContext<'_>) {}

    /// `channel.open-ok`
    fn on_channel_opened(
        &mut self,
        _channel: u16,
        _connection: &mut Connection,
        _context: &mut ServeContext<'_>,
    ) {
    }

    /// Handles a closed channel. If there is a refusal, the broker closed it.
    fn on_channel_closed(
        &mut self,
        _channel: u16,
        refusal: Option<Refusal>,
        _connection: &mut Connection,
        _context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        refusal.map_or(Ok(()), |refusal| Err(Failure::channel_closed(refusal)))
    }

    /// `basic.cancel` of the broker
    fn on_consumer_cancelled(
        &mut self,
        _channel: u16,
        consumer_tag: &[u8],
        _context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        Err(Failure::consumer_cancelled(format!(
            "the broker ended a consumer of {}: the queue was deleted or moved",
            self.consumed_queue(consumer_tag)
        )))
    }

    /// Names the queue of the consumer with this tag, for an error.
    fn consumed_queue(&self, _consumer_tag: &[u8]) -> String {
        "replies".to_owned()
    }
}

/// Handles an event.
#[inline]
pub(super) fn on_event<R: Amqp091Role>(
    role: &mut R,
    event: Event<'_>,
    socket: &mut Socket<Connection>,
    context: &mut ServeContext<'_>,
) -> Result<(), Failure> {
    let connection = &mut socket.connection;
    match event {
        Event::Delivery(delivery) => role.on_delivery(&delivery, socket, context),
        Event::Confirm { channel, tag, multiple, accepted } => {
            role.on_confirm(channel, tag, multiple, accepted, context)?;
        }
        Event::Reply { channel, reply: Reply::FlowSet { .. } } => {
            on_barrier_answered(role, channel, socket, context);
        }
        Event::Reply { channel, reply } => role.on_reply(channel, reply, connection, context)?,
        Event::Got { delivery, .. } => role.on_got(&delivery, socket, context),
        Event::GetEmpty { channel } => role.on_empty(channel, connection, context),
        Event::Returned(returned) => {
            context.measured.counts.returned += 1;
            context.record_return(&returned);
        }
        Event::Blocked { reason } => socket.block(&reason, context),
        Event::Unblocked => socket.unblock(context),
        Event::ChannelOpened { channel } => role.on_channel_opened(channel, connection, context),
        Event::ChannelClosed { channel, refusal } => {
            role.on_channel_closed(channel, refusal, connection, context)?;
        }
        Event::ConsumerCancelled { channel, consumer_tag } => {
            role.on_consumer_cancelled(channel, consumer_tag.as_bytes(), context)?;
        }
        _ => {}
    }
    Ok(())
}

fn on_barrier_answered<R: Amqp091Role>(
    role: &mut R,
    channel: u16,
    socket: &mut Socket<Connection>,
    context: &mut ServeContext<'_>,
) {
    if socket.accepted(channel, context) {
        role.on_accepted(channel, context);
    }
}

/// Puts a barrier behind all messages that have none. Returns true if there were some.
pub(super) fn ask<R: Amqp091Role>(
    role: &mut R,
    socket: &mut Socket<Connection>,
    now: RunInstant,
) -> bool {
    let asked = socket.ask(now);
    for channel in &asked {
        role.on_barrier(*channel);
    }
    !asked.is_empty()
}
