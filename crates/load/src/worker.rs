//! A thread that owns many connections: waits for any of them, serves those that have work.

mod draining;
mod orders;
mod recovery;

use std::{
    io,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, channel},
    },
    thread,
    time::Duration,
};

use mio::{Events, Poll, Token, Waker};

use crate::{
    burst_limiter::BurstLimiter,
    clock::{SECOND, thread_cpu_nanos, thread_wait_nanos},
    connector::Arrivals,
    link::{Failure, Link, Moment, Wire},
    schedule::Schedule,
    self_check::Crew,
    tally::Tally,
    tempo::Tempo,
    timer::Timer,
    verify::Witness,
};
pub(crate) use orders::{Control, Orders, Part, Report};
use recovery::Standing;

/// Longest wait, so that orders from outside are seen soon.
const NAP_NANOS: u64 = SECOND / 20;

/// How long the broker may take to agree to the end of a connection.
const CLOSE_PATIENCE_NANOS: u64 = SECOND;

/// Read room beyond two frames of the largest size.
const SCRATCH_ROOM: usize = 64 * 1024;

const TIMER: Token = Token(usize::MAX);
const ARRIVAL: Token = Token(usize::MAX - 1);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Load,
    Drain { since: u64, is_confirming: bool },
    Close { since: u64 },
}

/// A thread's connections and its poll.
pub(crate) struct Worker {
    number: usize,
    poll: Poll,
    timer: Timer,
    links: Vec<Link>,
    /// Connections that were made again.
    arrivals: Receiver<(usize, Wire)>,
    door: (Arrivals, Arc<Waker>),
    /// How well each link has held.
    standings: Vec<Standing>,
    scratch: Vec<u8>,
    /// Links that have work, each at most once.
    queue: Vec<usize>,
    /// Those that are being served.
    serving: Vec<usize>,
    is_queued: Vec<bool>,
    /// When links are due that wait for their publishers' schedules.
    schedule: Schedule,
    tempo: Tempo,
    limiter: BurstLimiter,
    /// When the first link was due that waits in the queue for its publishers' schedules.
    queued_due: Option<u64>,
    tally: Tally,
    witness: Option<Witness>,
    interval_start: u64,
    cpu_at_start: u64,
    wait_at_start: u64,
    second: u32,
    stage: Stage,
    /// The load is over, but for what is due already.
    is_last_pass: bool,
    last_delivery: (u64, u64),
    /// When it was seen that the queues were empty, in nanoseconds since the run began.
    emptied_at: Option<u64>,
}

impl Worker {
    pub(crate) fn new(
        number: usize,
        links: Vec<Link>,
        frame_max: u32,
        step_nanos: Option<u64>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let timer = Timer::new(poll.registry(), TIMER)?;
        for (index, link) in links.iter().enumerate() {
            link.socket.register(poll.registry(), Token(index))?;
        }
        let waker = Arc::new(Waker::new(poll.registry(), ARRIVAL)?);
        let (sender, arrivals) = channel();
        let count = links.len();
        Ok(Self {
            number,
            poll,
            timer,
            arrivals,
            door: (sender, waker),
            standings: vec![Standing::default(); count],
            scratch: vec![0; 2 * frame_max as usize + SCRATCH_ROOM],
            queue: (0..count).collect(),
            serving: Vec::with_capacity(count),
            is_queued: vec![true; count],
            schedule: Schedule::new(count),
            tempo: Tempo::new(step_nanos),
            limiter: BurstLimiter::new(step_nanos),
            queued_due: None,
            tally: Tally::default(),
            witness: None,
            interval_start: 0,
            cpu_at_start: 0,
            wait_at_start: 0,
            second: 0,
            stage: Stage::Load,
            is_last_pass: false,
            last_delivery: (0, 0),
            emptied_at: None,
            links,
        })
    }

    /// Where connections that were made again are handed in.
    pub(crate) fn door(&self) -> (Arrivals, Arc<Waker>) {
        self.door.clone()
    }

    /// Runs to the end. Whatever happens, the last report is [`Report::Done`].
    pub(crate) fn run(mut self, orders: &Orders<'_>) {
        (self.cpu_at_start, self.wait_at_start) = (thread_cpu_nanos(), thread_wait_nanos());
        self.witness = orders.witness();
        self.links.iter_mut().for_each(|link| link.start(0));
        if let Err(failure) = self.turn_until_done(orders) {
            orders.reports.send(Report::Failed(failure)).ok();
        }
        if let Stage::Drain { is_confirming: true, .. } = self.stage {
            orders.control.confirming.fetch_sub(1, Ordering::Relaxed);
        }
        let draining = self.stage != Stage::Load;
        self.report(orders.clock.nanos(), draining, true, orders);
        orders.reports.send(Report::Done).ok();
    }

