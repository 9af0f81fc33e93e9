//! Questions to the node: figures each second, and names for the processes of a window.
//!
//! The thread owns the connection. However it ends, the node removes the modules (`agent/README.md`).

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::{Duration, Instant},
};

use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError};
use rabbitscope_inside::{FiguresReader, IdentityModule, KnownIdentities, MessageCounters};
use rabbitscope_profiles::Profile;
use rabbitscope_runs::record::NodeFigures;

use super::{
    pace::{SECOND, STEP},
    report::{Answer, Origin, Report},
};

/// Pause after the first failure; it doubles up to the longest one. The node may log each attempt.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The thread that asks a node.
pub(super) struct Asking<'a> {
    connect: &'a ConnectOptions,
    /// Windows without names.
    windows: &'a Receiver<Box<Profile>>,
    reports: &'a Sender<Report>,
    stop: &'a AtomicBool,
    known: KnownIdentities,
    /// The latest counters with their time.
    counters: Option<(Instant, MessageCounters)>,
    failures: u32,
}

impl<'a> Asking<'a> {
    pub(super) fn new(
        connect: &'a ConnectOptions,
        windows: &'a Receiver<Box<Profile>>,
        reports: &'a Sender<Report>,
        stop: &'a AtomicBool,
    ) -> Self {
        let known = KnownIdentities::default();
        Self { connect, windows, reports, stop, known, counters: None, failures: 0 }
    }

    /// Asks until `stop` is set, or for good reasons not to ask again.
    pub(super) fn run(mut self) {
        while let Err(error) = self.ask() {
            self.failures += 1;
            self.counters = None;
            let obstacle = format!("The node is not asked: {error}");
            self.report(Report::Obstacle(Origin::Node, Some(obstacle)));
            let shift = self.failures.saturating_sub(1).min(10);
            let pause = FIRST_PAUSE.saturating_mul(1 << shift).min(LONGEST_PAUSE);
            let pause = if error.is_lasting() { Duration::MAX } else { pause };
            self.pass_on(pause);
        }
    }

    /// Connects, and asks until `stop` is set or the connection fails.
    fn ask(&mut self) -> Result<(), ErlangError> {
        if self.is_over() {
            return Ok(());
        }
        let connection = Connection::open(self.connect)?;
        let identities = IdentityModule::new(&connection)?;
        let mut figures = FiguresReader::new(&connection)?;
        self.report(Report::Obstacle(Origin::Node, None));
        let mut next = Instant::now();
        while !self.is_over() {
            if Instant::now() >= next {
                self.read(&mut figures)?;
                // Seconds that the node took too long for are not made up for.
                next = (next + SECOND).max(Instant::now());
            }
            let wait = next.saturating_duration_since(Instant::now()).min(STEP);
            match self.windows.recv_timeout(wait) {
                Ok(window) => self.name(window, Some(&identities))?,
                Err(RecvTimeoutError::Timeout) => {}
                // Nothing is recorded, or no longer.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(wait),
            }
        }
        Ok(())
    }

    fn read(&mut self, figures: &mut FiguresReader<'_>) -> Result<(), ErlangError> {
        let answer = figures.read()?;
        let at = Instant::now();
        self.failures = 0;
        let counted = answer.messages.map(|counters| (at, counters));
        let before = std::mem::replace(&mut self.counters, counted);
        let rates = before.zip(counted).map(|((before, earlier), (at, counters))| {
            counters.rates_since(&earlier, at.duration_since(before))
        });
        self.report(Report::Answer(Box::new(Answer {
            at,
            figures: NodeFigures::from_answer(|path| answer.numbers.get(path).copied()),
            rates: rates.unwrap_or_default(),
            memory_limit_bytes: answer.memory_limit_bytes,
        })));
        Ok(())
    }

    /// Adds the known names, and asks for others if there is a module.
    fn name(
        &mut self,
        mut window: Box<Profile>,
        identities: Option<&IdentityModule<'_>>,
    ) -> Result<(), ErlangError> {
        let named = self.known.resolve(identities, std::slice::from_mut(&mut *window));
        self.report(Report::Window(window));
        named
    }

    /// Passes windows on with the known names, for the length of `pause`.
    fn pass_on(&mut self, pause: Duration) {
        let until = Instant::now().checked_add(pause);
        while !self.is_over() && until.is_none_or(|until| Instant::now() < until) {
            match self.windows.recv_timeout(STEP) {
                // Without a module no request is made, so nothing can fail.
                Ok(window) => drop(self.name(window, None)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(STEP),
            }
        }
    }

    fn report(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
