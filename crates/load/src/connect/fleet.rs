//! Creation of all connections of a run in parallel. Keeps them alive until the last one is ready.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_measurements::Progress;
use rabbitscope_topology::TopologyError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::prepared_connection::PreparedConnection;
use crate::{context::RunContext, error::LoadError};

/// Interval at which the stop flag is checked and progress is reported.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Interval at which ready connections are checked for a due heartbeat. Heartbeats have whole seconds.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// Descriptors other than the load's connections: files, pipes, the session's own connections. Chosen with room to
/// spare.
const OTHER_DESCRIPTORS: usize = 64;

/// Raises the soft limit of open files to the hard limit if `connections` need it. Fails if the hard limit is too low.
pub(crate) fn allow_descriptors(connections: usize) -> Result<(), LoadError> {
    let needed = (connections + OTHER_DESCRIPTORS) as u64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if let Some(limit) = maximum.filter(|maximum| *maximum < needed) {
        return Err(LoadError::TooManyConnections { needed: connections, limit });
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).map_err(|error| {
        LoadError::System { doing: "raise the limit of files", source: error.into() }
    })
}

/// The connections to make, shared by the threads that make them.
struct ConnectionQueue<'a> {
    context: &'a RunContext<'a>,
    began: Instant,
    next: AtomicUsize,
    is_over: AtomicBool,
}

type Made = (usize, Result<PreparedConnection, TopologyError>);

pub(crate) fn connect_all(
    context: &RunContext<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> Result<Vec<PreparedConnection>, LoadError> {
    let queue = ConnectionQueue {
        context,
        began: Instant::now(),
        next: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    let (made, received) = channel();
    thread::scope(|scope| {
        let parallel = context.scenario.broker.connecting.parallel as usize;
        for _ in 0..parallel.min(context.plans.len()) {
            let (queue, made) = (&queue, made.clone());
            scope.spawn(move || queue.serve(&made));
        }
        drop(made);
        let prepared = collect(&received, context.plans.len(), progress, stop);
        queue.is_over.store(true, Ordering::Relaxed);
        prepared
    })
}

impl ConnectionQueue<'_> {
    fn serve(&self, made: &Sender<Made>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(plan) = self.context.plans.get(number) else { return };
            if !self.wait_for_turn(plan.number) {
                return;
            }
            let prepared = PreparedConnection::set_up(plan, self.context.dialer, plan.number);
            if made.send((number, prepared)).is_err() {
                return;
            }
        }
    }

    /// Waits for the turn of a connection if the scenario limits their rate. Returns false if no more connections are
    /// wanted.
    fn wait_for_turn(&self, number: usize) -> bool {
        let rate = self.context.scenario.broker.connecting.rate;
        let due = rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(number as f64 / rate));
        loop {
            let left = due.saturating_sub(self.began.elapsed());
            if self.is_over.load(Ordering::Relaxed) {
                return false;
            }
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(STOP_POLL_INTERVAL));
        }
    }
}

/// Collects the connections in the order of the plans. Stops at the first failure.
fn collect(
    received: &Receiver<Made>,
    of: usize,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> Result<Vec<PreparedConnection>, LoadError> {
    let mut prepared: Vec<Option<PreparedConnection>> = (0..of).map(|_| None).collect();
    let (mut done, mut told, mut looked) = (0, Instant::now(), Instant::now());
    while done < of {
        match received.recv_timeout(STOP_POLL_INTERVAL) {
            Ok((number, made)) => {
                prepared[number] = Some(made?);
                done += 1;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(LoadError::Stopped),
        }
        let now = Instant::now();
        if stop.load(Ordering::Relaxed) {
            return Err(LoadError::Stopped);
        }
        if now >= told + STOP_POLL_INTERVAL {
            told = now;
            progress(Progress::Connecting { done, of });
        }
        if now >= looked + KEEP_ALIVE_INTERVAL {
            looked = now;
            // A connection that has broken meanwhile fails when the load starts, and is handled
            // there.
            prepared.iter_mut().flatten().for_each(|prepared| drop(prepared.keep_alive(now)));
        }
    }
    Ok(prepared.into_iter().flatten().collect())
}