    fn turn_until_done(&mut self, orders: &Orders<'_>) -> Result<(), Failure> {
        let mut events = Events::with_capacity(1024);
        while self.advance(orders)? && !orders.control.abort.load(Ordering::Relaxed) {
            self.wait(&mut events, orders)?;
            self.serve_queue(orders)?;
        }
        Ok(())
    }

    /// Moves on in time: seconds, end of the load, end of the drain. False: all is done.
    fn advance(&mut self, orders: &Orders<'_>) -> Result<bool, Failure> {
        let now = orders.clock.nanos();
        match self.stage {
            Stage::Load => {
                let boundary = (u64::from(self.second) + 1) * SECOND;
                if now >= boundary && boundary < orders.end {
                    self.tick(orders)?;
                    self.report(now, false, false, orders);
                    self.second = u32::try_from(now / SECOND).unwrap_or(u32::MAX);
                }
                if now >= orders.end || orders.control.ending.load(Ordering::Relaxed) {
                    if !std::mem::replace(&mut self.is_last_pass, true) {
                        // What was held back, or fell due while the thread was kept from its CPU.
                        self.limiter.release(now);
                        self.tempo.hurry();
                        (0..self.links.len()).for_each(|index| self.enqueue(index));
                        return Ok(true);
                    }
                    self.tick(orders)?;
                    for link in &mut self.links {
                        link.stop_publishing(&mut moment(
                            &mut self.tally,
                            &mut self.witness,
                            &mut self.limiter,
                            orders,
                        ));
                    }
                    self.report(now, false, false, orders);
                    (0..self.links.len()).for_each(|index| self.enqueue(index));
                    orders.control.confirming.fetch_add(1, Ordering::Relaxed);
                    orders.control.draining.fetch_add(1, Ordering::Relaxed);
                    self.last_delivery = (self.tally.counts.consumed, now);
                    self.stage = Stage::Drain { since: now, is_confirming: true };
                }
            }
            Stage::Drain { since, is_confirming } => {
                self.drain_on(now, orders)?;
                if is_confirming && !self.awaits_confirms(since, now) {
                    orders.control.confirming.fetch_sub(1, Ordering::Relaxed);
                    self.stage = Stage::Drain { since, is_confirming: false };
                } else if !is_confirming && self.has_drained(since, now, orders) {
                    for link in &mut self.links {
                        link.finish(&mut moment(
                            &mut self.tally,
                            &mut self.witness,
                            &mut self.limiter,
                            orders,
                        ));
                    }
                    (0..self.links.len()).for_each(|index| self.enqueue(index));
                    self.stage = Stage::Close { since: now };
                }
            }
            Stage::Close { since } => {
                let patience = since + CLOSE_PATIENCE_NANOS;
                return Ok(now < patience && !self.links.iter().all(Link::is_closed));
            }
        }
        Ok(true)
    }

    fn outstanding(&self) -> u64 {
        self.links.iter().map(Link::outstanding).sum()
    }

    fn wait(&mut self, events: &mut Events, orders: &Orders<'_>) -> Result<(), Failure> {
        self.rest(orders);
        let now = orders.clock.nanos();
        self.wake_due(now);
        let nap = self.nap(now, orders)?;
        match self.poll.poll(events, Some(nap)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(Failure::wrong(format!("cannot wait for sockets: {error}"))),
        }
        for event in events.iter() {
            let Token(index) = match event.token() {
                TIMER => continue,
                ARRIVAL => {
                    self.welcome(orders)?;
                    continue;
                }
                link => link,
            };
            let readable = event.is_readable() || event.is_read_closed() || event.is_error();
            self.links[index].socket.wake(readable, event.is_writable());
            self.enqueue(index);
        }
        self.wake_due(orders.clock.nanos());
        Ok(())
    }

    /// Lets small things add up; see [`Tempo`].
    fn rest(&self, orders: &Orders<'_>) {
        let end = match self.stage {
            Stage::Load => orders.end,
            Stage::Drain { .. } if orders.awaits_empty => u64::MAX,
            Stage::Drain { .. } | Stage::Close { .. } => return,
        };
        if !self.queue.is_empty() {
            return;
        }
        let next = self.next_due().map_or(end, |due| end.min(due));
        let now = orders.clock.nanos();
        if let Some(rest) = self.tempo.rest_nanos(now, next.saturating_sub(now)) {
            thread::sleep(Duration::from_nanos(rest));
        }
    }

    /// When the first publisher that waits for its schedule may send.
    fn next_due(&self) -> Option<u64> {
        self.schedule.first().map(|due| due.max(self.tempo.pace_at()))
    }

    /// How long the poll may wait.
    fn nap(&self, now: u64, orders: &Orders<'_>) -> Result<Duration, Failure> {
        if !self.queue.is_empty() {
            return Ok(Duration::ZERO);
        }
        let mut until = now + NAP_NANOS;
        if self.stage == Stage::Load {
            until = until.min((u64::from(self.second) + 1) * SECOND).min(orders.end);
        }
        if let Some(due) = self.next_due()
            && due < until
            && !matches!(self.stage, Stage::Close { .. })
        {
            let armed = self.timer.arm(due.saturating_sub(now));
            armed.map_err(|error| Failure::wrong(format!("cannot set a timer: {error}")))?;
        }
        Ok(Duration::from_nanos(until.saturating_sub(now)))
    }

