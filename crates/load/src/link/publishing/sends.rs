//! A connection that publishes, whatever the protocol.

use rabbitscope_measurements::Failure;

use crate::{
    link::{serve_context::ServeContext, socket::Socket},
    message::Encoder,
};

/// A connection of publishers.
pub(in crate::link) trait Sends: Encoder<Error: Into<Failure>> + Sized {
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

    /// Commits the transaction of a lane.
    fn commit(&mut self, _lane: u16) {}
}
