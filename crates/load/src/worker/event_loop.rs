//! A thread that owns many connections: it waits for all of them, and serves those with work.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    thread,
    time::Duration,
};

use mio::{Events, Poll, Token, Waker};
use rabbitscope_measurements::{Failure, IntervalReport, Report, Side};
use rabbitscope_timing::{Nanos, RunInstant};

use super::{
    context::WorkerContext,
    interval::IntervalState,
    pacing_state::PacingState,
    ready_links::ReadyLinks,
    reconnections::Reconnections,
    stage::{DrainProgress, Stage},
};
use crate::{connect::ReconnectedLinks, link::Link, pacing::Timer};

/// Longest wait for a socket. Flags that the coordinator sets are seen after it.
const MAX_POLL_WAIT: Nanos = Nanos::from_micros(50_000);

/// Timeout for the broker's agreement to close a connection. The broker answers at once unless it is overloaded. A run
/// must not wait longer, as it no longer measures anything.
pub(crate) const CLOSE_TIMEOUT: Nanos = Nanos::SECOND;

/// Size of the read buffer beyond two frames of the largest size. It holds an incomplete frame and at least one more
/// read.
const SCRATCH_BYTES: usize = 64 * 1024;

/// Events per wake-up; the next wake-up returns further ones.
const EVENTS_MAX: usize = 1024;

const TIMER: Token = Token(usize::MAX);
const RECONNECTED: Token = Token(usize::MAX - 1);

/// A thread's connections and their poll.
pub(crate) struct Worker {
    pub(super) number: usize,
    pub(super) poll: Poll,
    timer: Timer,
    pub(super) links: Vec<Link>,
    pub(super) ready: ReadyLinks,
    pub(super) pacing: PacingState,
    pub(super) interval: IntervalState,
    pub(super) reconnections: Reconnections,
    pub(super) stage: Stage,
    pub(super) drain: DrainProgress,
    /// The report of the load's last interval.
    pub(super) held: Option<Box<IntervalReport>>,
    scratch: Vec<u8>,
}

impl Worker {
    /// Creates a worker. `frame_max` is the largest frame of all connections, in bytes. `step` is the interval between
    /// passes, if the scenario sets it.
    pub(crate) fn new(
        number: usize,
        links: Vec<Link>,
        frame_max: u32,
        step: Option<Duration>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let timer = Timer::new(poll.registry(), TIMER)?;
        for (index, link) in links.iter().enumerate() {
            link.register(poll.registry(), Token(index))?;
        }
        let waker = Waker::new(poll.registry(), RECONNECTED)?;
        let count = links.len();
        Ok(Self {
            number,
            poll,
            timer,
            ready: ReadyLinks::all(count),
            pacing: PacingState::new(count, step),
            interval: IntervalState::default(),
            reconnections: Reconnections::new(count, waker),
            stage: Stage::Load { is_last_pass: false },
            drain: DrainProgress::default(),
            held: None,
            scratch: vec![0; 2 * frame_max as usize + SCRATCH_BYTES],
            links,
        })
    }

    /// Returns the side of the load that each connection serves.
    pub(crate) fn sides(&self) -> impl Iterator<Item = Side> {
        self.links.iter().map(Link::side)
    }

    /// Returns the sender for replaced connections, and the waker to call afterwards.
    pub(crate) fn inbox(&self) -> (ReconnectedLinks, Arc<Waker>) {
        self.reconnections.inbox()
    }

    /// Runs to the end. In any case, the last report is [`Report::Done`].
    pub(crate) fn run(mut self, context: &WorkerContext<'_>) {
        self.interval.begin(context);
        self.links.iter_mut().for_each(|link| link.start(RunInstant::START));
        if let Err(failure) = self.run_stages(context) {
            context.reports.send(Report::Failed(failure)).ok();
        }
        if let Stage::Drain { is_confirming: true, .. } = self.stage {
            context.shared.confirming.fetch_sub(1, Ordering::Relaxed);
        }
        self.release_report(false, context);
        self.give_up(context);
        self.report(context.now(), true, context);
        context.reports.send(Report::Done).ok();
    }

    fn run_stages(&mut self, context: &WorkerContext<'_>) -> Result<(), Failure> {
        let mut events = Events::with_capacity(EVENTS_MAX);
        while self.advance(context)? && !context.shared.abort.load(Ordering::Relaxed) {
            self.wait(&mut events, context)?;
            self.serve_ready(context)?;
        }
        Ok(())
    }

    /// Ends seconds and stages that are over. Returns false after the last stage.
    fn advance(&mut self, context: &WorkerContext<'_>) -> Result<bool, Failure> {
        let now = context.now();
        self.interval.note_poll(now);
        match self.stage {
            Stage::Load { is_last_pass } => self.continue_load(is_last_pass, now, context)?,
            Stage::Drain { since, is_confirming } => {
                self.continue_drain((since, is_confirming), now, context)?;
            }
            Stage::Close { since } => {
                let has_time = now < since + CLOSE_TIMEOUT;
                return Ok(has_time && !self.links.iter().all(Link::is_closed));
            }
        }
        Ok(true)
    }

