//! Publishers of the stream protocol, which confirms each message.

use rabbitscope_measurements::Failure;
use rabbitscope_streams::{Connection, Event};

use super::{
    answers::{Answer, Settled},
    role::Publishing,
    sends::Sends,
};
use crate::{
    link::{role::EventHandler, serve_context::ServeContext, socket::Socket},
    message::number,
};

/// Every message is confirmed, and there are no transactions.
impl Sends for Connection {
    fn resume(&mut self, publisher: u16, again: Vec<u64>, next: u64) {
        Connection::resume(self, number(publisher), again, next);
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
        match event {
            Event::Confirmed { publisher, first, last } => self.on_settled(
                publisher.into(),
                Settled::Range(first, last),
                Answer::Accepted,
                context,
            ),
            Event::Refused { publisher, first, last, .. } => {
                let settled = Settled::Range(first, last);
                self.on_settled(publisher.into(), settled, Answer::Refused, context)
            }
            Event::StreamGone { stream, code } => Err(Failure::lost(format!(
                "the stream `{stream}` was deleted, or its leader has moved: {code}"
            ))),
            _ => Ok(()),
        }
    }
}
