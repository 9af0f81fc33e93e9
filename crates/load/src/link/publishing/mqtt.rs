//! Publishers of MQTT. The broker confirms messages of quality 1 one by one. It answers pings in turn, which says that it
//! has read the messages of quality 0 before them.

use rabbitscope_measurements::Failure;
use rabbitscope_mqtt::{Connection, Event, Reason};
use rabbitscope_timing::RunInstant;

use super::{
    answers::{Answer, Settled},
    role::Publishing,
    sends::Sends,
};
use crate::link::{role::EventHandler, serve_context::ServeContext, socket::Socket};

/// Bytes of a ping.
const BARRIER_BYTES: usize = 2;

/// The only lane: a client has one publisher.
const LANE: u16 = 1;

impl Sends for Connection {
    /// Messages of quality 1 are limited by the packet identifiers, and by the broker.
    #[inline]
    fn room(&self, _lane: u16, _size: usize) -> u64 {
        Connection::room(self)
    }

    #[inline]
    fn sent_unconfirmed(
        socket: &mut Socket<Self>,
        lane: u16,
        count: u64,
        context: &ServeContext<'_>,
    ) -> usize {
        if socket.sent(lane, count, context) { BARRIER_BYTES } else { 0 }
    }
}

impl EventHandler for Publishing<Connection> {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        match event {
            Event::Confirmed { first, last, reason } => {
                self.on_settled(LANE, Settled::Range(first, last), answer(reason), context)?;
                self.on_room(LANE, context);
            }
            Event::Pong if socket.accepted(LANE, context) => {
                self.each_on(LANE, |publisher| publisher.on_accepted(context));
            }
            _ => {}
        }
        Ok(())
    }

    fn ask(&mut self, socket: &mut Socket<Connection>, now: RunInstant) -> bool {
        let asked = socket.ask(now);
        for lane in &asked {
            self.note_barrier(*lane);
        }
        !asked.is_empty()
    }
}

#[inline]
fn answer(reason: Reason) -> Answer {
    match reason {
        Reason::NO_SUBSCRIBERS => Answer::Returned,
        reason if reason.is_refusal() => Answer::Refused,
        _ => Answer::Accepted,
    }
}
