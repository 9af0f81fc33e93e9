//! A connection of publishers, of any protocol.

use rabbitscope_measurements::Failure;

use crate::{
    link::{serve_context::ServeContext, socket::Socket},
    message::Encoder,
};

/// A connection of publishers.
pub(in crate::link) trait Sends: Encoder<Error: Into<Failure>> + Sized {
    /// Number of messages of this size on the wire that the broker takes on a lane before it must say that it takes
    /// more. [`Publishing::on_room`](super::role::Publishing::on_room) follows then.
    fn room(&self, _lane: u16, _size: usize) -> u64 {
        u64::MAX
    }

    /// Notes `count` messages without confirms that were appended to the output. Returns the bytes of a barrier that
    /// follows them; 0 if none follows.
    fn sent_unconfirmed(
        _socket: &mut Socket<Self>,
        _lane: u16,
        _count: u64,
        _context: &ServeContext<'_>,
    ) -> usize {
        0
    }

    /// Continues the numbers of a lane on a new connection: those of messages that are sent again, and `next` for all that
    /// follow.
    fn resume(&mut self, _lane: u16, _again: Vec<u64>, _next: u64) {}

    /// Commits the transaction of a lane.
    fn commit(&mut self, _lane: u16) {}
}
