//! A controller: its connection to the bus, and what it knows of a run.

use std::{
    collections::VecDeque,
    fmt,
    time::{Duration, Instant},
};

use rabbitscope_amqp::Uri;
use rabbitscope_load::{PartWishes, RemoteEvent};
use rabbitscope_runs::record::BrokerFacts;

use super::roster::Roster;
use crate::{
    bus::{Bus, BusAddress, FleetName, Received},
    clocks::ClockEstimate,
    error::FleetError,
    protocol::{Begun, LogRecord, Pong, ToController, ToWorker},
};

/// What a controller is started with.
#[derive(Debug)]
pub struct ControllerOptions {
    /// Where the bus is.
    pub bus: BusAddress,
    /// The fleet that it controls.
    pub fleet: FleetName,
    /// How many workers put the load on.
    pub workers: usize,
    /// How long workers are awaited.
    pub patience: Duration,
    /// Goes on with a run of which the controller is gone, if there is one.
    pub resume: bool,
    /// Of rabbitscope.
    pub version: String,
}

/// A controller of a fleet.
pub struct Controller {
    pub(super) options: ControllerOptions,
    pub(super) bus: Bus,
    pub(super) roster: Roster,
    /// The run that it is about.
    pub(super) begun: Begun,
    pub(super) members: Vec<Member>,
    /// What happened and was not asked for yet.
    pub(super) events: VecDeque<RemoteEvent>,
    /// The ping that is to be answered, and the answer.
    pub(super) ping: Option<Ping>,
    pub(super) pong: Option<Pong>,
    pub(super) stored: u64,
    pub(super) wished: Option<(Instant, PartWishes)>,
    pub(super) is_resumed: bool,
    /// The log is to be read up to here.
    pub(super) awaited_mark: Option<String>,
}

/// A ping, as its answer names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ping {
    pub(super) worker: String,
    pub(super) number: u32,
    pub(super) sent_nanos: u64,
}

