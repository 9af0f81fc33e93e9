//! The bus thread: it answers at once, sends a hello twice a second, and passes everything else on.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_files::random_digits;
use rabbitscope_machine::host_name;
use rabbitscope_measurements::PartWishes;
use rabbitscope_topology::TopologyError;

use super::{
    load::serve_parts,
    mailbox::{Mailbox, StartOrder},
    options::{WorkerOptions, WorkerSummary},
    outbox::Outbox,
};
use crate::{
    bus::{Bus, Received},
    clocks::{identity, now_nanos},
    error::FleetError,
    protocol::{Hello, Identity, Pong, ToController, ToWorker, WorkerState},
};

/// Longest wait for a message, and the longest delay of an update.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Interval between hellos.
const HELLO_INTERVAL: Duration = Duration::from_millis(500);

/// Silence of the controller after which its load is cancelled, because it may never return. Chosen: a job that
/// Kubernetes restarts is back within a minute.
const ORPHAN_TIME: Duration = Duration::from_secs(120);

/// Wait of an ending worker for the bus to store its measurements.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval between attempts to reconnect.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(500);

/// Serves runs until `stop` becomes true or, unless the worker stays, one run is done. `notice` receives messages for
/// the user.
pub fn serve(
    options: &WorkerOptions,
    notice: &mut dyn FnMut(&str),
    stop: &AtomicBool,
) -> Result<WorkerSummary, FleetError> {
    let worker = new_identity(options)?;
    let mailbox = Mailbox::default();
    thread::scope(|scope| {
        scope.spawn(|| serve_parts(options, &mailbox));
        let mut serving = Serving {
            options,
            worker,
            mailbox: &mailbox,
            outbox: Outbox::default(),
            said: None,
            heard: Instant::now(),
            stopped: None,
            dismissed: None,
            told: WorkerState::Idle,
            summary: WorkerSummary::default(),
        };
        let served = serving.run(notice, stop);
        mailbox.end();
        served.map(|()| serving.summary)
    })
}

struct Serving<'a> {
    options: &'a WorkerOptions,
    worker: Identity,
    mailbox: &'a Mailbox,
    outbox: Outbox,
    /// Time and state of the latest hello.
    said: Option<(Instant, WorkerState)>,
    /// Time of the controller's latest message.
    heard: Instant,
    stopped: Option<Instant>,
    /// The run that is over for the controller.
    dismissed: Option<String>,
    /// State that the worker's user was told last.
    told: WorkerState,
    summary: WorkerSummary,
}

