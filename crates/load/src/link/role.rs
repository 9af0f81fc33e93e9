//! The role of a connection: its members' reaction to input, and their output.
//!
//! Most methods have a default that does nothing, so that a role implements only the relevant ones.
//! [`super::any_role::AnyRole`] picks the role with one match for each call. From there on everything is statically
//! dispatched.

use rabbitscope_measurements::{Failure, Side};
use rabbitscope_protocol::Wire;
use rabbitscope_timing::RunInstant;

use super::{serve_context::ServeContext, socket::Socket};

/// Publishing, consuming, calling, answering or churning on one connection.
pub(super) trait Role {
    /// The connection, which knows the protocol.
    type Wire: Wire<Error: Into<Failure>>;

    /// The side of the load that the connection serves.
    fn side(&self) -> Side;

    /// Starts on a new connection: the first messages may be sent and received.
    fn start(&mut self, _now: RunInstant, _connection: &mut Self::Wire) {}

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
    fn is_congested(_socket: &mut Socket<Self::Wire>) -> bool {
        false
    }

    /// Runs the due tasks: the end of a message's processing, the start of a consumer, a poll.
    fn run_due_tasks(&mut self, _socket: &mut Socket<Self::Wire>, _context: &mut ServeContext<'_>) {
    }

    /// Number of calls of [`Role::encode`] in a row before other connections get their turn. 0: the role sends nothing
    /// by itself.
    fn write_rounds(&self) -> u32 {
        0
    }

    /// Encodes messages that may be sent, up to one write. Returns false if there were none.
    fn encode(
        &mut self,
        _socket: &mut Socket<Self::Wire>,
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
    fn stop(&mut self, _connection: &mut Self::Wire, _context: &mut ServeContext<'_>) {}

    /// Acknowledges the remaining messages before the connection is closed.
    fn finish(&mut self, _connection: &mut Self::Wire, _context: &mut ServeContext<'_>) {}
}

/// The reaction of a role to its connection's protocol.
pub(super) trait EventHandler: Role {
    /// Handles an event of the connection.
    fn on_event(
        &mut self,
        event: <Self::Wire as Wire>::Event<'_>,
        socket: &mut Socket<Self::Wire>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure>;

    /// Asks whether the broker has accepted the messages that no request covers yet. Returns true if there were some.
    fn ask(&mut self, _socket: &mut Socket<Self::Wire>, _now: RunInstant) -> bool {
        false
    }
}
