//! A connection under load: its socket, and the role of its members.

use rabbitscope_amqp::{Event, Frames, Reply};
use rabbitscope_measurements::{Failure, Side};
use rabbitscope_timing::RunInstant;

use super::{
    any_role::{AnyRole, with_role},
    role::Role,
    serve_context::ServeContext,
    socket::{ReadOutcome, Socket},
};
use crate::{connect::PreparedConnection, plan::LinkPlan};

/// Reads in a row before other connections are served. Chosen: a busy connection is read at most 2.5 MiB ahead of the
/// others (8 × 320 KiB with frames of 128 KiB).
const READ_ROUNDS: u32 = 8;

/// One connection under load.
pub(crate) struct Link {
    io: LinkSocket,
    /// Number of its plan among those of the run.
    pub(crate) plan: usize,
    role: AnyRole,
    /// The slot under which its latencies are recorded.
    slot: u16,
    /// Set while the connection is lost. The time without it has been counted up to here.
    down_since: Option<RunInstant>,
}

/// The socket of a link, and whether the broker has agreed to close it.
struct LinkSocket {
    socket: Socket,
    is_closed: bool,
}

/// Open obligations of the broker to a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkStatus {
    /// The broker owes an answer.
    pub(crate) is_unanswered: bool,
    /// Messages wait because the socket is full.
    pub(crate) is_stalled: bool,
}

impl Link {
    pub(crate) fn new(plan: usize, link: &LinkPlan<'_>, prepared: PreparedConnection) -> Self {
        let role = AnyRole::new(link, prepared.frame_max());
        let io = LinkSocket { socket: Socket::new(prepared), is_closed: false };
        Self { io, plan, role, slot: link.slot, down_since: None }
    }

    /// The socket, for the poll.
    pub(crate) fn socket(&self) -> &Socket {
        &self.io.socket
    }

    /// Notes a change that the poll reported.
    pub(crate) fn wake(&mut self, readable: bool, writable: bool) {
        self.io.socket.wake(readable, writable);
    }

    /// Handles the loss of the connection. Outstanding messages are counted and dropped. The role continues on the next
    /// connection.
    pub(crate) fn on_disconnect(&mut self, failure: &Failure, context: &mut ServeContext<'_>) {
        context.service.lost(self.side(), context.now, failure);
        context.measured.slots.select(self.slot);
        self.io.socket.on_disconnect(context);
        with_role!(&mut self.role, role => role.on_disconnect(context));
        self.down_since = Some(context.now);
    }

    /// Continues on a new connection.
    pub(crate) fn on_reconnect(
        &mut self,
        prepared: PreparedConnection,
        context: &mut ServeContext<'_>,
    ) {
        self.count_time_down(context);
        self.down_since = None;
        context.measured.counts.reconnects += 1;
        context.service.back(self.side(), context.now);
        self.io.socket.on_reconnect(prepared, context.now);
        self.start(context.now);
    }

    pub(crate) fn is_up(&self) -> bool {
        self.down_since.is_none()
    }

    /// Counts lasting states up to now, so that each second has its share. Sends due heartbeats, and checks the
    /// broker's.
    pub(crate) fn tick(&mut self, context: &mut ServeContext<'_>) -> Result<(), Failure> {
        context.measured.slots.select(self.slot);
        self.count_time_down(context);
        with_role!(&mut self.role, role => role.tick(context));
        if !self.is_up() {
            return Ok(());
        }
        with_role!(&mut self.role, role => role.check_timeouts(context))?;
        self.ask(context);
        self.io.socket.tick(context)
    }

    /// Asks whether the broker has accepted the messages that no request covers yet. Returns true if there were some.
    pub(crate) fn ask(&mut self, context: &mut ServeContext<'_>) -> bool {
        if !self.is_up() {
            return false;
        }
        let asked = self.io.socket.ask(context.now);
        for channel in &asked {
            with_role!(&mut self.role, role => role.on_barrier(*channel));
        }
        !asked.is_empty()
    }

    fn count_time_down(&mut self, context: &mut ServeContext<'_>) {
        if let Some(since) = &mut self.down_since {
            context.measured.counts.down_nanos += context.now.since(*since).get();
            *since = context.now;
        }
    }

    /// Largest frame that client and broker agreed on, in bytes.
    pub(crate) fn frame_max(&self) -> u32 {
        self.io.socket.frame_max()
    }

    /// Starts the role. It may now send and receive its first messages.
    pub(crate) fn start(&mut self, now: RunInstant) {
        with_role!(&mut self.role, role => role.start(now, &mut self.io.socket.connection));
    }

    /// Reads available data and sends due messages. Returns true if there is more to do at once.
    pub(crate) fn serve(
        &mut self,
        scratch: &mut [u8],
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        context.measured.slots.select(self.slot);
        with_role!(&mut self.role, role => self.io.serve(role, scratch, context))
    }

    /// Returns the time at which the role's next message or task is or was due.
    pub(crate) fn next_due(&self) -> Option<RunInstant> {
        with_role!(&self.role, role => role.next_due(self.io.socket.can_publish()))
    }

    /// Returns the number of publishers on the connection.
    pub(crate) fn publishers(&self) -> usize {
        with_role!(&self.role, role => role.publishers())
    }

    /// The side of the load that the link serves.
    pub(crate) fn side(&self) -> Side {
        with_role!(&self.role, role => role.side())
    }

