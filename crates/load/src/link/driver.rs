//! A connection under load: its socket, and the role of those who use it.

use rabbitscope_amqp::{Event, Frames, Reply};

use super::{
    answering::Answering,
    serve_context::ServeContext,
    socket::{ReadOutcome, Socket},
};
use crate::{
    connect::PreparedConnection,
    link::{calling::Calling, churning::Churning, consuming::Consuming, publishing::Publishing},
    plan::LinkPlan,
    report::{Failure, Side},
};

/// Reads in a row before other connections get their turn.
const READ_ROUNDS: u32 = 8;

/// Writes in a row before other connections get their turn.
pub(super) const WRITE_ROUNDS: u32 = 4;

/// Bytes encoded for one write, at most. Large enough to make the write cheap, small enough that the time
/// stamps, taken once for each, are true, and that it fits into one segment on loopback (65,483 bytes):
/// a few bytes more are a second segment with all its cost.
pub(super) const CHUNK: usize = 65_483;

/// One connection under load.
pub(crate) struct Link {
    pub(crate) socket: Socket,
    /// Number of its plan among those of the run.
    pub(crate) plan: usize,
    role: Role,
    /// Where what it measures is added up.
    slot: u16,
    is_closed: bool,
    /// The connection is lost. Its time without one has been counted up to here.
    down_since: Option<u64>,
}

/// What the broker has not done for a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkStatus {
    pub(crate) is_unanswered: bool,
    pub(crate) is_stalled: bool,
}

pub(super) enum Role {
    Publishing(Publishing),
    Consuming(Consuming),
    Calling(Calling),
    Answering(Answering),
    Churning(Churning),
}

impl Role {
    /// Whose consumer the broker has ended.
    fn queue(&self, tag: &[u8]) -> String {
        match self {
            Self::Consuming(consuming) => format!("queue `{}`", consuming.queue(tag)),
            Self::Answering(answering) => format!("queue `{}`", answering.queue()),
            _ => "replies".to_owned(),
        }
    }
}

impl Link {
    pub(crate) fn new(plan: usize, link: &LinkPlan<'_>, prepared: PreparedConnection) -> Self {
        let role = Role::new(link, prepared.frame_max());
        let (socket, slot) = (Socket::new(prepared), link.slot);
        Self { socket, plan, role, slot, is_closed: false, down_since: None }
    }

    /// The connection is lost. What its role had on it is counted and forgotten; the role itself
    /// goes on with the next one.
    pub(crate) fn lose(&mut self, failure: &Failure, context: &mut ServeContext<'_>) {
        context.service.lost(self.side(), context.now, failure);
        context.measured.select(self.slot);
        self.socket.lose(context);
        match &mut self.role {
            Role::Publishing(publishing) => publishing.lose(context),
            Role::Consuming(consuming) => consuming.lose(context),
            Role::Calling(calling) => calling.lose(context),
            Role::Answering(_) => {}
            Role::Churning(churning) => churning.lose(context),
        }
        self.down_since = Some(context.now);
    }

    /// There is a connection again.
    pub(crate) fn resume(&mut self, prepared: PreparedConnection, context: &mut ServeContext<'_>) {
        self.count_time_down(context);
        self.down_since = None;
        context.measured.counts.reconnects += 1;
        context.service.back(self.side(), context.now);
        self.socket.renew(prepared, context.now);
        self.start(context.now);
    }

    pub(crate) fn is_up(&self) -> bool {
        self.down_since.is_none()
    }

    /// What goes on is counted up to now, so that each second has its share. Heartbeats are sent and
    /// expected.
    pub(crate) fn tick(&mut self, context: &mut ServeContext<'_>) -> Result<(), Failure> {
        context.measured.select(self.slot);
        self.count_time_down(context);
        if let Role::Publishing(publishing) = &mut self.role {
            publishing.tick(context);
        }
        if !self.is_up() {
            return Ok(());
        }
        if let Role::Publishing(publishing) = &mut self.role {
            publishing.check_confirms(context)?;
        }
        self.socket.tick(context)
    }

    fn count_time_down(&mut self, context: &mut ServeContext<'_>) {
        if let Some(since) = &mut self.down_since {
            context.measured.counts.down_nanos += context.now.saturating_sub(*since);
            *since = context.now;
        }
    }

