//! Figures from inside the broker's node, once a second while the load runs, on a thread of their own. The load never
//! waits for the node: a second without an answer has no figures.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};

use rabbitscope_broker::Broker;
use rabbitscope_erlang::Connection;
use rabbitscope_inside::{FiguresReader, local_node};
use rabbitscope_runs::record::NodeFigures;

use crate::run::broker::Target;

const SECOND: Duration = Duration::from_secs(1);

/// Time from a reading to the end of its second, so that the answer is there when the second is written.
const LEAD: Duration = Duration::from_millis(100);

/// Interval at which the thread looks for the end of the load.
const STEP: Duration = Duration::from_millis(20);

/// Failures in a row after which a broker that rabbitscope did not start is left alone. Before its first answer, one
/// failure is enough, because a node logs each refused connection.
const MAX_FAILURES: u32 = 3;

/// The figures of the current second, and the reason why there were none yet.
#[derive(Clone, Default)]
pub(in crate::run) struct LatestFigures(Arc<Mutex<Latest>>);

#[derive(Default)]
struct Latest {
    figures: Option<NodeFigures>,
    was_read: bool,
    failure: Option<String>,
}

impl LatestFigures {
    /// Starts the readings on a thread of `scope`, which ends with the load. They begin when the sender announces the
    /// start of the load; absent without a node on this machine.
    pub(in crate::run) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        target: &'scope Target,
        has_ended: &'scope AtomicBool,
    ) -> io::Result<(Self, Option<Sender<Instant>>)> {
        let latest = Self::default();
        let Some(pid) = target.pid() else {
            let address = target.uri.address();
            latest.fail(format!("no Erlang node of this machine listens on {address}"));
            return Ok((latest, None));
        };
        let (started, load_started) = mpsc::channel();
        let node = AskedNode {
            pid,
            throwaway: target.throwaway.as_ref(),
            has_ended,
            latest: latest.clone(),
            load_started,
            start: None,
            failures: 0,
        };
        let read = move || node.read_until_end();
        thread::Builder::new().name("inside".to_owned()).spawn_scoped(scope, read)?;
        Ok((latest, Some(started)))
    }

    /// Takes the figures that were read since the last call.
    pub(in crate::run) fn take(&self) -> Option<NodeFigures> {
        self.locked().figures.take()
    }

    /// Returns the reason why there never were figures.
    pub(in crate::run) fn reason_without(&self) -> Option<String> {
        let latest = self.locked();
        let reason =
            || latest.failure.clone().unwrap_or_else(|| "the load was too short".to_owned());
        (!latest.was_read).then(reason)
    }

    fn put(&self, figures: NodeFigures) {
        let mut latest = self.locked();
        (latest.figures, latest.was_read) = (Some(figures), true);
    }

    fn fail(&self, reason: String) {
        self.locked().failure = Some(reason);
    }

    fn locked(&self) -> MutexGuard<'_, Latest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The node that is asked: the only one, or the first of a cluster.
struct AskedNode<'scope> {
    pid: u32,
    throwaway: Option<&'scope Broker>,
    has_ended: &'scope AtomicBool,
    latest: LatestFigures,
    load_started: Receiver<Instant>,
    /// Start of the load, once it was announced.
    start: Option<Instant>,
    /// Failures since the last answer.
    failures: u32,
}

impl AskedNode<'_> {
    /// Reads, and connects again after failures: a fault may restart the node.
    fn read_until_end(mut self) {
        while let Err(error) = self.read() {
            self.failures += 1;
            self.latest.fail(format!("{error:#}"));
            let most = if self.latest.locked().was_read { MAX_FAILURES } else { 1 };
            let is_left_alone = self.throwaway.is_none() && self.failures >= most;
            match self.load_started.try_recv() {
                Ok(start) => self.start = Some(start),
                // The load never starts.
                Err(TryRecvError::Disconnected) if self.start.is_none() => return,
                Err(_) => {}
            }
            if is_left_alone || self.has_ended_by(Instant::now() + SECOND) {
                return;
            }
        }
    }

    /// Connects and reads until the load ends or a reading fails. Capabilities prove the process of another user's node.
    /// They are given up with the first connection, and before it for a node of our own.
    fn read(&mut self) -> anyhow::Result<()> {
        if self.throwaway.is_some() {
            rabbitscope_probe::drop_privileges()?;
        }
        let connection = Connection::open(&local_node(self.current_pid(), self.throwaway)?)?;
        rabbitscope_probe::drop_privileges()?;
        let mut reader = FiguresReader::new(&connection)?;
        while let Some(next) = self.next_reading() {
            if self.has_ended_by(next) {
                return Ok(());
            }
            let answer = reader.read()?;
            self.failures = 0;
            self.latest.put(NodeFigures::from_answer(|path| answer.numbers.get(path).copied()));
        }
        Ok(())
    }

    /// Waits for the start of the load if it has not begun. Returns the time of the next reading; absent if the load
    /// has ended.
    fn next_reading(&mut self) -> Option<Instant> {
        while self.start.is_none() {
            match self.load_started.recv_timeout(STEP) {
                Ok(start) => self.start = Some(start),
                Err(RecvTimeoutError::Timeout) if !self.has_ended.load(Ordering::Relaxed) => {}
                Err(_) => return None,
            }
        }
        let start = self.start?;
        let seconds = (start.elapsed() + LEAD).as_secs() + 1;
        Some(start + Duration::from_secs(seconds).saturating_sub(LEAD))
    }

    /// Returns the pid of the node, which differs after a restart.
    fn current_pid(&self) -> u32 {
        let nodes = self.throwaway.map(|broker| broker.control().nodes());
        nodes.and_then(|nodes| nodes.first().map(|node| node.pid)).unwrap_or(self.pid)
    }

    /// Waits until this time. Returns whether the load ended before.
    fn has_ended_by(&self, until: Instant) -> bool {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if self.has_ended.load(Ordering::Relaxed) {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            thread::sleep(STEP.min(left));
        }
    }
}
