//! Callers on one connection: each sends requests and waits for the replies.

use rabbitscope_amqp::{
    Addressed, Connection, Delivery, Event, Reply, ReplyFields, Request, Table,
    protocol::frames::DIRECT_REPLY_TO,
};
use rabbitscope_measurements::{Failure, Side};
use rabbitscope_runs::{
    Random,
    record::Latency,
    scenario::{MemberQueues, ReplyPath, RequestGroup, WriteMode, assigned_queues},
};
use rabbitscope_timing::{Nanos, RunInstant};

use super::{
    caller::Caller,
    in_flight::{InFlight, Waiting},
};
use crate::{
    link::{
        amqp091::{self, Amqp091Role},
        limits::{CHUNK, write_rounds},
        role::{EventHandler, Role},
        serve_context::ServeContext,
        socket::Socket,
    },
    pacing::{ArrivalSchedule, ClientDelay, LATE_TOLERANCE, RoundRobin},
    plan::Placement,
};

/// Requests that a caller may send before the other callers of its connection send. The same as for publishers.
const QUANTUM: u64 = 64;

/// Bytes of a request on the wire besides its body, approximately: two frame headers, method,
/// properties with correlation id and reply-to.
const OVERHEAD: usize = 128;

pub(in crate::link) struct Calling {
    queues: Vec<String>,
    reply: ReplyPath,
    body: Vec<u8>,
    persistent: bool,
    write: WriteMode,
    timeout: Nanos,
    callers: Vec<Caller>,
    /// By channel number: the queue for replies. Absent until its name is known.
    reply_to: Vec<Option<String>>,
    round_robin: RoundRobin,
    in_flight: InFlight,
    /// Callers whose schedule has no request at all, until they count as done.
    without_any: usize,
    has_schedule: bool,
    is_stopped: bool,
}

impl Calling {
    pub(in crate::link) fn new(
        group: &RequestGroup,
        random: &Random,
        placements: &[Placement],
        queues: &[String],
    ) -> Self {
        let schedule = group.schedule();
        let arrivals = |member| {
            let seed = random.schedule_seed(member);
            ArrivalSchedule::new(&schedule, member, group.count, seed, RunInstant::START)
        };
        let callers: Vec<Caller> = placements
            .iter()
            .map(|placement| Caller {
                channel: placement.channel,
                queues: assigned_queues(
                    MemberQueues::Share,
                    placement.member,
                    group.count,
                    queues.len(),
                )
                .collect(),
                turn: 0,
                concurrency: group.concurrency,
                limit: group.messages,
                arrivals: arrivals(placement.member),
                sent: 0,
                outstanding: 0,
                roomy_since: RunInstant::START,
                delay: ClientDelay::default(),
            })
            .collect();
        let channels = placements.iter().map(|placement| placement.channel).max().unwrap_or(0);
        Self {
            queues: queues.to_vec(),
            reply: group.reply,
            body: vec![0; group.size_bytes as usize],
            persistent: group.persistent,
            write: group.write,
            timeout: group.timeout.into(),
            reply_to: vec![None; usize::from(channels) + 1],
            round_robin: RoundRobin::new(callers.len()),
            without_any: callers.iter().filter(|caller| caller.has_sent_all()).count(),
            callers,
            in_flight: InFlight::default(),
            has_schedule: schedule.is_set(),
            is_stopped: false,
        }
    }

    fn open(&mut self, channel: u16, reply_to: String, now: RunInstant) {
        let Some(place) = self.reply_to.get_mut(usize::from(channel)) else { return };
        *place = Some(reply_to);
        for index in 0..self.callers.len() {
            if self.callers[index].channel == channel {
                self.callers[index].roomy_since = now;
                self.wake(index);
            }
        }
    }

    /// Queues a caller that can send now, or schedules it for its next request.
    fn wake(&mut self, index: usize) {
        let caller = &self.callers[index];
        let is_open = self.reply_to[usize::from(caller.channel)].is_some();
        if !is_open || caller.room() == 0 {
            return;
        }
        match &caller.arrivals {
            None => self.round_robin.enqueue(index),
            Some(arrivals) => {
                if let Some(due) = arrivals.due() {
                    self.round_robin.enqueue_at(index, due);
                }
            }
        }
    }