    /// Largest frame that was agreed on, in bytes.
    pub(crate) fn frame_max(&self) -> u32 {
        self.socket.frame_max()
    }

    /// The first messages may come and go now.
    pub(crate) fn start(&mut self, now: u64) {
        let connection = &mut self.socket.connection;
        match &mut self.role {
            Role::Publishing(_) => {}
            Role::Consuming(consuming) => consuming.start(now, connection),
            Role::Calling(calling) => calling.start(now, connection),
            Role::Answering(answering) => answering.start(connection),
            Role::Churning(churning) => churning.start(connection),
        }
    }

    /// Reads what there is, sends what may be sent. True: there is more to do at once.
    pub(crate) fn serve(
        &mut self,
        scratch: &mut [u8],
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        context.measured.select(self.slot);
        self.read(scratch, context)?;
        if let Role::Consuming(consuming) = &mut self.role {
            consuming.on_time(&mut self.socket.connection, context);
        }
        self.socket.flush(context)?;
        let more = self.socket.is_readable();
        for _ in 0..self.write_rounds() {
            let has_sent = match &mut self.role {
                Role::Publishing(publishing) => publishing.encode(&mut self.socket, context),
                Role::Calling(calling) => calling.encode(&mut self.socket, context),
                Role::Churning(churning) => {
                    churning.encode(&mut self.socket.connection, context)?;
                    false
                }
                Role::Consuming(_) | Role::Answering(_) => return Ok(more),
            };
            self.socket.flush(context)?;
            if !has_sent {
                return Ok(more);
            }
        }
        Ok(more || self.socket.can_publish() && self.has_due(context))
    }

    fn write_rounds(&self) -> u32 {
        match &self.role {
            Role::Publishing(publishing) => publishing.write_rounds(),
            _ => WRITE_ROUNDS,
        }
    }

    fn has_due(&self, context: &ServeContext<'_>) -> bool {
        match &self.role {
            Role::Publishing(publishing) => publishing.has_due(context),
            Role::Calling(calling) => calling.has_due(),
            Role::Consuming(_) | Role::Answering(_) | Role::Churning(_) => false,
        }
    }

