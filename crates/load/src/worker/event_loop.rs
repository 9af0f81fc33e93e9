//! A thread that owns many connections: it waits for all of them and serves those that have work.

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

use super::{backoff::Backoff, context::WorkerContext};
use crate::{
    clock::{SECOND, thread_cpu_nanos, thread_wait_nanos},
    connect::{PreparedConnection, ReconnectedLinks},
    link::{Link, ServeContext},
    pacing::{BurstLimiter, DueQueue, Pacer, Timer},
    report::{Failure, IntervalMeasurements, ObservationRecorder, Report, Side},
};

/// Longest wait, so that orders from outside are seen soon.
const NAP_NANOS: u64 = SECOND / 20;

/// How long the broker may take to agree to the end of a connection.
const CLOSE_PATIENCE_NANOS: u64 = SECOND;

/// Read room beyond two frames of the largest size.
const SCRATCH_ROOM: usize = 64 * 1024;

const TIMER: Token = Token(usize::MAX);

const ARRIVAL: Token = Token(usize::MAX - 1);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Load,
    Drain { since: u64, is_confirming: bool },
    Close { since: u64 },
}

/// A thread's connections and its poll.
pub(crate) struct Worker {
    pub(super) number: usize,
    pub(super) poll: Poll,
    timer: Timer,
    pub(super) links: Vec<Link>,
    /// Connections that were made again.
    pub(super) reconnected: Receiver<(usize, PreparedConnection)>,
    inbox: (ReconnectedLinks, Arc<Waker>),
    /// How well each link has held.
    pub(super) backoffs: Vec<Backoff>,
    scratch: Vec<u8>,
    /// Links that have work, each at most once.
    queue: Vec<usize>,
    /// Those that are being served.
    serving: Vec<usize>,
    is_queued: Vec<bool>,
    /// When links are due that wait for their publishers' schedules.
    due_queue: DueQueue,
    pacer: Pacer,
    pub(super) limiter: BurstLimiter,
    /// When the first link was due that waits in the queue for its publishers' schedules.
    queued_due: Option<u64>,
    pub(super) measured: IntervalMeasurements,
    pub(super) recorder: Option<ObservationRecorder>,
    pub(super) interval_start: u64,
    pub(super) cpu_at_start: u64,
    pub(super) wait_at_start: u64,
    pub(super) second: u32,
    /// Since when no socket was looked at, and the longest such time of this second, in nanoseconds.
    pub(super) away: (u64, u64),
    pub(super) stage: Stage,
    /// The load is over, but for what is due already.
    is_last_pass: bool,
    pub(super) last_delivery: (u64, u64),
    /// When it was seen that the queues were empty, in nanoseconds since the run began.
    pub(super) emptied_at: Option<u64>,
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
            link.socket().register(poll.registry(), Token(index))?;
        }
        let waker = Arc::new(Waker::new(poll.registry(), ARRIVAL)?);
        let (sender, reconnected) = channel();
        let count = links.len();
        Ok(Self {
            number,
            poll,
            timer,
            reconnected,
            inbox: (sender, waker),
            backoffs: vec![Backoff::default(); count],
            scratch: vec![0; 2 * frame_max as usize + SCRATCH_ROOM],
            queue: (0..count).collect(),
            serving: Vec::with_capacity(count),
            is_queued: vec![true; count],
            due_queue: DueQueue::new(count),
            pacer: Pacer::new(step_nanos),
            limiter: BurstLimiter::new(step_nanos),
            queued_due: None,
            measured: IntervalMeasurements::default(),
            recorder: None,
            interval_start: 0,
            cpu_at_start: 0,
            wait_at_start: 0,
            second: 0,
            away: (0, 0),
            stage: Stage::Load,
            is_last_pass: false,
            last_delivery: (0, 0),
            emptied_at: None,
            links,
        })
    }

    /// What its connections do for the run.
    pub(crate) fn sides(&self) -> impl Iterator<Item = Side> {
        self.links.iter().map(Link::side)
    }

    /// Where connections that were made again are handed in.
    pub(crate) fn inbox(&self) -> (ReconnectedLinks, Arc<Waker>) {
        self.inbox.clone()
    }

    /// Runs to the end. Whatever happens, the last report is [`Report::Done`].
    pub(crate) fn run(mut self, orders: &WorkerContext<'_>) {
        (self.cpu_at_start, self.wait_at_start) = (thread_cpu_nanos(), thread_wait_nanos());
        self.recorder = orders.recorder();
        self.links.iter_mut().for_each(|link| link.start(0));
        if let Err(failure) = self.turn_until_done(orders) {
            orders.reports.send(Report::Failed(failure)).ok();
        }
        if let Stage::Drain { is_confirming: true, .. } = self.stage {
            orders.shared.confirming.fetch_sub(1, Ordering::Relaxed);
        }
        self.give_up(orders);
        let draining = self.stage != Stage::Load;
        self.report(orders.clock.nanos(), draining, true, orders);
        orders.reports.send(Report::Done).ok();
    }

    fn turn_until_done(&mut self, orders: &WorkerContext<'_>) -> Result<(), Failure> {
        let mut events = Events::with_capacity(1024);
        while self.advance(orders)? && !orders.shared.abort.load(Ordering::Relaxed) {
            self.wait(&mut events, orders)?;
            self.serve_queue(orders)?;
        }
        Ok(())
    }

    /// Moves on in time: seconds, end of the load, end of the drain. False: all is done.
    fn advance(&mut self, orders: &WorkerContext<'_>) -> Result<bool, Failure> {
        let now = orders.clock.nanos();
        self.note_presence(now);
        match self.stage {
            Stage::Load => {
                let boundary = (u64::from(self.second) + 1) * SECOND;
                if now >= boundary && boundary < orders.end {
                    self.tick(orders)?;
                    self.report(now, false, false, orders);
                    self.second = u32::try_from(now / SECOND).unwrap_or(u32::MAX);
                }
                if now >= orders.end || orders.shared.ending.load(Ordering::Relaxed) {
                    if !std::mem::replace(&mut self.is_last_pass, true) {
                        // What was held back, or fell due while the thread was kept from its CPU.
                        self.limiter.release(now);
                        self.pacer.hurry();
                        (0..self.links.len()).for_each(|index| self.enqueue(index));
                        return Ok(true);
                    }
                    self.tick(orders)?;
                    for link in &mut self.links {
                        link.stop_publishing(&mut serve_context(
                            &mut self.measured,
                            &mut self.recorder,
                            &mut self.limiter,
                            orders,
                        ));
                    }
                    self.report(now, false, false, orders);
                    (0..self.links.len()).for_each(|index| self.enqueue(index));
                    orders.shared.confirming.fetch_add(1, Ordering::Relaxed);
                    orders.shared.draining.fetch_add(1, Ordering::Relaxed);
                    self.last_delivery = (self.delivered(orders), now);
                    self.stage = Stage::Drain { since: now, is_confirming: true };
                }
            }
            Stage::Drain { since, is_confirming } => {
                self.drain_on(now, orders)?;
                if is_confirming && !self.awaits_confirms(since, now) {
                    orders.shared.confirming.fetch_sub(1, Ordering::Relaxed);
                    self.stage = Stage::Drain { since, is_confirming: false };
                } else if !is_confirming && self.has_drained(since, now, orders) {
                    for link in &mut self.links {
                        link.finish(&mut serve_context(
                            &mut self.measured,
                            &mut self.recorder,
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

    fn wait(&mut self, events: &mut Events, orders: &WorkerContext<'_>) -> Result<(), Failure> {
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
                    self.take_reconnected(orders)?;
                    continue;
                }
                link => link,
            };
            let readable = event.is_readable() || event.is_read_closed() || event.is_error();
            self.links[index].wake(readable, event.is_writable());
            self.enqueue(index);
        }
        self.wake_due(orders.clock.nanos());
        Ok(())
    }

    /// Lets small things add up; see [`Pacer`].
    fn rest(&self, orders: &WorkerContext<'_>) {
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
        if let Some(rest) = self.pacer.rest_nanos(now, next.saturating_sub(now)) {
            thread::sleep(Duration::from_nanos(rest));
        }
    }

    /// When the first publisher that waits for its schedule may send.
    fn next_due(&self) -> Option<u64> {
        self.due_queue.first().map(|due| due.max(self.pacer.pace_at()))
    }

    /// How long the poll may wait.
    fn nap(&self, now: u64, orders: &WorkerContext<'_>) -> Result<Duration, Failure> {
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
        if now < self.pacer.pace_at() {
            return;
        }
        let first = self.due_queue.first().into_iter().chain(self.queued_due).min();
        self.limiter.nothing_before(first, now);
        while let Some(index) = self.due_queue.take(now) {
            self.enqueue(index);
            self.queued_due = first;
        }
    }

    pub(super) fn enqueue(&mut self, index: usize) {
        if !std::mem::replace(&mut self.is_queued[index], true) {
            self.queue.push(index);
        }
    }

    fn serve_queue(&mut self, orders: &WorkerContext<'_>) -> Result<(), Failure> {
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
        self.pacer.end_pass(orders.clock.nanos());
        Ok(())
    }

    fn serve(&mut self, index: usize, orders: &WorkerContext<'_>) -> Result<bool, Failure> {
        let is_closing = matches!(self.stage, Stage::Close { .. });
        let link = &mut self.links[index];
        if !link.is_up() {
            return Ok(false);
        }
        let mut context =
            serve_context(&mut self.measured, &mut self.recorder, &mut self.limiter, orders);
        context.is_pacing = context.now >= self.pacer.pace_at();
        let more = link.serve(&mut self.scratch, &mut context);
        orders.shared.count_done(&context);
        let due = link.next_due();
        let is_held_back = context.holds_back(due);
        let (fastest, has_paced) = (context.fastest, context.has_paced);
        self.pacer.observe(fastest, has_paced || is_held_back);
        if let Some(due) = due {
            self.due_queue.put(index, due);
        }
        match more {
            // The broker may close its side as soon as it has read our goodbye.
            Err(_) if is_closing => Ok(false),
            Err(failure) => self.on_disconnect(index, failure, orders).map(|()| false),
            more => more,
        }
    }

    pub(super) fn tick(&mut self, orders: &WorkerContext<'_>) -> Result<(), Failure> {
        for index in 0..self.links.len() {
            let mut context =
                serve_context(&mut self.measured, &mut self.recorder, &mut self.limiter, orders);
            let ticked = self.links[index].tick(&mut context);
            ticked.or_else(|failure| self.on_disconnect(index, failure, orders))?;
        }
        Ok(())
    }
}

pub(super) fn serve_context<'a>(
    measured: &'a mut IntervalMeasurements,
    recorder: &'a mut Option<ObservationRecorder>,
    limiter: &'a mut BurstLimiter,
    orders: &WorkerContext<'a>,
) -> ServeContext<'a> {
    ServeContext {
        now: orders.clock.nanos(),
        clock: orders.clock,
        run_tag: orders.run_tag,
        numbering: orders.numbering,
        measured,
        service: &orders.shared.service,
        is_consumed: orders.is_consumed,
        recorder: recorder.as_mut(),
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
