//! The role of a connection: what its members do with what arrives, and what they send.
//!
//! All methods have a default that does nothing, so that a role names only what concerns it.
//! [`super::any_role::AnyRole`] picks the role with one match for each call; from there on
//! everything is statically dispatched.

use rabbitscope_amqp::{Connection, Delivery, Refusal, Reply};

use super::{serve_context::ServeContext, socket::Socket};
use crate::{
    clock::RunInstant,
    report::{Failure, Side},
};

/// Publishing, consuming, calling, answering or churning on one connection.
pub(super) trait Role {
    /// The side of the load that the connection serves.
    fn side(&self) -> Side;

    /// The connection is new: the first messages may be sent and received.
    fn start(&mut self, _now: RunInstant, _connection: &mut Connection) {}

    /// The connection is lost. What was outstanding on it is counted and dropped; the role
    /// continues on the next one.
    fn on_disconnect(&mut self, _context: &mut ServeContext<'_>) {}

    /// A second is over: states that last are counted up to now.
    fn tick(&mut self, _context: &mut ServeContext<'_>) {}

    /// Checks the timeouts of the scenario, once a second. Fails when one ends the run.
    fn check_timeouts(&mut self, _context: &mut ServeContext<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// So much waits for the socket that nothing more should be read.
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

    /// A barrier was put behind the messages of a channel.
    fn on_barrier(&mut self, _channel: u16) {}

    /// The oldest barrier of a channel is answered: the broker has accepted the messages before it.
    fn on_accepted(&mut self, _channel: u16, _context: &mut ServeContext<'_>) {}

    /// `channel.open-ok`
    fn on_channel_opened(
        &mut self,
        _channel: u16,
        _connection: &mut Connection,
        _context: &mut ServeContext<'_>,
    ) {
    }

    /// A channel is closed; by the broker when there is a refusal.
    fn on_channel_closed(
        &mut self,
        _channel: u16,
        refusal: Option<Refusal>,
        _connection: &mut Connection,
        _context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        refusal.map_or(Ok(()), |refusal| {
            let reason = format!("the broker closed a channel: {refusal}");
            Err(Failure::channel_closed(reason))
        })
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

    /// In words, for an error: the queue of the consumer with this tag.
    fn consumed_queue(&self, _consumer_tag: &[u8]) -> String {
        "replies".to_owned()
    }

    /// Runs the tasks that are due: a message was held long enough, a consumer starts or polls.
    fn run_due_tasks(&mut self, _connection: &mut Connection, _context: &mut ServeContext<'_>) {}

    /// How often in a row [`Role::encode`] may be called before other connections get their turn.
    /// 0: the role sends nothing by itself.
    fn write_rounds(&self) -> u32 {
        0
    }

    /// Encodes what may be sent, up to one write; false when there was nothing.
    fn encode(
        &mut self,
        _socket: &mut Socket,
        _context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Something could be sent at once.
    fn has_due(&self, _context: &ServeContext<'_>) -> bool {
        false
    }

    /// When the next message or task is due. `can_publish`: the socket has room, and no alarm
    /// holds.
    fn next_due(&self, _can_publish: bool) -> Option<RunInstant> {
        None
    }

    /// Publishers on the connection.
    fn publishers(&self) -> usize {
        0
    }

    /// The broker owes an answer.
    fn is_owed(&self) -> bool {
        false
    }

    /// Messages sent and not confirmed.
    fn unconfirmed(&self) -> u64 {
        0
    }

    /// Answers that the end of the load waits for: confirms, replies, closings of churn.
    fn awaited(&self) -> u64 {
        0
    }

    /// Messages may still arrive.
    fn is_consuming(&self) -> bool {
        false
    }

    /// Nothing more is read: what has no answer is recorded with its age.
    fn give_up(&mut self, _context: &mut ServeContext<'_>) {}

    /// Nothing more is sent.
    fn stop(&mut self, _connection: &mut Connection, _context: &mut ServeContext<'_>) {}

    /// The connection is about to be closed: acknowledges the rest.
    fn finish(&mut self, _connection: &mut Connection, _context: &mut ServeContext<'_>) {}
}