    fn read(&mut self, scratch: &mut [u8], context: &mut ServeContext<'_>) -> Result<(), Failure> {
        for _ in 0..READ_ROUNDS {
            if let Role::Answering(_) = &self.role
                && Answering::is_congested(&mut self.socket)
            {
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
                self.on_event(event, context)?;
            }
            self.socket.keep(frames.rest());
        }
        Ok(())
    }

    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        match (&mut self.role, event) {
            (Role::Consuming(consuming), Event::Delivery(delivery)) => {
                consuming.on_delivery(&delivery, &mut self.socket.connection, context);
            }
            (Role::Publishing(publishing), Event::Confirm { channel, tag, multiple, accepted }) => {
                publishing.on_confirm(channel, tag, multiple, accepted, context)?;
            }
            (Role::Calling(calling), Event::Delivery(reply)) => {
                calling.on_delivery(&reply, context);
            }
            (Role::Answering(answering), Event::Delivery(request)) => {
                answering.on_delivery(&request, &mut self.socket, context);
            }
            (Role::Calling(calling), Event::Reply { channel, reply }) => {
                let connection = &mut self.socket.connection;
                calling.on_reply(channel, reply, connection, context.now);
            }
            (Role::Churning(churning), event) if Churning::is_concerned(&event) => {
                churning.on_event(event, &mut self.socket.connection, context)?;
            }
            (Role::Consuming(consuming), Event::Got { delivery, .. }) => {
                consuming.on_got(&delivery, &mut self.socket.connection, context);
            }
            (Role::Consuming(consuming), Event::GetEmpty { channel }) => {
                consuming.on_empty(channel, &mut self.socket.connection, context);
            }
            (Role::Publishing(publishing), Event::Reply { channel, reply: Reply::TxCommitted }) => {
                publishing.on_commit(channel, context)?;
            }
            (_, Event::Returned(returned)) => {
                context.measured.counts.returned += 1;
                context.record_return(&returned);
            }
            (_, Event::Blocked { reason }) => self.socket.block(&reason, context),
            (_, Event::Unblocked) => self.socket.unblock(context),
            (_, Event::Closed) => self.is_closed = true,
            (_, Event::ChannelClosed { refusal: Some(refusal), .. }) => {
                let reason = format!("the broker closed a channel: {refusal}");
                return Err(Failure::channel_closed(reason));
            }
            (role, Event::ConsumerCancelled { consumer_tag, .. }) => {
                return Err(Failure::consumer_cancelled(format!(
                    "the broker ended a consumer of {}: the queue was deleted or moved",
                    role.queue(consumer_tag.as_bytes())
                )));
            }
            _ => {}
        }
        Ok(())
    }

    /// When a publisher that waits for nothing but its schedule, or a consumer that holds messages,
    /// is due next, or was.
    pub(crate) fn next_due(&self) -> Option<u64> {
        match &self.role {
            Role::Publishing(publishing) if self.socket.can_publish() => publishing.next_due(),
            Role::Consuming(consuming) => consuming.next_due(),
            Role::Calling(calling) => calling.next_due(self.socket.can_publish()),
            Role::Churning(churning) => churning.next_due(),
            _ => None,
        }
    }

    /// How many publishers use it.
    pub(crate) fn publishers(&self) -> usize {
        match &self.role {
            Role::Publishing(publishing) => publishing.count(),
            _ => 0,
        }
    }

    /// What it does for the run.
    pub(crate) fn side(&self) -> Side {
        match &self.role {
            Role::Publishing(_) | Role::Calling(_) => Side::Sending,
            Role::Consuming(_) | Role::Answering(_) => Side::Receiving,
            Role::Churning(_) => Side::Churning,
        }
    }

    /// Does the broker owe it an answer, or has its socket taken nothing for a while?
    pub(crate) fn dues(&self) -> LinkStatus {
        let is_unanswered = match &self.role {
            Role::Publishing(publishing) => publishing.is_owed(),
            Role::Calling(calling) => calling.outstanding() > 0,
            Role::Consuming(_) | Role::Answering(_) | Role::Churning(_) => false,
        };
        LinkStatus { is_unanswered, is_stalled: self.socket.is_stalled() }
    }

    /// Messages sent and not confirmed.
    pub(crate) fn outstanding(&self) -> u64 {
        match &self.role {
            Role::Publishing(publishing) => publishing.outstanding(),
            _ => 0,
        }
    }

    /// Answers that the broker owes: confirms, replies, the end of what came and went.
    pub(crate) fn awaited(&self) -> u64 {
        match &self.role {
            Role::Publishing(publishing) => publishing.outstanding(),
            Role::Calling(calling) => calling.outstanding(),
            Role::Churning(churning) => churning.present(),
            Role::Consuming(_) | Role::Answering(_) => 0,
        }
    }

    pub(crate) fn is_consuming(&self) -> bool {
        match &self.role {
            Role::Consuming(consuming) => !consuming.is_done(),
            Role::Answering(_) => true,
            _ => false,
        }
    }

    /// Nothing more is read: what has no answer will get none.
    pub(crate) fn give_up(&mut self, context: &mut ServeContext<'_>) {
        context.measured.select(self.slot);
        match &mut self.role {
            Role::Publishing(publishing) => publishing.give_up(context),
            Role::Calling(calling) => calling.give_up(context),
            Role::Consuming(_) | Role::Answering(_) | Role::Churning(_) => {}
        }
    }

    /// Nothing more is published.
    pub(crate) fn stop_publishing(&mut self, context: &mut ServeContext<'_>) {
        context.measured.select(self.slot);
        match &mut self.role {
            Role::Publishing(publishing) => {
                publishing.stop(&mut self.socket.connection, context);
            }
            Role::Calling(calling) => calling.stop(context),
            Role::Churning(churning) => churning.stop(),
            Role::Consuming(_) | Role::Answering(_) => {}
        }
    }

    /// Acknowledges the rest and closes the connection.
    pub(crate) fn finish(&mut self, context: &mut ServeContext<'_>) {
        context.measured.select(self.slot);
        if let Role::Consuming(consuming) = &mut self.role {
            consuming.finish(&mut self.socket.connection, context);
        }
        self.socket.connection.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed || !self.is_up()
    }
}
