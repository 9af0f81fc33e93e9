//! Publishers of MQTT. The broker confirms messages of quality 1 one by one, and none of quality 0.

use rabbitscope_measurements::Failure;
use rabbitscope_mqtt::{Connection, Event, Reason};

use super::{
    role::{Answer, Publishing, Settled},
    sends::Sends,
};
use crate::link::{role::EventHandler, serve_context::ServeContext, socket::Socket};

/// The only lane: a client has one publisher.
const LANE: u16 = 1;

impl Sends for Connection {
    /// Messages of quality 1 are limited by the packet identifiers, and by the broker.
    #[inline]
    fn room(&self, _lane: u16, _size: usize) -> u64 {
        Connection::room(self)
    }
}

impl EventHandler for Publishing<Connection> {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        _socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        let Event::Confirmed { first, last, reason } = event else { return Ok(()) };
        let answer = match reason {
            Reason::NO_SUBSCRIBERS => Answer::Returned,
            reason if reason.is_refusal() => Answer::Refused,
            _ => Answer::Accepted,
        };
        self.on_settled(LANE, Settled::Range(first, last), answer, context)?;
        self.on_room(LANE, context);
        Ok(())
    }
}
