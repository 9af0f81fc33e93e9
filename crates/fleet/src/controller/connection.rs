//! A controller: its connection to the bus, and the state of a run.

use std::{
    collections::VecDeque,
    fmt,
    time::{Duration, Instant},
};

use rabbitscope_amqp::Uri;
use rabbitscope_measurements::{PartWishes, RemoteEvent};
use rabbitscope_runs::record::BrokerFacts;

use super::{
    bus_search::BusSearch,
    options::{ControllerOptions, connect},
    roster::Roster,
};
use crate::{
    bus::{Bus, Received},
    clocks::ClockEstimate,
    error::FleetError,
    protocol::{Begun, LogRecord, MemberStart, Pong, ToController, ToWorker},
};

/// A controller of a fleet.
pub struct Controller {
    pub(super) options: ControllerOptions,
    pub(super) bus: Bus,
    pub(super) roster: Roster,
    /// The current run.
    pub(super) begun: Begun,
    pub(super) members: Vec<Member>,
    /// Events that the load has not fetched yet.
    pub(super) events: VecDeque<RemoteEvent>,
    /// The outstanding ping, and its answer.
    pub(super) ping: Option<Ping>,
    pub(super) pong: Option<Pong>,
    pub(super) stored: u64,
    pub(super) wished: Option<(Instant, PartWishes)>,
    pub(super) is_resumed: bool,
    /// Mark in the log at which the backlog ends; absent once the controller has read it.
    pub(super) awaited_mark: Option<String>,
    /// The search for a bus that was lost during the load.
    pub(super) search: Option<BusSearch>,
    /// The bus was not found again.
    pub(super) is_without_bus: bool,
}

/// Identification of a ping, as its answer repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ping {
    pub(super) worker: String,
    pub(super) number: u32,
    pub(super) sent_nanos: u64,
}

/// A worker with a part of the run. Its index is the number of the part.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    /// Number of its latest update.
    pub(super) updates: u64,
    pub(super) is_lagging: bool,
    /// The worker was lagging at some time.
    pub(super) has_lagged: bool,
    pub(super) is_lost: bool,
    pub(super) late_nanos: u64,
    /// Estimate of its clock after the run; absent if the worker did not answer.
    pub(super) clock_after: Option<ClockEstimate>,
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Controller {
    /// Connects to the bus. Fails if the fleet already has a controller.
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
            search: None,
            is_without_bus: false,
        })
    }

    /// Refuses a bus that is the broker under test.
    pub fn refuse_broker(&self, broker: &BrokerFacts, uris: &[Uri]) -> Result<(), FleetError> {
        self.options.bus.refuse_as(&self.bus.cluster_name(), broker, uris)
    }

    /// Sends a message to the worker of this part.
    pub(super) fn tell(&mut self, part: usize, message: &ToWorker) {
        let worker = &self.begun.members[part].worker.id;
        self.bus.send(&self.options.fleet.worker_queue(worker), message);
    }

    pub(super) fn tell_all(&mut self, message: &ToWorker) {
        (0..self.members.len()).for_each(|part| self.tell(part, message));
    }

    /// Handles everything that arrives from the bus within `wait`.
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
        // After a suspension of this process, silence is not the workers' fault.
        if now.elapsed() > wait + SUSPENDED_TIME {
            self.roster.excuse(Instant::now());
            self.mark_log();
        }
        Ok(())
    }

    /// Appends a mark to the log. Reading the mark proves that all earlier records were read.
    pub(super) fn mark_log(&mut self) {
        let mark = format!("{}-{:?}", std::process::id(), Instant::now());
        self.bus.append(0, &LogRecord::Mark { mark: mark.clone() }.encode());
        self.awaited_mark = Some(mark);
    }

    /// Handles a message. Messages of another version are dropped: versions are compared when workers are chosen.
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

    /// Handles a record of the log. An update that was read before is dropped.
    fn take_record(&mut self, record: &[u8]) {
        match LogRecord::decode(record) {
            Some(LogRecord::Begun(begun)) if self.members.is_empty() => self.take_begun(*begun),
            Some(LogRecord::Update { run, worker, number, update }) if run == self.begun.run => {
                self.roster.heard_of(&worker, Instant::now());
                let mut members = self.begun.members.iter();
                let is_sender = |member: &MemberStart| member.worker.id == worker;
                let Some(part) = members.position(is_sender) else { return };
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

    /// Replaces a broken connection, and reads the log again from its beginning. Returns false if another controller
    /// has taken the fleet.
    pub(super) fn reconnect(&mut self) -> Result<bool, FleetError> {
        let Some(mut bus) = connect(&self.options)? else { return Ok(false) };
        bus.read_log()?;
        self.take_bus(bus);
        Ok(true)
    }

    /// Goes on with a connection that reads the log again from its beginning.
    pub(super) fn take_bus(&mut self, bus: Bus) {
        self.bus = bus;
        self.mark_log();
        self.roster.excuse(Instant::now());
    }

    /// Ends the run after its results are saved, and deletes its log.
    pub fn finish(mut self) {
        if self.is_without_bus {
            return;
        }
        if !self.begun.run.is_empty() {
            // Otherwise the next run would find it.
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

/// Size limit of a worker's message; larger ones are dropped. Chosen: a hello has a few hundred bytes, and a reported
/// error is one sentence.
const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// Delay of a poll from which this process counts as suspended. Chosen.
const SUSPENDED_TIME: Duration = Duration::from_secs(1);
