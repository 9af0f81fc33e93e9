//! One connection under load: its socket, and the publishers or consumers that use it.

mod answering;
mod calling;
mod churning;
mod client_delay;
mod consuming;
mod failure;
mod in_flight;
mod moment;
mod publishing;
mod setup;
mod side;
mod socket;
mod turns;

use rabbitscope_amqp::{Event, Frames, Reply};

use crate::plan::LinkPlan;
use answering::Answering;
use calling::Calling;
use churning::Churning;
use consuming::Consuming;
pub(crate) use failure::Failure;
pub(crate) use moment::Moment;
use publishing::Publishing;
pub(crate) use setup::Wire;
pub(crate) use side::Side;
use socket::{Fill, Socket};

/// Reads in a row before other connections get their turn.
const READ_ROUNDS: u32 = 8;

/// Writes in a row before other connections get their turn.
const WRITE_ROUNDS: u32 = 4;

/// Bytes encoded for one write, at most. Large enough to make the write cheap, small enough that the time
/// stamps, taken once for each, are true, and that it fits into one segment on loopback (65,483 bytes):
/// a few bytes more are a second segment with all its cost.
const CHUNK: usize = 65_483;

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
pub(crate) struct Dues {
    pub(crate) is_unanswered: bool,
    pub(crate) is_stalled: bool,
}

enum Role {
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
    pub(crate) fn new(plan: usize, link: &LinkPlan<'_>, wire: Wire) -> Self {
        let role = Role::new(link, wire.frame_max());
        let (socket, slot) = (Socket::new(wire), link.slot);
        Self { socket, plan, role, slot, is_closed: false, down_since: None }
    }

    /// The connection is lost. What its role had on it is counted and forgotten; the role itself
    /// goes on with the next one.
    pub(crate) fn lose(&mut self, failure: &Failure, moment: &mut Moment<'_>) {
        moment.service.lost(self.side(), moment.now, failure);
        moment.tally.select(self.slot);
        self.socket.lose(moment);
        match &mut self.role {
            Role::Publishing(publishing) => publishing.lose(moment),
            Role::Consuming(consuming) => consuming.lose(moment),
            Role::Calling(calling) => calling.lose(moment),
            Role::Answering(_) => {}
            Role::Churning(churning) => churning.lose(moment),
        }
        self.down_since = Some(moment.now);
    }

    /// There is a connection again.
    pub(crate) fn resume(&mut self, wire: Wire, moment: &mut Moment<'_>) {
        self.count_time_down(moment);
        self.down_since = None;
        moment.tally.counts.reconnects += 1;
        moment.service.back(self.side(), moment.now);
        self.socket.renew(wire, moment.now);
        self.start(moment.now);
    }

    pub(crate) fn is_up(&self) -> bool {
        self.down_since.is_none()
    }

    /// What goes on is counted up to now, so that each second has its share. Heartbeats are sent and
    /// expected.
    pub(crate) fn tick(&mut self, moment: &mut Moment<'_>) -> Result<(), Failure> {
        moment.tally.select(self.slot);
        self.count_time_down(moment);
        if let Role::Publishing(publishing) = &mut self.role {
            publishing.tick(moment);
        }
        if !self.is_up() {
            return Ok(());
        }
        if let Role::Publishing(publishing) = &mut self.role {
            publishing.check_confirms(moment)?;
        }
        self.socket.tick(moment)
    }

