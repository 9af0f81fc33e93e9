//! Callers on one connection: each sends requests and waits for the replies.

use rabbitscope_amqp::{Addressed, Connection, Delivery, Reply, ReplyFields, Request, Table};
use rabbitscope_runs::scenario::{MemberQueues, ReplyPath, RequestGroup};

use super::{
    CHUNK, Moment,
    client_delay::ClientDelay,
    in_flight::{InFlight, Waiting},
    socket::Socket,
    turns::Turns,
};
use crate::{
    clock::nanos,
    latency::Latency,
    message::Random,
    plan::{Seat, queues_of},
    tempo::LATE_NANOS,
    timetable::Timetable,
};

/// RabbitMQ's name for the way back without a queue.
const DIRECT: &str = "amq.rabbitmq.reply-to";

/// Requests that a caller may send before the others on its connection get their turn.
const QUANTUM: u64 = 64;

/// What a request has on the wire besides its body, about.
const OVERHEAD: usize = 128;

pub(super) struct Calling {
    queues: Vec<String>,
    reply: ReplyPath,
    body: Vec<u8>,
    persistent: bool,
    timeout_nanos: u64,
    callers: Vec<Caller>,
    /// By channel number: where replies to its callers go. Absent until that is known.
    reply_to: Vec<Option<String>>,
    turns: Turns,
    in_flight: InFlight,
    /// Callers that have nothing to send on their schedule, and that nobody has been told of.
    without_any: usize,
    has_schedule: bool,
    is_stopped: bool,
}

struct Caller {
    channel: u16,
    /// Numbers of the queues that it sends to in turn.
    queues: Vec<usize>,
    /// Whose turn it is.
    turn: usize,
    concurrency: Option<u32>,
    limit: Option<u64>,
    pace: Option<Timetable>,
    sent: u64,
    outstanding: u32,
    /// There has been room for another request since then, and a way back for its reply.
    roomy_since: u64,
    delay: ClientDelay,
}

impl Caller {
    /// Requests that concurrency and limit leave room for.
    fn room(&self) -> u64 {
        let free = |concurrency: u32| u64::from(concurrency.saturating_sub(self.outstanding));
        let limit = self.limit.map_or(u64::MAX, |limit| limit - self.sent);
        self.concurrency.map_or(u64::MAX, free).min(limit)
    }

    /// When the next request should go, in nanoseconds since the run began; absent when it is not due.
    fn take_turn(&mut self, ready_since: u64, moment: &mut Moment<'_>) -> Option<u64> {
        let Some(pace) = &mut self.pace else { return Some(moment.now) };
        let until = moment.due_until?;
        let due = pace.due().filter(|due| *due <= until)?;
        pace.advance();
        let own = self.delay.of(due, self.roomy_since.max(ready_since), moment.now);
        moment.sent_behind(moment.now - due, own);
        Some(due)
    }

    /// It has sent its last request.
    fn has_sent_all(&self) -> bool {
        let is_over = self.pace.as_ref().is_some_and(|pace| pace.due().is_none());
        is_over || self.limit == Some(self.sent)
    }

    fn next_queue(&mut self) -> usize {
        let queue = self.queues[self.turn];
        self.turn = if self.turn + 1 == self.queues.len() { 0 } else { self.turn + 1 };
        queue
    }

    fn is_done(&self) -> bool {
        self.has_sent_all() && self.outstanding == 0
    }
}

impl Calling {
    pub(super) fn new(
        group: &RequestGroup,
        random: &Random,
        seats: &[Seat],
        queues: &[String],
    ) -> Self {
        let pace = |member| {
            let seed = random.schedule_seed(member);
            Timetable::new(&group.schedule, member, group.count, seed, 0)
        };
        let callers: Vec<Caller> = seats
            .iter()
            .map(|seat| Caller {
                channel: seat.channel,
                queues: queues_of(MemberQueues::Share, seat.member, group.count, queues.len())
                    .collect(),
                turn: 0,
                concurrency: group.concurrency,
                limit: group.messages,
                pace: pace(seat.member),
                sent: 0,
                outstanding: 0,
                roomy_since: 0,
                delay: ClientDelay::default(),
            })
            .collect();
        let channels = seats.iter().map(|seat| seat.channel).max().unwrap_or(0);
        Self {
            queues: queues.to_vec(),
            reply: group.reply,
            body: vec![0; group.size_bytes as usize],
            persistent: group.persistent,
            timeout_nanos: nanos(group.timeout),
            reply_to: vec![None; usize::from(channels) + 1],
            turns: Turns::new(callers.len()),
            without_any: callers.iter().filter(|caller| caller.has_sent_all()).count(),
            callers,
            in_flight: InFlight::default(),
            has_schedule: group.schedule.is_set(),
            is_stopped: false,
        }
    }

