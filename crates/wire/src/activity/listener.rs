//! The receiver of events.

use super::event::{Ends, Event};
use crate::{packet::Timestamp, report::Side};

/// Receives the activity of all connections, in the order in which it could be read.
pub trait ActivityListener {
    /// False if the analysis need not read the activity.
    const IS_LISTENING: bool = true;

    /// Reports a connection that is seen for the first time. Numbers of connections are unique.
    fn opened(&mut self, connection: u64, ends: &Ends);

    /// Reports an event.
    fn event(&mut self, connection: u64, event: &Event<'_>);

    /// Reports that frames of one side were missed before those that follow, or are read later than they arrived.
    fn missed(&mut self, connection: u64, sender: Side);

    /// Reports the end of a connection, or of the capture. `is_closed` means that the connection itself ended.
    fn ended(&mut self, connection: u64, time: Timestamp, is_closed: bool);
}

/// The listener of an analysis that needs no activity.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoListener;

impl ActivityListener for NoListener {
    const IS_LISTENING: bool = false;

    fn opened(&mut self, _: u64, _: &Ends) {}

    fn event(&mut self, _: u64, _: &Event<'_>) {}

    fn missed(&mut self, _: u64, _: Side) {}

    fn ended(&mut self, _: u64, _: Timestamp, _: bool) {}
}