    fn continue_load(
        &mut self,
        is_last_pass: bool,
        now: RunInstant,
        context: &WorkerContext<'_>,
    ) -> Result<(), Failure> {
        let boundary = self.interval.boundary();
        if now >= boundary && boundary < context.end {
            self.tick(context)?;
            self.report(now, false, context);
            self.interval.enter_second(now);
        }
        let is_over = now >= context.end || context.shared.ending.load(Ordering::Relaxed);
        if is_over && is_last_pass {
            self.begin_drain(now, context)?;
        } else if is_over {
            self.pacing.release(now);
            self.ready.push_all();
            self.stage = Stage::Load { is_last_pass: true };
        }
        Ok(())
    }

    fn wait(&mut self, events: &mut Events, context: &WorkerContext<'_>) -> Result<(), Failure> {
        self.rest(context);
        let now = context.now();
        self.pacing.wake_due(now, &mut self.ready);
        let longest = self.poll_wait(now, context)?;
        match self.poll.poll(events, Some(longest)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(Failure::wrong(format!("cannot wait for sockets: {error}"))),
        }
        for event in events.iter() {
            let Token(index) = match event.token() {
                TIMER => {
                    self.timer.end();
                    continue;
                }
                RECONNECTED => {
                    self.on_reconnect(context)?;
                    continue;
                }
                link => link,
            };
            let readable = event.is_readable() || event.is_read_closed() || event.is_error();
            self.links[index].wake(readable, event.is_writable());
            self.ready.push(index);
        }
        self.pacing.wake_due(context.now(), &mut self.ready);
        Ok(())
    }

    /// Sleeps for a small part of the latency, so that a pass serves more than one packet. See
    /// [`crate::pacing::Pacer`].
    fn rest(&self, context: &WorkerContext<'_>) {
        let end = match self.stage {
            Stage::Load { .. } => context.end,
            Stage::Drain { .. } if context.awaits_empty => RunInstant::NEVER,
            Stage::Drain { .. } | Stage::Close { .. } => return,
        };
        if !self.ready.is_empty() {
            return;
        }
        let next = self.pacing.next_due().map_or(end, |due| end.min(due));
        let now = context.now();
        if let Some(rest) = self.pacing.pacer.rest(now, next.since(now)) {
            thread::sleep(rest.into());
        }
    }

    /// Returns the longest wait of the poll. The timer interrupts the wait for a schedule.
    fn poll_wait(
        &mut self,
        now: RunInstant,
        context: &WorkerContext<'_>,
    ) -> Result<Duration, Failure> {
        if !self.ready.is_empty() {
            return Ok(Duration::ZERO);
        }
        let mut until = now + MAX_POLL_WAIT;
        if self.stage.is_load() {
            until = until.min(self.interval.boundary()).min(context.end);
        }
        if let Some(due) = self.pacing.next_due()
            && due < until
            && !matches!(self.stage, Stage::Close { .. })
        {
            let armed = self.timer.arm(due, now);
            armed.map_err(|error| Failure::wrong(format!("cannot set a timer: {error}")))?;
        }
        Ok(until.since(now).into())
    }

    fn serve_ready(&mut self, context: &WorkerContext<'_>) -> Result<(), Failure> {
        for position in 0..self.ready.begin_pass() {
            let index = self.ready.take(position);
            if self.serve(index, context)? {
                self.ready.push(index);
            }
        }
        self.pacing.end_pass(context.now());
        Ok(())
    }

    /// Serves one link. Returns true if it has more work at once.
    fn serve(&mut self, index: usize, context: &WorkerContext<'_>) -> Result<bool, Failure> {
        let link = &mut self.links[index];
        if !link.is_up() {
            return Ok(false);
        }
        let mut serve = self.interval.serve_context(&mut self.pacing.limiter, context);
        serve.pass.is_on = serve.now >= self.pacing.pacer.pace_at();
        let more = link.serve(&mut self.scratch, &mut serve);
        let due = link.next_due();
        let is_held_back = serve.holds_back(due);
        let (outcome, has_paced) = (serve.outcome, serve.pass.has_paced);
        context.shared.count_done(outcome.done);
        self.pacing.pacer.observe(outcome.fastest, has_paced || is_held_back);
        if let Some(due) = due {
            self.pacing.put(index, due);
        }
        match more {
            // The broker may close its side as soon as it has read the client's `connection.close`.
            Err(_) if matches!(self.stage, Stage::Close { .. }) => Ok(false),
            Err(failure) => self.on_disconnect(index, failure, context).map(|()| false),
            more => more,
        }
    }

    /// Ends a second for every link.
    pub(super) fn tick(&mut self, context: &WorkerContext<'_>) -> Result<(), Failure> {
        for index in 0..self.links.len() {
            let mut serve = self.interval.serve_context(&mut self.pacing.limiter, context);
            if let Some(token) = context.token {
                self.links[index].renew(token);
            }
            let ticked = self.links[index].tick(&mut serve);
            ticked.or_else(|failure| self.on_disconnect(index, failure, context))?;
        }
        Ok(())
    }
}