impl Serving<'_> {
    /// Serves the bus. Fails if the bus is unreachable at first; a bus that is lost later is reconnected.
    fn run(&mut self, notice: &mut dyn FnMut(&str), stop: &AtomicBool) -> Result<(), FleetError> {
        let mut bus = Some(self.connect()?);
        notice("worker: connected to the bus, waiting for a run");
        loop {
            let Some(connected) = &mut bus else {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.end_if_orphaned(&self.mailbox.worker_state());
                thread::sleep(RECONNECT_INTERVAL);
                bus = self.connect().ok();
                continue;
            };
            match self.step(connected, notice, stop) {
                Ok(true) => {}
                Ok(false) => {
                    bus.into_iter().for_each(Bus::close);
                    return Ok(());
                }
                Err(error) => {
                    notice(&format!("worker: {error}; reconnecting"));
                    bus = None;
                }
            }
        }
    }

    fn connect(&mut self) -> Result<Bus, FleetError> {
        let name = format!("rabbitscope worker {}", self.worker.id);
        let mut bus = Bus::connect(&self.options.bus, &self.options.fleet, &name)?;
        bus.receive_at(&self.options.fleet.worker_queue(&self.worker.id))?;
        self.outbox.on_reconnect();
        self.said = None;
        Ok(bus)
    }

    /// Handles one round of messages. Returns false when this worker is done.
    fn step(
        &mut self,
        bus: &mut Bus,
        notice: &mut dyn FnMut(&str),
        stop: &AtomicBool,
    ) -> Result<bool, FleetError> {
        for received in bus.poll(POLL_INTERVAL)? {
            match received {
                Received::Message(message) => self.take(&message, bus),
                Received::Stored(number) => self.outbox.stored(number),
                Received::Refused(number) => self.outbox.refused(number),
                Received::Record(_) => {}
            }
        }
        let state = self.mailbox.worker_state();
        for note in self.mailbox.take_notes() {
            notice(&format!("worker: {note}"));
        }
        for (run, update) in self.mailbox.take_updates() {
            self.outbox.push(&run, &self.worker.id, update);
        }
        for (number, record) in self.outbox.unsent() {
            bus.append(number, record);
        }
        self.say_hello(bus, &state);
        self.tell(&state, notice);
        self.end_if_orphaned(&state);
        if self.is_dismissed(&state) && !self.options.stays {
            return Ok(false);
        }
        if stop.load(Ordering::Relaxed) {
            let since = *self.stopped.get_or_insert_with(Instant::now);
            self.mailbox.cancel();
            let is_done = matches!(state, WorkerState::Idle | WorkerState::Finished { .. });
            return Ok(!(is_done && (self.outbox.is_empty() || since.elapsed() >= STORE_TIMEOUT)));
        }
        Ok(true)
    }

    /// Cancels a load whose controller is silent, also if the bus is gone. This bounds the outbox.
    fn end_if_orphaned(&mut self, state: &WorkerState) {
        if *state != WorkerState::Idle && self.heard.elapsed() >= ORPHAN_TIME {
            self.mailbox.cancel();
            // No controller will dismiss the run.
            self.dismissed = state.run().map(str::to_owned);
        }
    }

    /// Takes a message of the controller.
    fn take(&mut self, message: &[u8], bus: &mut Bus) {
        // Messages of another version are ignored: versions are compared at the beginning.
        let Ok(message) = serde_json::from_slice(message) else { return };
        let received_nanos = now_nanos();
        self.heard = Instant::now();
        match message {
            ToWorker::Ping { number, sent_nanos } => {
                let worker = self.worker.id.clone();
                let answered_nanos = now_nanos();
                let pong = Pong { worker, number, sent_nanos, received_nanos, answered_nanos };
                bus.send(&self.options.fleet.controller_queue(), &ToController::Pong(pong));
            }
            ToWorker::Assign(assignment) => self.mailbox.assign(*assignment),
            ToWorker::Start { run, origin_nanos, run_tag } => {
                self.mailbox.start(StartOrder { run, origin_nanos, run_tag });
            }
            ToWorker::Wish { run, ending, abort, is_empty, others_confirmed } => {
                let wishes = PartWishes { ending, abort, is_empty, others_confirmed };
                self.mailbox.wish(&run, wishes);
            }
            ToWorker::Dismiss { run } => {
                self.mailbox.dismiss(&run);
                self.dismissed = Some(run);
            }
        }
    }

    /// Returns true once, when the controller has dismissed the run and the worker is done with it.
    fn is_dismissed(&mut self, state: &WorkerState) -> bool {
        let is_done = matches!(state, WorkerState::Finished { .. }) && self.outbox.is_empty();
        if !is_done || self.dismissed.is_none() || self.dismissed.as_deref() != state.run() {
            return false;
        }
        self.dismissed = None;
        self.mailbox.set_state(WorkerState::Idle);
        true
    }

    /// Sends a hello. The worker counts as running until the bus has stored everything.
    fn say_hello(&mut self, bus: &mut Bus, state: &WorkerState) {
        let state = match state {
            WorkerState::Finished { run, late_nanos, .. } if !self.outbox.is_empty() => {
                WorkerState::Running { run: run.clone(), late_nanos: *late_nanos }
            }
            state => state.clone(),
        };
        let is_connecting = matches!(state, WorkerState::Connecting { .. });
        let is_due = self.said.as_ref().is_none_or(|(at, said)| {
            at.elapsed() >= HELLO_INTERVAL || *said != state && !is_connecting
        });
        if is_due {
            let hello = Hello { worker: self.worker.clone(), state: state.clone() };
            let queue = self.options.fleet.controller_queue();
            bus.send(&queue, &ToController::Hello(Box::new(hello)));
            self.said = Some((Instant::now(), state));
        }
    }

    /// Reports a change of the state to the worker's user.
    fn tell(&mut self, state: &WorkerState, notice: &mut dyn FnMut(&str)) {
        let before = std::mem::replace(&mut self.told, state.clone());
        let is_news = std::mem::discriminant(&before) != std::mem::discriminant(state);
        match state {
            WorkerState::Ready { run, connections, .. } if is_news => {
                notice(&format!("worker: run {run}: {connections} connections are ready"));
            }
            WorkerState::Running { run, .. } if is_news => {
                notice(&format!("worker: run {run}: the load has started"));
            }
            WorkerState::Finished { run, error: None, .. } if is_news => {
                self.summary.runs += 1;
                notice(&format!("worker: run {run}: done"));
            }
            WorkerState::Finished { run, error: Some(error), .. } if is_news => {
                self.summary.failures += 1;
                notice(&format!("worker: run {run}: {error}"));
            }
            _ => {}
        }
    }
}

fn new_identity(options: &WorkerOptions) -> Result<Identity, FleetError> {
    let mut id = random_digits().map_err(|source| TopologyError::NoToken { source })?;
    id.truncate(16);
    Ok(Identity {
        id,
        host: host_name(),
        pid: std::process::id(),
        index: options.index,
        version: options.version.clone(),
        clock: identity(),
        has_broker: options.broker.is_some(),
    })
}
