//! Responders on one connection: each answers the requests of a queue.

use rabbitscope_amqp::{Addressed, Connection, Delivery, Event, ReplyFields, Request, Table};
use rabbitscope_measurements::{Failure, Side};
use rabbitscope_protocol::Wire as _;
use rabbitscope_runs::scenario::{MemberQueues, ResponderGroup, WriteMode, assigned_queues};
use rabbitscope_timing::RunInstant;

use super::{
    amqp091::{self, Amqp091Role},
    serve_context::ServeContext,
    socket::Socket,
};
use crate::{
    link::role::{EventHandler, Role},
    plan::Placement,
};

/// Limit of the bytes of replies that wait for the socket. Beyond it, no requests are read. Otherwise a broker that
/// sends requests faster than it takes replies would fill the memory. Chosen.
const BACKLOG: usize = 1024 * 1024;

pub(super) struct Answering {
    queues: Vec<String>,
    auto_ack: bool,
    body: Vec<u8>,
    write: WriteMode,
    /// Channel and queue of each consumer.
    consumers: Vec<(u16, usize)>,
}

impl Answering {
    pub(super) fn new(group: &ResponderGroup, placements: &[Placement], queues: &[String]) -> Self {
        let consumers = placements.iter().flat_map(|placement| {
            let queues =
                assigned_queues(MemberQueues::Share, placement.member, group.count, queues.len());
            queues.map(|queue| (placement.channel, queue))
        });
        Self {
            consumers: consumers.collect(),
            queues: queues.to_vec(),
            auto_ack: group.auto_ack,
            body: vec![0; group.size_bytes as usize],
            write: group.write,
        }
    }

    fn queue(&self) -> &str {
        self.queues.first().map_or("", String::as_str)
    }
}

impl Role for Answering {
    type Wire = Connection;

    fn start(&mut self, _now: RunInstant, connection: &mut Connection) {
        for (number, (channel, queue)) in self.consumers.iter().enumerate() {
            let consume = Request::Consume {
                queue: &self.queues[*queue],
                consumer_tag: &number.to_string(),
                no_local: false,
                auto_ack: self.auto_ack,
                exclusive: false,
                arguments: &Table::default(),
            };
            connection.request(*channel, &consume);
        }
    }

    /// Returns whether the replies exceed [`BACKLOG`].
    fn is_congested(socket: &mut Socket<Connection>) -> bool {
        socket.connection.output().pending().len() > BACKLOG
    }

    fn side(&self) -> Side {
        Side::Receiving
    }

    fn is_consuming(&self) -> bool {
        true
    }
}

impl EventHandler for Answering {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        amqp091::on_event(self, event, socket, context)
    }

    fn ask(&mut self, socket: &mut Socket<Connection>, now: RunInstant) -> bool {
        amqp091::ask(self, socket, now)
    }
}

impl Amqp091Role for Answering {
    /// Replies and acknowledges, in a separate write or together with all messages that were read. A request without a
    /// reply address gets no reply.
    #[inline]
    fn on_delivery(
        &mut self,
        request: &Delivery<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        context.measured.counts.consume_at_once();
        context.measured.counts.redelivered += u64::from(request.redelivered);
        let fields = ReplyFields::parse(&request.properties).unwrap_or_default();
        socket.write_as(self.write);
        if let Some(reply_to) = fields.reply_to {
            let reply = Addressed {
                channel: request.channel,
                routing_key: reply_to,
                fields: ReplyFields { correlation_id: fields.correlation_id, reply_to: None },
                persistent: false,
            };
            socket.connection.send(&reply, &self.body);
            socket.sent(request.channel, 1, context);
            socket.encoded(1);
        }
        if !self.auto_ack {
            let delivery_tag = request.delivery_tag;
            let ack = Request::Ack { delivery_tag, multiple: false };
            socket.connection.request(request.channel, &ack);
        }
        if self.write != WriteMode::Batched {
            // Bytes that cannot be written now stay. The flush after reading reports the reason.
            let _ = socket.flush(context);
        }
    }

    fn consumed_queue(&self, _consumer_tag: &[u8]) -> String {
        format!("queue `{}`", self.queue())
    }
}
