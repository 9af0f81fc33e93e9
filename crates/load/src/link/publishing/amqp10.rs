//! Publishers of AMQP 1.0: outcomes, and the broker's credit.

use rabbitscope_amqp10::{Connection, Event, Outcome};
use rabbitscope_measurements::Failure;

use super::{
    answers::{Answer, Settled},
    role::Publishing,
    sends::Sends,
};
use crate::{
    link::{role::EventHandler, serve_context::ServeContext, socket::Socket},
    message::{lane, session},
};

/// Every message has an outcome, and there are no transactions.
impl Sends for Connection {
    #[inline]
    fn room(&self, lane: u16, _size: usize) -> u64 {
        Connection::room(self, session(lane))
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
            Event::Settled { lane: of, first, last, outcome } => {
                // Ranges of 3.10 have messages that were settled before.
                let settled = Settled::Within(first, last);
                self.on_settled(lane(of), settled, answer(outcome), context)?;
            }
            Event::Room { lane: of } => self.on_room(lane(of), context),
            Event::Blocked { .. } => socket.block("the session's window is closed", context),
            Event::Unblocked { lane: of } => {
                socket.unblock(context);
                self.on_room(lane(of), context);
            }
            Event::Ended { address, refusal, .. } => {
                let reason = format!("the broker ended a publisher to `{address}`: {refusal}");
                return Err(Failure::lost(reason));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the meaning of an outcome. The broker releases messages that no queue takes.
#[inline]
fn answer(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Accepted => Answer::Accepted,
        Outcome::Released => Answer::Returned,
        Outcome::Rejected | Outcome::Modified => Answer::Refused,
    }
}
