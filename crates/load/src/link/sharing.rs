//! Groups of publishers and consumers on one connection, each with channels of its own.

use std::ops::RangeInclusive;

use rabbitscope_amqp::{Connection, Delivery, Event, Refusal, Reply};
use rabbitscope_measurements::{Failure, Side};
use rabbitscope_timing::RunInstant;

use super::{
    amqp091::{self, Amqp091Role},
    consuming::Consuming,
    publishing::Publishing,
    role::{EventHandler, Role},
    serve_context::ServeContext,
    socket::Socket,
};

/// The members of one group.
pub(super) enum Part {
    Publishing(Box<Publishing<Connection>>),
    Consuming(Box<Consuming>),
}

struct Shared {
    part: Part,
    /// Slot of the group's latencies.
    slot: u16,
    channels: RangeInclusive<u16>,
}

/// The roles of all groups on a connection.
pub(super) struct Sharing {
    parts: Vec<Shared>,
    /// The part whose turn to send is next.
    next: usize,
}

/// Evaluates an expression for any part.
macro_rules! with_part {
    ($part:expr, $one:ident => $call:expr) => {
        match $part {
            Part::Publishing($one) => $call,
            Part::Consuming($one) => $call,
        }
    };
}

/// Evaluates an expression for each part, with its slot selected.
macro_rules! each_part {
    ($sharing:expr, $context:expr, $one:ident => $call:expr) => {
        for shared in &mut $sharing.parts {
            $context.measured.slots.select(shared.slot);
            with_part!(&mut shared.part, $one => $call);
        }
    };
}

/// Evaluates an expression for the part that uses a channel, with its slot selected; `$other` if there is none.
macro_rules! on_channel {
    ($sharing:expr, $channel:expr, $context:expr, $one:ident => $call:expr, $other:expr) => {
        match $sharing.part($channel) {
            Some(shared) => {
                $context.measured.slots.select(shared.slot);
                with_part!(&mut shared.part, $one => $call)
            }
            None => $other,
        }
    };
}

impl Sharing {
    /// Creates the roles of parts with their slots and channels.
    pub(super) fn new(parts: impl Iterator<Item = (Part, u16, RangeInclusive<u16>)>) -> Self {
        let parts = parts.map(|(part, slot, channels)| Shared { part, slot, channels });
        Self { parts: parts.collect(), next: 0 }
    }

    fn part(&mut self, channel: u16) -> Option<&mut Shared> {
        self.parts.iter_mut().find(|shared| shared.channels.contains(&channel))
    }

    fn each(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().map(|shared| &shared.part)
    }
}

impl Role for Sharing {
    type Wire = Connection;

    /// The side of the publishers, if there are some: the connection matters to both.
    fn side(&self) -> Side {
        let publishes = self.each().any(|part| matches!(part, Part::Publishing(_)));
        if publishes { Side::Sending } else { Side::Receiving }
    }

    /// Starts consumers before publishers, as if they had connections of their own.
    fn start(&mut self, now: RunInstant, connection: &mut Connection) {
        for shared in &mut self.parts {
            if let Part::Consuming(one) = &mut shared.part {
                one.start(now, connection);
            }
        }
        for shared in &mut self.parts {
            if let Part::Publishing(one) = &mut shared.part {
                one.start(now, connection);
            }
        }
    }

    fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        each_part!(self, context, one => one.on_disconnect(context));
    }

    fn tick(&mut self, context: &mut ServeContext<'_>) {
        each_part!(self, context, one => one.tick(context));
    }

    fn check_timeouts(&mut self, context: &mut ServeContext<'_>) -> Result<(), Failure> {
        each_part!(self, context, one => one.check_timeouts(context)?);
        Ok(())
    }

    fn run_due_tasks(&mut self, socket: &mut Socket<Connection>, context: &mut ServeContext<'_>) {
        each_part!(self, context, one => one.run_due_tasks(socket, context));
    }

    fn write_rounds(&self) -> u32 {
        let rounds = self.each().map(|part| with_part!(part, one => one.write_rounds()));
        rounds.max().unwrap_or_default()
    }

    /// Encodes messages of one part: the next one that has some.
    fn encode(
        &mut self,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        let count = self.parts.len();
        for turn in 0..count {
            let at = (self.next + turn) % count;
            let shared = &mut self.parts[at];
            context.measured.slots.select(shared.slot);
            if with_part!(&mut shared.part, one => one.encode(socket, context))? {
                self.next = (at + 1) % count;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_due(&self, context: &ServeContext<'_>) -> bool {
        self.each().any(|part| with_part!(part, one => one.has_due(context)))
    }

    fn next_due(&self, can_publish: bool) -> Option<RunInstant> {
        self.each().filter_map(|part| with_part!(part, one => one.next_due(can_publish))).min()
    }

    fn publishers(&self) -> usize {
        self.each().map(|part| with_part!(part, one => one.publishers())).sum()
    }

    fn is_owed(&self) -> bool {
        self.each().any(|part| with_part!(part, one => one.is_owed()))
    }

    fn unconfirmed(&self) -> u64 {
        self.each().map(|part| with_part!(part, one => one.unconfirmed())).sum()
    }

    fn awaited(&self) -> u64 {
        self.each().map(|part| with_part!(part, one => one.awaited())).sum()
    }

    fn is_consuming(&self) -> bool {
        self.each().any(|part| with_part!(part, one => one.is_consuming()))
    }

    fn give_up(&mut self, context: &mut ServeContext<'_>) {
        each_part!(self, context, one => one.give_up(context));
    }

    fn stop(&mut self, connection: &mut Connection, context: &mut ServeContext<'_>) {
        each_part!(self, context, one => one.stop(connection, context));
    }

    fn finish(&mut self, connection: &mut Connection, context: &mut ServeContext<'_>) {
        each_part!(self, context, one => one.finish(connection, context));
    }
}

impl EventHandler for Sharing {
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

/// Hands each event to the part that uses its channel.
impl Amqp091Role for Sharing {
    fn on_delivery(
        &mut self,
        delivery: &Delivery<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        on_channel!(self, delivery.channel, context,
            one => one.on_delivery(delivery, socket, context), ());
    }

    fn on_got(
        &mut self,
        delivery: &Delivery<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        on_channel!(self, delivery.channel, context,
            one => one.on_got(delivery, socket, context), ());
    }

    fn on_empty(
        &mut self,
        channel: u16,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        on_channel!(self, channel, context, one => one.on_empty(channel, connection, context), ());
    }

    fn on_confirm(
        &mut self,
        channel: u16,
        tag: u64,
        multiple: bool,
        accepted: bool,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        on_channel!(self, channel, context,
            one => one.on_confirm(channel, tag, multiple, accepted, context), Ok(()))
    }

    fn on_reply(
        &mut self,
        channel: u16,
        reply: Reply,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        on_channel!(self, channel, context,
            one => one.on_reply(channel, reply, connection, context), Ok(()))
    }

    fn on_barrier(&mut self, channel: u16) {
        if let Some(shared) = self.part(channel) {
            with_part!(&mut shared.part, one => one.on_barrier(channel));
        }
    }

    fn on_accepted(&mut self, channel: u16, context: &mut ServeContext<'_>) {
        on_channel!(self, channel, context, one => one.on_accepted(channel, context), ());
    }

    fn on_channel_closed(
        &mut self,
        channel: u16,
        refusal: Option<Refusal>,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        on_channel!(self, channel, context,
            one => one.on_channel_closed(channel, refusal, connection, context), Ok(()))
    }

    fn on_consumer_cancelled(
        &mut self,
        channel: u16,
        consumer_tag: &[u8],
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        on_channel!(self, channel, context,
            one => one.on_consumer_cancelled(channel, consumer_tag, context), Ok(()))
    }
}