    fn send(
        &mut self,
        index: usize,
        room: &mut usize,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> u64 {
        let caller = &mut self.callers[index];
        let Some(reply_to) = &self.reply_to[usize::from(caller.channel)] else { return 0 };
        let size = self.body.len() + OVERHEAD;
        let most = caller.room().min(QUANTUM).min((*room / size).max(1) as u64);
        let mut count = 0;
        while count < most
            && let Some(intended_at) = caller.take_turn(socket.ready_since(), context)
        {
            count += 1;
            let queue = caller.next_queue();
            let id = self.in_flight.push(Waiting {
                sent_at: context.now,
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
        context.pass.has_paced |= caller.arrivals.is_some() && count > 0;
        *room = room.saturating_sub(size * usize::try_from(count).unwrap_or(1));
        socket.sent(caller.channel, count, context);
        count
    }

    /// Settles a request that has its reply, or will get none.
    fn settle(&mut self, index: usize, context: &mut ServeContext<'_>) {
        let caller = &mut self.callers[index];
        if caller.room() == 0 {
            caller.roomy_since = context.now;
        }
        caller.outstanding -= 1;
        if caller.is_done() {
            context.outcome.done.callers += 1;
        }
        self.wake(index);
    }

    fn expire(&mut self, context: &mut ServeContext<'_>) {
        while let Some(sent_at) = self.in_flight.oldest()
            && sent_at + self.timeout <= context.now
            && let Some(request) = self.in_flight.take_before(RunInstant::NEVER)
        {
            context.measured.counts.requests_unanswered += 1;
            self.settle(request.caller as usize, context);
        }
    }
}

impl Role for Calling {
    type Wire = Connection;

    fn start(&mut self, now: RunInstant, connection: &mut Connection) {
        for channel in 1..self.reply_to.len() {
            let number = u16::try_from(channel).unwrap_or(u16::MAX);
            match self.reply {
                ReplyPath::Direct => {
                    consume(number, DIRECT_REPLY_TO, connection);
                    self.open(number, DIRECT_REPLY_TO.to_owned(), now);
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

    fn encode(
        &mut self,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        self.expire(context);
        context.outcome.done.callers += std::mem::take(&mut self.without_any);
        if self.is_stopped || !socket.can_publish() {
            return Ok(false);
        }
        socket.write_as(self.write);
        context.begin(self.has_schedule);
        if let Some(until) = context.pass.due_until {
            self.round_robin.advance(until);
        }
        // The first request always fits.
        let mut room = if self.write == WriteMode::Batched { CHUNK } else { 1 };
        let mut encoded = 0;
        while room > 0
            && let Some(index) = self.round_robin.next()
        {
            encoded += self.send(index, &mut room, socket, context);
            self.wake(index);
        }
        socket.encoded(encoded);
        context.measured.counts.requests += encoded;
        Ok(encoded > 0)
    }

    fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        self.reply_to.fill(None);
        while let Some(request) = self.in_flight.take_before(RunInstant::NEVER) {
            context.measured.counts.requests_unanswered += 1;
            self.settle(request.caller as usize, context);
        }
    }

    fn has_due(&self, _context: &ServeContext<'_>) -> bool {
        !self.is_stopped && self.round_robin.is_anybody_ready()
    }

    fn next_due(&self, can_publish: bool) -> Option<RunInstant> {
        let scheduled = self.round_robin.first_due().filter(|_| can_publish && !self.is_stopped);
        let timeout = self.in_flight.oldest().map(|sent_at| sent_at + self.timeout);
        scheduled.into_iter().chain(timeout).min()
    }

    fn stop(&mut self, _connection: &mut Connection, context: &mut ServeContext<'_>) {
        self.is_stopped = true;
        let now = context.now;
        for caller in &mut self.callers {
            let has_more = caller.limit.is_none_or(|limit| caller.sent < limit);
            let Some(arrivals) = caller.arrivals.as_mut().filter(|_| has_more) else { continue };
            while let Some(due) = arrivals.due().filter(|due| *due + LATE_TOLERANCE <= now) {
                arrivals.advance();
                context.overdue(now.since(due), &[Latency::RoundTripIntended]);
            }
        }
    }

    fn give_up(&mut self, context: &mut ServeContext<'_>) {
        while let Some(request) = self.in_flight.take_before(RunInstant::NEVER) {
            let age = |since| context.now.since(since);
            let (actual, intended) = (age(request.sent_at), age(request.intended_at));
            context.measured.measure_overdue(Latency::RoundTrip, actual);
            if self.callers[request.caller as usize].arrivals.is_some() {
                context.measured.measure_overdue(Latency::RoundTripIntended, intended);
            }
        }
    }

    fn side(&self) -> Side {
        Side::Sending
    }

    fn write_rounds(&self) -> u32 {
        write_rounds(self.write)
    }

    fn is_owed(&self) -> bool {
        self.in_flight.len() > 0
    }

    fn awaited(&self) -> u64 {
        self.in_flight.len()
    }
}

impl EventHandler for Calling {
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

impl Amqp091Role for Calling {
    fn on_reply(
        &mut self,
        channel: u16,
        reply: Reply,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        if let Reply::QueueDeclared { queue, .. } = reply {
            consume(channel, &queue, connection);
            self.open(channel, queue, context.now);
        }
        Ok(())
    }

    #[inline]
    fn on_delivery(
        &mut self,
        delivery: &Delivery<'_>,
        _socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) {
        context.measured.counts.consume_at_once();
        let fields = ReplyFields::parse(&delivery.properties).unwrap_or_default();
        let request = fields.correlation_id.and_then(|id| self.in_flight.take(id));
        let Some(request) = request else {
            context.measured.counts.stray_replies += 1;
            return;
        };
        context.measured.counts.replies += 1;
        let round_trip = context.now.since(request.sent_at);
        context.measured.measure(Latency::RoundTrip, round_trip, 1);
        context.measured(round_trip);
        if self.callers[request.caller as usize].arrivals.is_some() {
            let intended = context.now.since(request.intended_at);
            context.measured.measure(Latency::RoundTripIntended, intended, 1);
        }
        self.settle(request.caller as usize, context);
    }
}

/// Consumes replies without acknowledgement, which RabbitMQ requires for direct replies.
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