/// A worker that has a part of the run; its part is its position.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    /// Number of its latest update.
    pub(super) updates: u64,
    pub(super) is_lagging: bool,
    /// It was not heard of for a while at some time.
    pub(super) has_lagged: bool,
    pub(super) is_lost: bool,
    pub(super) late_nanos: u64,
    /// Its clock after the run; absent when it could not be asked.
    pub(super) clock_after: Option<ClockEstimate>,
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Controller {
    /// Connects to the bus, where it is the only controller of its fleet.
    pub fn connect(options: ControllerOptions) -> Result<Self, FleetError> {
        let bus = connect(&options)?
            .ok_or_else(|| FleetError::Taken { fleet: options.fleet.as_str().to_owned() })?;
        Ok(Self {
            options,
            bus,
            roster: Roster::default(),
            begun: Begun::default(),
            members: Vec::new(),
            events: VecDeque::new(),
            ping: None,
            pong: None,
            stored: 0,
            wished: None,
            is_resumed: false,
            awaited_mark: None,
        })
    }

    /// Refuses a bus that is the broker under test.
    pub fn refuse_broker(&self, broker: &BrokerFacts, uris: &[Uri]) -> Result<(), FleetError> {
        self.options.bus.refuse_as(&self.bus.cluster_name(), broker, uris)
    }

    /// Sends a message to the worker that has this part.
    pub(super) fn tell(&mut self, part: usize, message: &ToWorker) {
        let worker = &self.begun.members[part].worker.id;
        self.bus.send(&self.options.fleet.worker_queue(worker), message);
    }

    pub(super) fn tell_all(&mut self, message: &ToWorker) {
        (0..self.members.len()).for_each(|part| self.tell(part, message));
    }

    /// Takes what comes from the bus within `wait`.
    pub(super) fn receive(&mut self, wait: Duration) -> Result<(), FleetError> {
        let now = Instant::now();
        for received in self.bus.poll(wait)? {
            match received {
                Received::Message(message) => self.take_message(&message),
                Received::Record(record) => self.take_record(&record),
                Received::Stored(number) => self.stored = self.stored.max(number),
                Received::Refused(_) => {}
            }
        }
        // A process that was stopped for a while has not listened: nobody else is to blame.
        if now.elapsed() > wait + SUSPENDED_TIME {
            self.roster.excuse(Instant::now());
            self.mark_log();
        }
        Ok(())
    }

    /// What is in the log by now is read when this mark is.
    pub(super) fn mark_log(&mut self) {
        let mark = format!("{}-{:?}", std::process::id(), Instant::now());
        self.bus.append(0, &LogRecord::Mark { mark: mark.clone() }.encode());
        self.awaited_mark = Some(mark);
    }

    /// What is no message of this version is dropped: the versions are compared when workers are chosen.
    fn take_message(&mut self, message: &[u8]) {
        if message.len() > MAX_MESSAGE_BYTES {
            return;
        }
        match serde_json::from_slice(message) {
            Ok(ToController::Hello(hello)) => self.roster.heard(*hello, Instant::now()),
            Ok(ToController::Pong(pong)) => {
                self.roster.heard_of(&pong.worker, Instant::now());
                if self.ping.as_ref().is_some_and(|ping| ping.is_answered_by(&pong)) {
                    self.pong = Some(pong);
                }
            }
            Err(_) => {}
        }
    }

    /// An update that was read before is dropped by whoever joins them.
    fn take_record(&mut self, record: &[u8]) {
        match LogRecord::decode(record) {
            Some(LogRecord::Begun(begun)) if self.members.is_empty() => self.take_begun(*begun),
            Some(LogRecord::Update { run, worker, number, update }) if run == self.begun.run => {
                self.roster.heard_of(&worker, Instant::now());
                let mut members = self.begun.members.iter();
                let Some(part) = members.position(|it| it.worker.id == worker) else { return };
                let member = &mut self.members[part];
                if number > member.updates && !member.is_lost {
                    member.updates = number;
                    self.events.push_back(RemoteEvent::Update { worker: part, update });
                }
            }
            Some(LogRecord::Mark { mark }) if self.awaited_mark.as_ref() == Some(&mark) => {
                self.awaited_mark = None;
            }
            _ => {}
        }
    }

    pub(super) fn take_begun(&mut self, begun: Begun) {
        self.members = vec![Member::default(); begun.members.len()];
        self.begun = begun;
    }

    /// Another connection in place of one that broke; the log is read again from its beginning.
    pub(super) fn reconnect(&mut self) -> Result<bool, FleetError> {
        let Some(mut bus) = connect(&self.options)? else { return Ok(false) };
        bus.read_log()?;
        self.bus = bus;
        self.mark_log();
        self.roster.excuse(Instant::now());
        Ok(true)
    }

    /// The run is over and its results are kept: its log is not needed any more.
    pub fn finish(mut self) {
        if !self.begun.run.is_empty() {
            // It takes the place of the next run's log otherwise.
            self.bus.delete_log().ok();
        }
        self.bus.close();
    }
}

impl Ping {
    fn is_answered_by(&self, pong: &Pong) -> bool {
        (&self.worker, self.number, self.sent_nanos) == (&pong.worker, pong.number, pong.sent_nanos)
    }
}

/// Most of a message of a worker; others are dropped. Chosen: a hello has a few hundred bytes, and an error that it
/// tells of is a sentence.
const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// A poll that took longer by this was not listening. Chosen.
const SUSPENDED_TIME: Duration = Duration::from_secs(1);

/// Absent: another controller has the fleet.
fn connect(options: &ControllerOptions) -> Result<Option<Bus>, FleetError> {
    let name = format!("rabbitscope controller of {}", options.fleet.as_str());
    let mut bus = Bus::connect(&options.bus, &options.fleet, &name)?;
    Ok(bus.receive_at(&options.fleet.controller_queue())?.then_some(bus))
}