    /// Prepares the way back on each channel. Direct replies may be asked for at once; a queue has
    /// to be there first.
    pub(super) fn start(&mut self, now: u64, connection: &mut Connection) {
        for channel in 1..self.reply_to.len() {
            let number = u16::try_from(channel).unwrap_or(u16::MAX);
            match self.reply {
                ReplyPath::Direct => {
                    consume(number, DIRECT, connection);
                    self.open(number, DIRECT.to_owned(), now);
                }
                ReplyPath::Queue => {
                    let declare = Request::QueueDeclare {
                        queue: "",
                        passive: false,
                        durable: false,
                        exclusive: true,
                        auto_delete: true,
                        arguments: &Table::default(),
                    };
                    connection.request(number, &declare);
                }
            }
        }
    }

    /// The broker may have named the queue for the replies of a channel.
    pub(super) fn on_reply(
        &mut self,
        channel: u16,
        reply: Reply,
        connection: &mut Connection,
        now: u64,
    ) {
        if let Reply::QueueDeclared { queue, .. } = reply {
            consume(channel, &queue, connection);
            self.open(channel, queue, now);
        }
    }

    fn open(&mut self, channel: u16, reply_to: String, now: u64) {
        let Some(place) = self.reply_to.get_mut(usize::from(channel)) else { return };
        *place = Some(reply_to);
        for index in 0..self.callers.len() {
            if self.callers[index].channel == channel {
                self.callers[index].roomy_since = now;
                self.wake(index);
            }
        }
    }

    /// A caller that can send, or will when its schedule says so, is put where it waits for that.
    fn wake(&mut self, index: usize) {
        let caller = &self.callers[index];
        let is_open = self.reply_to[usize::from(caller.channel)].is_some();
        if !is_open || caller.room() == 0 {
            return;
        }
        match &caller.pace {
            None => self.turns.ask(index),
            Some(pace) => {
                if let Some(due) = pace.due() {
                    self.turns.ask_at(index, due);
                }
            }
        }
    }

    /// Encodes up to a chunk of requests; false when there was nothing to send.
    pub(super) fn encode(&mut self, socket: &mut Socket, moment: &mut Moment<'_>) -> bool {
        self.expire(moment);
        moment.callers_done += std::mem::take(&mut self.without_any);
        if self.is_stopped || !socket.can_publish() {
            return false;
        }
        moment.begin(self.has_schedule);
        if let Some(until) = moment.due_until {
            self.turns.advance(until);
        }
        let (mut room, mut encoded) = (CHUNK, 0);
        while room > 0
            && let Some(index) = self.turns.next()
        {
            encoded += self.send(index, &mut room, socket, moment);
            self.wake(index);
        }
        socket.encoded(encoded);
        moment.tally.counts.requests += encoded;
        encoded > 0
    }

    fn send(
        &mut self,
        index: usize,
        room: &mut usize,
        socket: &mut Socket,
        moment: &mut Moment<'_>,
    ) -> u64 {
        let caller = &mut self.callers[index];
        let Some(reply_to) = &self.reply_to[usize::from(caller.channel)] else { return 0 };
        let size = self.body.len() + OVERHEAD;
        let most = caller.room().min(QUANTUM).min((*room / size).max(1) as u64);
        let mut count = 0;
        while count < most
            && let Some(intended_at) = caller.take_turn(socket.ready_since(), moment)
        {
            count += 1;
            let queue = caller.next_queue();
            let id = self.in_flight.push(Waiting {
                sent_at: moment.now,
                intended_at,
                caller: u32::try_from(index).unwrap_or(u32::MAX),
            });
            let fields =
                ReplyFields { correlation_id: Some(&id), reply_to: Some(reply_to.as_bytes()) };
            let request = Addressed {
                channel: caller.channel,
                routing_key: self.queues[queue].as_bytes(),
                fields,
                persistent: self.persistent,
            };
            socket.connection.send(&request, &self.body);
            caller.sent += 1;
            caller.outstanding += 1;
        }
        moment.has_paced |= caller.pace.is_some() && count > 0;
        *room = room.saturating_sub(size * usize::try_from(count).unwrap_or(1));
        count
    }

