//! All connections of a run: made in parallel, kept alive until the last is there, shared out among
//! threads.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{
    LoadError,
    churn::churned_connections,
    clock::nanos,
    link::{Link, Wire},
    outcome::Progress,
    run::Ground,
    worker::Worker,
};

/// How often orders from outside are looked at, and progress is told.
const NAP: Duration = Duration::from_millis(50);

/// How often connections that wait for the others are looked at.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// Descriptors that are no connection: files, pipes, the session's own connections.
const OTHER_DESCRIPTORS: usize = 64;

/// Connects every link of the plans and gives each worker its share.
pub(crate) fn assemble(
    ground: &Ground<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> Result<Vec<Worker>, LoadError> {
    allow_descriptors(ground.plans.len() + churned_connections(ground.scenario))?;
    let wires = connect(ground, progress, stop)?;
    let frame_max = wires.iter().map(Wire::frame_max).max().unwrap_or(0);
    let count = workers(wires.len());
    let mut shares: Vec<Vec<Link>> = (0..count).map(|_| Vec::new()).collect();
    for (index, wire) in wires.into_iter().enumerate() {
        shares[index % count].push(Link::new(index, &ground.plans[index], wire));
    }
    let step_nanos = ground.scenario.run.step.map(nanos);
    let workers = shares
        .into_iter()
        .enumerate()
        .map(|(number, links)| Worker::new(number, links, frame_max, step_nanos));
    workers
        .collect::<Result<_, _>>()
        .map_err(|source| LoadError::System { doing: "set up an event loop", source })
}

/// Half of the CPUs: the broker is likely to need the others.
fn workers(links: usize) -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    (cpus / 2).clamp(1, links.max(1))
}

/// Raises the limit of this process to what it may be raised to, when it has to be.
fn allow_descriptors(connections: usize) -> Result<(), LoadError> {
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
struct Connecting<'a> {
    ground: &'a Ground<'a>,
    began: Instant,
    next: AtomicUsize,
    is_over: AtomicBool,
}

type Made = (usize, Result<Wire, LoadError>);

fn connect(
    ground: &Ground<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> Result<Vec<Wire>, LoadError> {
    let connecting = Connecting {
        ground,
        began: Instant::now(),
        next: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    let (made, received) = channel();
    thread::scope(|scope| {
        let parallel = ground.scenario.connecting.parallel as usize;
        for _ in 0..parallel.min(ground.plans.len()) {
            let (connecting, made) = (&connecting, made.clone());
            scope.spawn(move || connecting.serve(&made));
        }
        drop(made);
        let wires = collect(&received, ground.plans.len(), progress, stop);
        connecting.is_over.store(true, Ordering::Relaxed);
        wires
    })
}

impl Connecting<'_> {
    fn serve(&self, made: &Sender<Made>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(plan) = self.ground.plans.get(number) else { return };
            if !self.wait_for_turn(number) {
                return;
            }
            let wire = Wire::set_up(plan, self.ground.dialer, number);
            if made.send((number, wire)).is_err() {
                return;
            }
        }
    }

    /// When a rate is given, each has its time. False: no more connections are wanted.
    fn wait_for_turn(&self, number: usize) -> bool {
        let rate = self.ground.scenario.connecting.rate;
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
) -> Result<Vec<Wire>, LoadError> {
    let mut wires: Vec<Option<Wire>> = (0..of).map(|_| None).collect();
    let (mut done, mut told, mut looked) = (0, Instant::now(), Instant::now());
    while done < of {
        match received.recv_timeout(NAP) {
            Ok((number, wire)) => {
                wires[number] = Some(wire?);
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
            wires.iter_mut().flatten().for_each(|wire| drop(wire.keep_alive(now)));
        }
    }
    Ok(wires.into_iter().flatten().collect())
}
