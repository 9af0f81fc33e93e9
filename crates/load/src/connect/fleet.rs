//! Makes all connections of a run in parallel, and keeps them alive until the last one is there.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::prepared_connection::PreparedConnection;
use crate::{context::RunContext, error::LoadError, outcome::Progress};

/// How often orders from outside are looked at, and progress is told.
const NAP: Duration = Duration::from_millis(50);

/// How often connections that wait for the others are looked at.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// Descriptors that are no connection: files, pipes, the session's own connections.
const OTHER_DESCRIPTORS: usize = 64;

/// Raises the limit of this process to what it may be raised to, when it has to be.
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

/// What the threads that connect share.
struct ConnectionQueue<'a> {
    context: &'a RunContext<'a>,
    began: Instant,
    next: AtomicUsize,
    is_over: AtomicBool,
}

type Made = (usize, Result<PreparedConnection, LoadError>);

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
        let parallel = context.scenario.connecting.parallel as usize;
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
            if !self.wait_for_turn(number) {
                return;
            }
            let prepared = PreparedConnection::set_up(plan, self.context.dialer, number);
            if made.send((number, prepared)).is_err() {
                return;
            }
        }
    }

    /// When a rate is given, each has its time. False: no more connections are wanted.
    fn wait_for_turn(&self, number: usize) -> bool {
        let rate = self.context.scenario.connecting.rate;
        let due = rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(number as f64 / rate));
        loop {
            let left = due.saturating_sub(self.began.elapsed());
            if self.is_over.load(Ordering::Relaxed) {
                return false;
            }
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(NAP));
        }
    }
}

/// Takes what was made, in the order of the plans. The first failure ends it.
fn collect(
    received: &Receiver<Made>,
    of: usize,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> Result<Vec<PreparedConnection>, LoadError> {
    let mut prepared: Vec<Option<PreparedConnection>> = (0..of).map(|_| None).collect();
    let (mut done, mut told, mut looked) = (0, Instant::now(), Instant::now());
    while done < of {
        match received.recv_timeout(NAP) {
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
        if now >= told + NAP {
            told = now;
            progress(Progress::Connecting { done, of });
        }
        if now >= looked + KEEP_ALIVE {
            looked = now;
            // One that has broken meanwhile is found out, and dealt with, when the load starts.
            prepared.iter_mut().flatten().for_each(|prepared| drop(prepared.keep_alive(now)));
        }
    }
    Ok(prepared.into_iter().flatten().collect())
}
