//! A connection under load: its socket, and the role of its members.

use std::io;

use mio::{Registry, Token};
use rabbitscope_measurements::{Failure, Side};
use rabbitscope_protocol::Wire as _;
use rabbitscope_runs::record::ErrorKind;
use rabbitscope_timing::RunInstant;
use rabbitscope_topology::TokenFile;

use super::{
    any_role::{AnyRole, with_role},
    role::{EventHandler as _, Role as _},
    serve_context::ServeContext,
};
use crate::{connect::PreparedConnection, plan::LinkPlan};

/// One connection under load.
pub(crate) struct Link {
    /// Number of its plan among those of the run.
    pub(crate) plan: usize,
    role: AnyRole,
    /// The slot under which its latencies are recorded.
    slot: u16,
    /// Number of replacements of the token that the connection knows of.
    token: u64,
    /// Set while the connection is lost. The time without it has been counted up to here.
    down_since: Option<RunInstant>,
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
        Self {
            plan,
            role: AnyRole::new(link, prepared),
            slot: link.slot,
            token: 0,
            down_since: None,
        }
    }

    /// Registers the socket with a poll.
    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        with_role!(&self.role, one => one.socket.register(registry, token))
    }

    /// Removes the socket from the poll.
    pub(crate) fn deregister(&self, registry: &Registry) {
        with_role!(&self.role, one => one.socket.deregister(registry));
    }

    /// Notes a change that the poll reported.
    pub(crate) fn wake(&mut self, readable: bool, writable: bool) {
        with_role!(&mut self.role, one => one.socket.wake(readable, writable));
    }

    /// Handles the loss of the connection. Outstanding messages are counted and dropped. The role continues on the next
    /// connection.
    pub(crate) fn on_disconnect(&mut self, failure: &Failure, context: &mut ServeContext<'_>) {
        context.service.lost(self.side(), context.now, failure);
        context.measured.slots.select(self.slot);
        with_role!(&mut self.role, one => {
            one.socket.on_disconnect(context);
            one.role.on_disconnect(context);
        });
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
        self.role.on_reconnect(prepared, context.now);
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
        with_role!(&mut self.role, one => one.role.tick(context));
        self.note_renewals(context);
        if !self.is_up() {
            return Ok(());
        }
        with_role!(&mut self.role, one => one.role.check_timeouts(context))?;
        self.ask(context);
        with_role!(&mut self.role, one => one.socket.tick(context))
    }

    /// Asks whether the broker has accepted the messages that no request covers yet. Returns true if there were some.
    pub(crate) fn ask(&mut self, context: &mut ServeContext<'_>) -> bool {
        let now = context.now;
        self.is_up() && with_role!(&mut self.role, one => one.role.ask(&mut one.socket, now))
    }

    /// Gives the broker the token of the file, if it was replaced.
    pub(crate) fn renew(&mut self, file: &TokenFile) {
        let generation = file.generation();
        if self.is_up() && self.token != generation {
            self.token = generation;
            let token = file.token();
            with_role!(&mut self.role, one => one.socket.connection.renew(&token));
        }
    }

    /// Counts the broker's answers to new tokens.
    fn note_renewals(&mut self, context: &mut ServeContext<'_>) {
        let renewals = with_role!(&mut self.role, one => one.socket.connection.take_renewals());
        context.measured.counts.token_renewals += renewals.taken;
        if let Some(reason) = renewals.refusal {
            context.service.failed(ErrorKind::TokenRefused, context.now, &reason);
        }
    }

    fn count_time_down(&mut self, context: &mut ServeContext<'_>) {
        if let Some(since) = &mut self.down_since {
            context.measured.counts.down_nanos += context.now.since(*since).get();
            *since = context.now;
        }
    }

    /// Largest frame that client and broker agreed on, in bytes.
    pub(crate) fn frame_max(&self) -> u32 {
        with_role!(&self.role, one => one.socket.frame_max())
    }

    /// Starts the role. It may now send and receive its first messages.
    pub(crate) fn start(&mut self, now: RunInstant) {
        with_role!(&mut self.role, one => one.role.start(now, &mut one.socket.connection));
    }

    /// Reads available data and sends due messages. Returns true if there is more to do at once.
    pub(crate) fn serve(
        &mut self,
        scratch: &mut [u8],
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        context.measured.slots.select(self.slot);
        with_role!(&mut self.role, one => one.serve(scratch, context))
    }

    /// Returns the time at which the role's next message or task is or was due.
    pub(crate) fn next_due(&self) -> Option<RunInstant> {
        with_role!(&self.role, one => one.role.next_due(one.socket.can_publish()))
    }

    /// Returns the number of publishers on the connection.
    pub(crate) fn publishers(&self) -> usize {
        with_role!(&self.role, one => one.role.publishers())
    }

    /// The side of the load that the link serves.
    pub(crate) fn side(&self) -> Side {
        with_role!(&self.role, one => one.role.side())
    }

    /// Returns whether the broker owes an answer, and whether messages wait for a full socket.
    pub(crate) fn status(&self) -> LinkStatus {
        with_role!(&self.role, one => LinkStatus {
            is_unanswered: one.role.is_owed(),
            is_stalled: one.socket.is_stalled(),
        })
    }

    /// Messages sent but not confirmed.
    pub(crate) fn unconfirmed(&self) -> u64 {
        with_role!(&self.role, one => one.role.unconfirmed())
    }

    /// Number of answers for which the end of the load waits: messages that the broker has not accepted, replies,
    /// closings of churn.
    pub(crate) fn awaited(&self) -> u64 {
        with_role!(&self.role, one => one.role.awaited() + one.socket.unaccepted())
    }

    /// Bytes that wait for the socket.
    pub(crate) fn unwritten_bytes(&mut self) -> usize {
        with_role!(&mut self.role, one => one.socket.unwritten_bytes())
    }

    /// Returns whether messages may still arrive.
    pub(crate) fn is_consuming(&self) -> bool {
        with_role!(&self.role, one => one.role.is_consuming())
    }

    /// Ends all reading. Messages and requests without an answer will get none.
    pub(crate) fn give_up(&mut self, context: &mut ServeContext<'_>) {
        context.measured.slots.select(self.slot);
        with_role!(&mut self.role, one => {
            one.socket.give_up(context);
            one.role.give_up(context);
        });
    }

    /// Ends publishing.
    pub(crate) fn stop_publishing(&mut self, context: &mut ServeContext<'_>) {
        context.measured.slots.select(self.slot);
        with_role!(&mut self.role, one => one.role.stop(&mut one.socket.connection, context));
    }

    /// Acknowledges the remaining messages and closes the connection.
    pub(crate) fn finish(&mut self, context: &mut ServeContext<'_>) {
        context.measured.slots.select(self.slot);
        with_role!(&mut self.role, one => {
            one.role.finish(&mut one.socket.connection, context);
            one.socket.connection.close();
        });
    }

    pub(crate) fn is_closed(&self) -> bool {
        !self.is_up() || with_role!(&self.role, one => one.socket.is_closed())
    }
}