    fn wake_due(&mut self, now: u64) {
        if now < self.tempo.pace_at() {
            return;
        }
        let first = self.schedule.first().into_iter().chain(self.queued_due).min();
        self.limiter.nothing_before(first, now);
        while let Some(index) = self.schedule.take(now) {
            self.enqueue(index);
            self.queued_due = first;
        }
    }

    fn enqueue(&mut self, index: usize) {
        if !std::mem::replace(&mut self.is_queued[index], true) {
            self.queue.push(index);
        }
    }

    fn serve_queue(&mut self, orders: &Orders<'_>) -> Result<(), Failure> {
        self.serving.clear();
        std::mem::swap(&mut self.queue, &mut self.serving);
        for position in 0..self.serving.len() {
            let index = self.serving[position];
            self.is_queued[index] = false;
            if self.serve(index, orders)? {
                self.enqueue(index);
            }
        }
        self.queued_due = None;
        self.tempo.end_pass(orders.clock.nanos());
        Ok(())
    }

    fn serve(&mut self, index: usize, orders: &Orders<'_>) -> Result<bool, Failure> {
        let is_closing = matches!(self.stage, Stage::Close { .. });
        let link = &mut self.links[index];
        if !link.is_up() {
            return Ok(false);
        }
        let mut moment = moment(&mut self.tally, &mut self.witness, &mut self.limiter, orders);
        moment.is_pacing = moment.now >= self.tempo.pace_at();
        let more = link.serve(&mut self.scratch, &mut moment);
        orders.control.count_done(&moment);
        let due = link.next_due();
        let is_held_back = moment.holds_back(due);
        let (fastest, has_paced) = (moment.fastest, moment.has_paced);
        self.tempo.observe(fastest, has_paced || is_held_back);
        if let Some(due) = due {
            self.schedule.put(index, due);
        }
        match more {
            // The broker may close its side as soon as it has read our goodbye.
            Err(_) if is_closing => Ok(false),
            Err(failure) => self.lose(index, failure, orders).map(|()| false),
            more => more,
        }
    }

    fn tick(&mut self, orders: &Orders<'_>) -> Result<(), Failure> {
        for index in 0..self.links.len() {
            let mut moment = moment(&mut self.tally, &mut self.witness, &mut self.limiter, orders);
            let ticked = self.links[index].tick(&mut moment);
            ticked.or_else(|failure| self.lose(index, failure, orders))?;
        }
        Ok(())
    }

    fn crew(&self) -> Crew {
        let publishers = self.links.iter().map(Link::publishers).filter(|count| *count > 0);
        publishers.fold(Crew::default(), |crew, count| Crew {
            publishers: crew.publishers + count,
            connections: crew.connections + 1,
        })
    }

    fn report(&mut self, now: u64, draining: bool, is_last: bool, orders: &Orders<'_>) {
        // Before the report of the same time, so that the check is never behind the counts.
        self.witness.as_mut().map(Witness::send);
        let mut tally = std::mem::take(&mut self.tally);
        tally.park();
        let cpu = thread_cpu_nanos();
        let wait = thread_wait_nanos();
        tally.counts.client_cpu_nanos = cpu.saturating_sub(self.cpu_at_start);
        tally.counts.client_wait_nanos = wait.saturating_sub(self.wait_at_start);
        tally.outstanding = self.outstanding();
        tally.connections = self.links.iter().filter(|link| link.is_up()).count() as u64;
        self.last_delivery.0 = 0;
        let part = Part {
            worker: self.number,
            // Short drains are told in one piece.
            second: if draining && !orders.awaits_empty { 0 } else { self.second },
            start: self.interval_start,
            end: now,
            draining,
            is_last,
            tally,
            crew: self.crew(),
        };
        self.interval_start = now;
        (self.cpu_at_start, self.wait_at_start) = (cpu, wait);
        orders.reports.send(Report::Part(Box::new(part))).ok();
    }
}

fn moment<'a>(
    tally: &'a mut Tally,
    witness: &'a mut Option<Witness>,
    limiter: &'a mut BurstLimiter,
    orders: &Orders<'_>,
) -> Moment<'a> {
    Moment {
        now: orders.clock.nanos(),
        clock: orders.clock,
        mark: orders.mark,
        numbering: orders.numbering,
        tally,
        witness: witness.as_mut(),
        publishers_done: 0,
        consumers_done: 0,
        callers_done: 0,
        churners_done: 0,
        fastest: None,
        is_pacing: true,
        limiter,
        due_until: None,
        has_paced: false,
    }
}