    /// Returns whether the broker owes an answer, and whether messages wait for a full socket.
    pub(crate) fn status(&self) -> LinkStatus {
        let is_unanswered = with_role!(&self.role, role => role.is_owed());
        LinkStatus { is_unanswered, is_stalled: self.io.socket.is_stalled() }
    }

    /// Messages sent but not confirmed.
    pub(crate) fn unconfirmed(&self) -> u64 {
        with_role!(&self.role, role => role.unconfirmed())
    }

    /// Number of answers for which the end of the load waits: messages that the broker has not accepted, replies,
    /// closings of churn.
    pub(crate) fn awaited(&self) -> u64 {
        with_role!(&self.role, role => role.awaited()) + self.io.socket.unaccepted()
    }

    /// Bytes that wait for the socket.
    pub(crate) fn unwritten_bytes(&mut self) -> usize {
        self.io.socket.unwritten_bytes()
    }

    /// Returns whether messages may still arrive.
    pub(crate) fn is_consuming(&self) -> bool {
        with_role!(&self.role, role => role.is_consuming())
    }

    /// Ends all reading. Messages and requests without an answer will get none.
    pub(crate) fn give_up(&mut self, context: &mut ServeContext<'_>) {
        context.measured.slots.select(self.slot);
        self.io.socket.give_up(context);
        with_role!(&mut self.role, role => role.give_up(context));
    }

    /// Ends publishing.
    pub(crate) fn stop_publishing(&mut self, context: &mut ServeContext<'_>) {
        context.measured.slots.select(self.slot);
        with_role!(&mut self.role, role => role.stop(&mut self.io.socket.connection, context));
    }

    /// Acknowledges the remaining messages and closes the connection.
    pub(crate) fn finish(&mut self, context: &mut ServeContext<'_>) {
        context.measured.slots.select(self.slot);
        with_role!(&mut self.role, role => role.finish(&mut self.io.socket.connection, context));
        self.io.socket.connection.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.io.is_closed || !self.is_up()
    }
}

impl LinkSocket {
    /// Reads available data and sends due messages. Returns true if there is more to do at once.
    fn serve<R: Role>(
        &mut self,
        role: &mut R,
        scratch: &mut [u8],
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        self.read(role, scratch, context)?;
        role.run_due_tasks(&mut self.socket.connection, context);
        self.socket.flush(context)?;
        let more = self.socket.is_readable();
        for _ in 0..role.write_rounds() {
            let has_sent = role.encode(&mut self.socket, context)?;
            self.socket.flush(context)?;
            if !has_sent {
                return Ok(more);
            }
        }
        Ok(more || self.socket.can_publish() && role.has_due(context))
    }

    fn read<R: Role>(
        &mut self,
        role: &mut R,
        scratch: &mut [u8],
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        for _ in 0..READ_ROUNDS {
            if R::is_congested(&mut self.socket) {
                return Ok(());
            }
            let filled = match self.socket.fill(scratch, context)? {
                ReadOutcome::Bytes(filled) => filled,
                ReadOutcome::Nothing => return Ok(()),
                ReadOutcome::Eof if self.is_closed => return Ok(()),
                ReadOutcome::Eof => {
                    let reason = "the broker closed the connection without a word";
                    return Err(Failure::lost(reason));
                }
            };
            let mut frames = Frames::new(&scratch[..filled]);
            while let Some(event) = self.socket.connection.next_event(&mut frames)? {
                self.on_event(role, event, context)?;
            }
            self.socket.keep(frames.rest());
        }
        Ok(())
    }

    fn on_barrier_answered<R: Role>(
        &mut self,
        role: &mut R,
        channel: u16,
        context: &mut ServeContext<'_>,
    ) {
        if self.socket.accepted(channel, context) {
            role.on_accepted(channel, context);
        }
    }

    #[inline]
    fn on_event<R: Role>(
        &mut self,
        role: &mut R,
        event: Event<'_>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        let connection = &mut self.socket.connection;
        match event {
            Event::Delivery(delivery) => role.on_delivery(&delivery, &mut self.socket, context),
            Event::Confirm { channel, tag, multiple, accepted } => {
                role.on_confirm(channel, tag, multiple, accepted, context)?;
            }
            Event::Reply { channel, reply: Reply::FlowSet { .. } } => {
                self.on_barrier_answered(role, channel, context);
            }
            Event::Reply { channel, reply } => {
                role.on_reply(channel, reply, connection, context)?;
            }
            Event::Got { delivery, .. } => role.on_got(&delivery, connection, context),
            Event::GetEmpty { channel } => role.on_empty(channel, connection, context),
            Event::Returned(returned) => {
                context.measured.counts.returned += 1;
                context.record_return(&returned);
            }
            Event::Blocked { reason } => self.socket.block(&reason, context),
            Event::Unblocked => self.socket.unblock(context),
            Event::Closed => self.is_closed = true,
            Event::ChannelOpened { channel } => {
                role.on_channel_opened(channel, connection, context);
            }
            Event::ChannelClosed { channel, refusal } => {
                role.on_channel_closed(channel, refusal, connection, context)?;
            }
            Event::ConsumerCancelled { channel, consumer_tag } => {
                role.on_consumer_cancelled(channel, consumer_tag.as_bytes(), context)?;
            }
            _ => {}
        }
        Ok(())
    }
}
