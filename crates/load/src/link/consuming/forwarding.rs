//! Messages that consumers publish for each that they have processed.

use rabbitscope_amqp::{Connection, Content, Properties, Route};
use rabbitscope_runs::{Draws, Random, scenario::Forward};
use rabbitscope_timing::{STAMP_SIZE, Stamp};

use super::held_messages::HeldMessage;
use crate::link::{serve_context::ServeContext, socket::Socket};

/// Frame size of a content without a body.
const ANY_FRAME: u32 = 4096;

/// The messages to publish on a connection.
pub(super) struct Forwarding {
    routes: Vec<Route>,
    /// Route of the next message.
    next: usize,
    properties: Content,
    /// Bytes of a body; absent for those of the processed message.
    size: Option<usize>,
    /// Draws the messages that have one, with the number of the next. Absent if all have.
    draws: Option<(Draws, u64)>,
    /// A body of zeros behind the stamp.
    body: Vec<u8>,
}

impl Forwarding {
    /// Creates the messages for these queues, or for the exchange.
    pub(super) fn new(forward: &Forward, queues: &[String], random: Random) -> Self {
        let routes = match &forward.exchange {
            None => queues.iter().map(|queue| Route::new("", queue, false)).collect(),
            Some(exchange) => {
                let key = forward.routing_key.as_deref().unwrap_or_default();
                vec![Route::new(exchange, key, false)]
            }
        };
        let draws = forward.share.map(|share| (Draws::new(random, &[share, 1.0 - share]), 0));
        Self {
            routes,
            next: 0,
            properties: Content::new(
                &Properties::with_delivery_mode(forward.persistent),
                &[],
                ANY_FRAME,
            ),
            size: forward.size.map(|size| size as usize),
            draws,
            body: Vec::new(),
        }
    }

    /// Publishes the message that follows a processed one, if that has one. It has the stamp of the processed message,
    /// so that its latency is that of the whole way.
    #[inline]
    pub(super) fn publish(
        &mut self,
        message: &HeldMessage,
        channel: u16,
        socket: &mut Socket<Connection>,
        context: &ServeContext<'_>,
    ) {
        if let Some((draws, number)) = &mut self.draws {
            *number += 1;
            if draws.choice(*number) != 0 {
                return;
            }
        }
        let Some(route) = self.routes.get(self.next) else { return };
        self.next = (self.next + 1) % self.routes.len();
        self.body.resize(self.size.unwrap_or(message.body_bytes as usize), 0);
        if let Some(head) = self.body.first_chunk_mut::<STAMP_SIZE>() {
            *head = message.stamp.map_or([0; STAMP_SIZE], Stamp::encode);
        }
        socket.connection.publish_body(channel, route, &self.properties, &[], &self.body);
        socket.sent(channel, 1, context);
        socket.encoded(1);
    }
}
