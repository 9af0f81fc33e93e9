//! The part of reading that differs from protocol to protocol.

use rabbitscope_measurements::Failure;
use rabbitscope_protocol::Wire;
use rabbitscope_runs::scenario::{ConsumerGroup, Settle};

/// A connection of readers.
pub(in crate::link) trait Receives: Wire<Error: Into<Failure>> + Sized {
    /// The progress of a subscription: its credit, and its place in a stream.
    type Progress: Progress<Self>;

    /// Begins to read a queue. `subscription` numbers it on the connection, `lane` its reader.
    fn subscribe(
        &mut self,
        subscription: usize,
        lane: u16,
        queue: &str,
        progress: &mut Self::Progress,
    );

    /// Ends a subscription whose reader has its last message.
    fn unsubscribe(&mut self, subscription: usize, lane: u16);

    /// Tells the broker what became of processed messages of a lane, from the first number to the last one.
    fn settle(&mut self, _lane: u16, _first: u64, _last: u64, _how: Settle) {}
}

/// The progress of a subscription.
pub(in crate::link) trait Progress<W> {
    /// Creates the progress of a subscription that begins to read.
    fn new(group: &ConsumerGroup) -> Self;

    /// Notes a message. Returns false if it lies before the place from which the subscription reads.
    fn on_arrival(&mut self, _message: u64) -> bool {
        true
    }

    /// Notes that `count` messages were settled, up to `last`, and gives the broker credit for more.
    fn on_settled(&mut self, subscription: usize, last: u64, count: u32, connection: &mut W);

    /// Notes that the subscription gets no more messages, before it or its connection ends.
    fn before_end(&mut self, _connection: &mut W) {}

    /// Notes the loss of the connection. The subscription resumes on the next one.
    fn on_disconnect(&mut self);
}
