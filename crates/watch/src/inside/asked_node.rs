//! A node that is asked: a thread with a connection, and two modules that it loads into the node.
//!
//! However the thread, the connection or this program ends, the node removes the modules (`agent/README.md`). Every
//! accepted window is sent back, with the names of its processes or with the reason why there are none.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{Connection, ErlangError};
use rabbitscope_inside::{FiguresReader, IdentityModule, KnownIdentities, NodeFigures};
use rabbitscope_probe::NodeWindow;
use rabbitscope_terminal::output;

use super::connecting::connect_options;
use crate::{config::InsideOptions, inbox::Event, labelled_window::LabelledWindow};

/// Number of windows that wait for the node. Further windows are delivered without names.
const MAX_WAITING: usize = 2;

/// Pause after the first failed attempt. It doubles up to the longest pause. A node takes some seconds to boot.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// Number of attempts after which a failure is reported.
const QUIET_ATTEMPTS: u32 = 3;

/// The readings of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeReading {
    /// The latest reading and its time.
    pub(crate) last: Option<(Instant, NodeFigures)>,
    /// Set if a reading has failed.
    pub(crate) has_failed: bool,
}

/// The place to which the threads of all nodes report.
#[derive(Clone)]
pub(super) struct Report {
    pub(super) events: Sender<Event>,
    /// Number of failed readings, including those of ended nodes, because a counter must not decrease.
    pub(super) failed: Arc<AtomicU64>,
}

/// The thread of a node. It ends after this value is dropped.
pub(super) struct AskedNode {
    windows: SyncSender<LabelledWindow>,
    reading: Arc<Mutex<NodeReading>>,
}

impl AskedNode {
    pub(super) fn start(
        pid: u32,
        name: &str,
        options: InsideOptions,
        figures: Option<Duration>,
        report: &Report,
    ) -> std::io::Result<Self> {
        let (windows, waiting) = sync_channel(MAX_WAITING);
        let reading = Arc::<Mutex<NodeReading>>::default();
        let mut thread = NodeThread {
            pid,
            name: name.to_owned(),
            options,
            figures,
            waiting,
            report: report.clone(),
            reading: Arc::clone(&reading),
            known: KnownIdentities::default(),
            attempts: 0,
            is_without_statistics: false,
        };
        thread::Builder::new().name("inside".to_owned()).spawn(move || thread.run())?;
        Ok(Self { windows, reading })
    }

    /// Offers a window to the thread. Returns the window if the thread cannot accept it.
    pub(super) fn offer(&self, window: LabelledWindow) -> Option<LabelledWindow> {
        match self.windows.try_send(window) {
            Ok(()) => None,
            Err(TrySendError::Full(window) | TrySendError::Disconnected(window)) => Some(window),
        }
    }

    pub(super) fn reading(&self) -> NodeReading {
        locked(&self.reading).clone()
    }
}

fn locked(reading: &Mutex<NodeReading>) -> MutexGuard<'_, NodeReading> {
    reading.lock().unwrap_or_else(PoisonError::into_inner)
}

struct NodeThread {
    pid: u32,
    name: String,
    options: InsideOptions,
    figures: Option<Duration>,
    waiting: Receiver<LabelledWindow>,
    report: Report,
    reading: Arc<Mutex<NodeReading>>,
    known: KnownIdentities,
    /// Number of failures since the last answer.
    attempts: u32,
    /// Set once the user was told that the node keeps no statistics.
    is_without_statistics: bool,
}

/// No sender of windows is left.
struct Ended;

impl NodeThread {
    fn run(&mut self) {
        loop {
            let failed = match self.serve() {
                Ok(Ended) => return,
                Err(error) => error,
            };
            self.fail(&failed);
            let shift = self.attempts.saturating_sub(1).min(10);
            let pause = FIRST_PAUSE.saturating_mul(1 << shift).min(LONGEST_PAUSE);
            if let Some(Ended) = self.pass_on(pause) {
                return;
            }
        }
    }