    #[inline]
    pub(super) fn on_delivery(&mut self, delivery: &Delivery<'_>, moment: &mut Moment<'_>) {
        moment.tally.counts.consumed += 1;
        let fields = ReplyFields::parse(&delivery.properties).unwrap_or_default();
        let request = fields.correlation_id.and_then(|id| self.in_flight.take(id));
        let Some(request) = request else {
            moment.tally.counts.stray_replies += 1;
            return;
        };
        moment.tally.counts.replies += 1;
        let round_trip = moment.now.saturating_sub(request.sent_at);
        moment.tally.measure(Latency::RoundTrip, round_trip, 1);
        moment.measured(round_trip);
        if self.callers[request.caller as usize].pace.is_some() {
            let intended = moment.now.saturating_sub(request.intended_at);
            moment.tally.measure(Latency::RoundTripIntended, intended, 1);
        }
        self.settle(request.caller as usize, moment);
    }

    /// A request is done with, one way or the other.
    fn settle(&mut self, index: usize, moment: &mut Moment<'_>) {
        let caller = &mut self.callers[index];
        if caller.room() == 0 {
            caller.roomy_since = moment.now;
        }
        caller.outstanding -= 1;
        if caller.is_done() {
            moment.callers_done += 1;
        }
        self.wake(index);
    }

    fn expire(&mut self, moment: &mut Moment<'_>) {
        let limit = (moment.now + 1).saturating_sub(self.timeout_nanos);
        while let Some(request) = self.in_flight.take_before(limit) {
            moment.tally.counts.requests_unanswered += 1;
            self.settle(request.caller as usize, moment);
        }
    }

    /// The connection is gone, and with it the way back of every reply.
    pub(super) fn lose(&mut self, moment: &mut Moment<'_>) {
        self.reply_to.fill(None);
        while let Some(request) = self.in_flight.take_before(u64::MAX) {
            moment.tally.counts.requests_unanswered += 1;
            self.settle(request.caller as usize, moment);
        }
    }

    /// Something could be sent at once.
    pub(super) fn has_due(&self) -> bool {
        !self.is_stopped && self.turns.is_anybody_ready()
    }

    /// When the next request is due, or the first is to be given up.
    pub(super) fn next_due(&self, can_send: bool) -> Option<u64> {
        let scheduled = self.turns.first_due().filter(|_| can_send && !self.is_stopped);
        let timeout = self.in_flight.oldest().map(|sent_at| sent_at + self.timeout_nanos);
        scheduled.into_iter().chain(timeout).min()
    }

    /// Requests without a reply.
    pub(super) fn outstanding(&self) -> u64 {
        self.in_flight.len()
    }

    /// Nothing more is sent: what should have been sent by now is overdue.
    pub(super) fn stop(&mut self, moment: &mut Moment<'_>) {
        self.is_stopped = true;
        let end = moment.now.saturating_sub(LATE_NANOS);
        for caller in &mut self.callers {
            let has_more = caller.limit.is_none_or(|limit| caller.sent < limit);
            let Some(pace) = caller.pace.as_mut().filter(|_| has_more) else { continue };
            while let Some(due) = pace.due().filter(|due| *due <= end) {
                pace.advance();
                moment.overdue(moment.now - due, &[Latency::RoundTripIntended]);
            }
        }
    }

    /// What has no reply gets none: it counts with its age.
    pub(super) fn give_up(&mut self, moment: &mut Moment<'_>) {
        while let Some(request) = self.in_flight.take_before(u64::MAX) {
            let age = |since: u64| moment.now.saturating_sub(since);
            let (actual, intended) = (age(request.sent_at), age(request.intended_at));
            moment.tally.measure_overdue(Latency::RoundTrip, actual);
            if self.callers[request.caller as usize].pace.is_some() {
                moment.tally.measure_overdue(Latency::RoundTripIntended, intended);
            }
        }
    }
}

/// Replies come without acknowledgement; RabbitMQ demands it for direct ones.
fn consume(channel: u16, queue: &str, connection: &mut Connection) {
    let consume = Request::Consume {
        queue,
        consumer_tag: "replies",
        no_local: false,
        auto_ack: true,
        exclusive: false,
        arguments: &Table::default(),
    };
    connection.request(channel, &consume);
}
