//! The role of a connection: its members' reaction to input, and their output.
//!
//! All methods have a default that does nothing, so that a role implements only the relevant ones.
//! [`super::any_role::AnyRole`] picks the role with one match for each call. From there on everything is statically
//! dispatched.

use rabbitscope_amqp::{Connection, Delivery, Refusal, Reply};
use rabbitscope_measurements::{Failure, Side};
use rabbitscope_timing::RunInstant;

use super::{serve_context::ServeContext, socket::Socket};

/// Publishing, consuming, calling, answering or churning on one connection.
pub(super) trait Role {
    /// The side of the load that the connection serves.
    fn side(&self) -> Side;

    /// Starts on a new connection: the first messages may be sent and received.
    fn start(&mut self, _now: RunInstant, _connection: &mut Connection) {}

    /// Handles the loss of the connection. Outstanding messages are counted and dropped. The role continues on the next
    /// connection.
    fn on_disconnect(&mut self, _context: &mut ServeContext<'_>) {}

    /// Ends a second: counts lasting states up to now.
    fn tick(&mut self, _context: &mut ServeContext<'_>) {}

    /// Checks the timeouts of the scenario, once a second. Fails if one of them ends the run.
    fn check_timeouts(&mut self, _context: &mut ServeContext<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns whether so many bytes wait for the socket that reading must pause.
    fn is_congested(_socket: &mut Socket) -> bool {
        false
    }

    /// `basic.deliver`
    fn on_delivery(
        &mut self,
        _delivery: &Delivery<'_>,
        _socket: &mut Socket,
        _context: &mut ServeContext<'_>,
    ) {
    }

    /// `basic.get-ok`
    fn on_got(
        &mut self,
        _delivery: &Delivery<'_>,
        _connection: &mut Connection,
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

    /// Runs the due tasks: the end of a message's processing, the start of a consumer, a poll.
    fn run_due_tasks(&mut self, _connection: &mut Connection, _context: &mut ServeContext<'_>) {}

    /// Number of calls of [`Role::encode`] in a row before other connections get their turn. 0: the role sends nothing
    /// by itself.
    fn write_rounds(&self) -> u32 {
        0
    }

    /// Encodes messages that may be sent, up to one write. Returns false if there were none.
    fn encode(
        &mut self,
        _socket: &mut Socket,
        _context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Returns whether messages could be sent at once.
    fn has_due(&self, _context: &ServeContext<'_>) -> bool {
        false
    }

    /// Returns the time at which the next message or task is due. `can_publish`: the socket has room, and no alarm
    /// holds.
    fn next_due(&self, _can_publish: bool) -> Option<RunInstant> {
        None
    }

    /// Number of publishers on the connection.
    fn publishers(&self) -> usize {
        0
    }

    /// Returns whether the broker owes an answer.
    fn is_owed(&self) -> bool {
        false
    }

    /// Messages sent but not confirmed.
    fn unconfirmed(&self) -> u64 {
        0
    }

    /// Number of answers for which the end of the load waits: confirms, replies, closings of churn.
    fn awaited(&self) -> u64 {
        0
    }

    /// Returns whether messages may still arrive.
    fn is_consuming(&self) -> bool {
        false
    }

    /// Ends all reading: messages and requests without an answer are recorded with their age.
    fn give_up(&mut self, _context: &mut ServeContext<'_>) {}

    /// Ends sending.
    fn stop(&mut self, _connection: &mut Connection, _context: &mut ServeContext<'_>) {}

    /// Acknowledges the remaining messages before the connection is closed.
    fn finish(&mut self, _connection: &mut Connection, _context: &mut ServeContext<'_>) {}
}