    /// Connects, and asks until the connection fails.
    fn serve(&mut self) -> anyhow::Result<Ended> {
        let connection = Connection::open(&connect_options(self.pid, &self.name, &self.options)?)?;
        let identities = IdentityModule::new(&connection)?;
        let mut figures = self.figures.map(|_| FiguresReader::new(&connection)).transpose()?;
        let mut next = Instant::now();
        loop {
            if let (Some(reader), Some(interval)) = (&mut figures, self.figures)
                && next <= Instant::now()
            {
                let figures = reader.read()?;
                self.succeed();
                self.say_what_is_missing(&figures);
                locked(&self.reading).last = Some((Instant::now(), figures));
                next = Instant::now() + interval;
            }
            let wait = if figures.is_some() { next } else { Instant::now() + LONGEST_PAUSE };
            match self.waiting.recv_timeout(wait.saturating_duration_since(Instant::now())) {
                Ok(window) => self.name_processes(window, &identities)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Ended),
            }
        }
    }

    fn name_processes(
        &mut self,
        mut window: LabelledWindow,
        identities: &IdentityModule<'_>,
    ) -> Result<(), ErlangError> {
        // An ended node cannot be asked, but most of its processes are known already.
        let asked = (!window.window.has_ended).then_some(identities);
        let named = self.known.resolve(asked, &mut window.window.profiles);
        match &named {
            Ok(()) => self.succeed(),
            Err(error) => note(&mut window.window, &error.to_string()),
        }
        self.send_back(window);
        named
    }

    /// Sends windows back with the known names, for the length of `pause`.
    fn pass_on(&mut self, pause: Duration) -> Option<Ended> {
        let until = Instant::now() + pause;
        loop {
            match self.waiting.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(mut window) => {
                    // Without a module no request is made, so nothing can fail.
                    let _ = self.known.resolve(None, &mut window.window.profiles);
                    note(&mut window.window, "the node does not answer");
                    self.send_back(window);
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(Ended),
            }
        }
    }

    fn send_back(&self, window: LabelledWindow) {
        // The inbox keeps the other end and lives as long as the program.
        let _ = self.report.events.send(Event::Named(window));
    }

    fn succeed(&mut self) {
        if self.attempts >= QUIET_ATTEMPTS {
            output::note(&format!("{} answers again", self.name));
        }
        self.attempts = 0;
    }

    /// Reports missing statistics once, and again if the node kept statistics in between.
    fn say_what_is_missing(&mut self, figures: &NodeFigures) {
        if figures.is_without_statistics && !self.is_without_statistics {
            output::note(&format!(
                "{} keeps no statistics of queues and connections (`collect_statistics` is `none`): its metrics lack \
                 queues, their messages, and connections in flow, until a management or Prometheus plugin is enabled",
                self.name
            ));
        }
        self.is_without_statistics = figures.is_without_statistics;
    }

    fn fail(&mut self, error: &anyhow::Error) {
        let mut reading = locked(&self.reading);
        reading.has_failed = true;
        reading.last = None;
        drop(reading);
        self.report.failed.fetch_add(1, Ordering::Relaxed);
        self.attempts += 1;
        let is_due = if is_lasting(error) { 1 } else { QUIET_ATTEMPTS };
        if self.attempts == is_due {
            output::note(&format!(
                "{} is not asked for roles and figures while this error lasts: {error:#}",
                self.name
            ));
        }
    }
}

/// Returns whether waiting for a starting node would not help.
fn is_lasting(error: &anyhow::Error) -> bool {
    let cause = error.chain().find_map(|cause| cause.downcast_ref::<ErlangError>());
    cause.is_some_and(ErlangError::is_lasting)
}

fn note(window: &mut NodeWindow, reason: &str) {
    for profile in &mut window.profiles {
        let note = format!("processes have only pids, or their earlier roles and names: {reason}");
        profile.capture.notes.push(note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_does_not_come_by_waiting() {
        let refused = |error: ErlangError| is_lasting(&anyhow::Error::from(error));
        let node = || "a@b".to_owned();
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert!(refused(ErlangError::CookieFile { path: "c".into(), source }));
        assert!(refused(ErlangError::NoCookie { looked: String::new() }));
        assert!(refused(ErlangError::CookieRefused { node: node(), origin: String::new() }));
        assert!(!refused(ErlangError::Lost { node: node(), reason: String::new() }));
    }
}