    fn count_time_down(&mut self, moment: &mut Moment<'_>) {
        if let Some(since) = &mut self.down_since {
            moment.tally.counts.down_nanos += moment.now.saturating_sub(*since);
            *since = moment.now;
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
        moment: &mut Moment<'_>,
    ) -> Result<bool, Failure> {
        moment.tally.select(self.slot);
        self.read(scratch, moment)?;
        if let Role::Consuming(consuming) = &mut self.role {
            consuming.on_time(&mut self.socket.connection, moment);
        }
        self.socket.flush(moment)?;
        let more = self.socket.is_readable();
        for _ in 0..self.write_rounds() {
            let has_sent = match &mut self.role {
                Role::Publishing(publishing) => publishing.encode(&mut self.socket, moment),
                Role::Calling(calling) => calling.encode(&mut self.socket, moment),
                Role::Churning(churning) => {
                    churning.encode(&mut self.socket.connection, moment)?;
                    false
                }
                Role::Consuming(_) | Role::Answering(_) => return Ok(more),
            };
            self.socket.flush(moment)?;
            if !has_sent {
                return Ok(more);
            }
        }
        Ok(more || self.socket.can_publish() && self.has_due(moment))
    }

    fn write_rounds(&self) -> u32 {
        match &self.role {
            Role::Publishing(publishing) => publishing.write_rounds(),
            _ => WRITE_ROUNDS,
        }
    }

    fn has_due(&self, moment: &Moment<'_>) -> bool {
        match &self.role {
            Role::Publishing(publishing) => publishing.has_due(moment),
            Role::Calling(calling) => calling.has_due(),
            Role::Consuming(_) | Role::Answering(_) | Role::Churning(_) => false,
        }
    }

    fn read(&mut self, scratch: &mut [u8], moment: &mut Moment<'_>) -> Result<(), Failure> {
        for _ in 0..READ_ROUNDS {
            if let Role::Answering(_) = &self.role
                && Answering::is_congested(&mut self.socket)
            {
                return Ok(());
            }
            let filled = match self.socket.fill(scratch, moment)? {
                Fill::Bytes(filled) => filled,
                Fill::Nothing => return Ok(()),
                Fill::Eof if self.is_closed => return Ok(()),
                Fill::Eof => {
                    let reason = "the broker closed the connection without a word";
                    return Err(Failure::lost(reason));
                }
            };
            let mut frames = Frames::new(&scratch[..filled]);
            while let Some(event) = self.socket.connection.next_event(&mut frames)? {
                self.on_event(event, moment)?;
            }
            self.socket.keep(frames.rest());
        }
        Ok(())
    }

    #[inline]
    fn on_event(&mut self, event: Event<'_>, moment: &mut Moment<'_>) -> Result<(), Failure> {
        match (&mut self.role, event) {
            (Role::Consuming(consuming), Event::Delivery(delivery)) => {
                consuming.on_delivery(&delivery, &mut self.socket.connection, moment);
            }
            (Role::Publishing(publishing), Event::Confirm { channel, tag, multiple, accepted }) => {
                publishing.on_confirm(channel, tag, multiple, accepted, moment)?;
            }
            (Role::Calling(calling), Event::Delivery(reply)) => calling.on_delivery(&reply, moment),
            (Role::Answering(answering), Event::Delivery(request)) => {
                answering.on_delivery(&request, &mut self.socket, moment);
            }
            (Role::Calling(calling), Event::Reply { channel, reply }) => {
                let connection = &mut self.socket.connection;
                calling.on_reply(channel, reply, connection, moment.now);
            }
            (Role::Churning(churning), event) if Churning::is_concerned(&event) => {
                churning.on_event(event, &mut self.socket.connection, moment)?;
            }
            (Role::Consuming(consuming), Event::Got { delivery, .. }) => {
                consuming.on_got(&delivery, &mut self.socket.connection, moment);
            }
            (Role::Consuming(consuming), Event::GetEmpty { channel }) => {
                consuming.on_empty(channel, &mut self.socket.connection, moment);
            }
            (Role::Publishing(publishing), Event::Reply { channel, reply: Reply::TxCommitted }) => {
                publishing.on_commit(channel, moment)?;
            }
            (_, Event::Returned(returned)) => {
                moment.tally.counts.returned += 1;
                moment.witness_return(&returned);
            }
            (_, Event::Blocked { reason }) => self.socket.block(&reason, moment),
            (_, Event::Unblocked) => self.socket.unblock(moment),
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
    pub(crate) fn dues(&self) -> Dues {
        let is_unanswered = match &self.role {
            Role::Publishing(publishing) => publishing.is_owed(),
            Role::Calling(calling) => calling.outstanding() > 0,
            Role::Consuming(_) | Role::Answering(_) | Role::Churning(_) => false,
        };
        Dues { is_unanswered, is_stalled: self.socket.is_stalled() }
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
    pub(crate) fn give_up(&mut self, moment: &mut Moment<'_>) {
        moment.tally.select(self.slot);
        match &mut self.role {
            Role::Publishing(publishing) => publishing.give_up(moment),
            Role::Calling(calling) => calling.give_up(moment),
            Role::Consuming(_) | Role::Answering(_) | Role::Churning(_) => {}
        }
    }

    /// Nothing more is published.
    pub(crate) fn stop_publishing(&mut self, moment: &mut Moment<'_>) {
        moment.tally.select(self.slot);
        match &mut self.role {
            Role::Publishing(publishing) => {
                publishing.stop(&mut self.socket.connection, moment);
            }
            Role::Calling(calling) => calling.stop(moment),
            Role::Churning(churning) => churning.stop(),
            Role::Consuming(_) | Role::Answering(_) => {}
        }
    }

    /// Acknowledges the rest and closes the connection.
    pub(crate) fn finish(&mut self, moment: &mut Moment<'_>) {
        moment.tally.select(self.slot);
        if let Role::Consuming(consuming) = &mut self.role {
            consuming.finish(&mut self.socket.connection, moment);
        }
        self.socket.connection.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed || !self.is_up()
    }
}
