//! Resumption of a run whose controller died. Its log has its start and all measurements so far.

use std::time::{Duration, Instant};

use rabbitscope_topology::OwnedTopology;

use super::{connection::Controller, roster::Roster};
use crate::{
    error::FleetError,
    protocol::{Hello, MemberStart, WorkerState},
};

/// Timeout for reading the log to its end.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Time to listen for workers that are busy. Chosen: three hellos.
const LISTEN_TIME: Duration = Duration::from_millis(1500);

/// A run to be resumed.
#[derive(Clone, Debug)]
pub struct Resumption {
    /// Topology that the run declared on the broker under test.
    pub declared: OwnedTopology,
    /// Reason why the topology has no markers; absent if it has.
    pub unmarked: Option<String>,
    /// Start of the run, in nanoseconds since 1970-01-01 UTC.
    pub started_unix_nanos: u64,
}

impl Controller {
    /// Returns the run of `scenario` to resume, if there is one. Any other run in the log is discarded when the next
    /// one begins, unless a worker still runs it.
    pub fn find_run(&mut self, scenario: &str) -> Result<Option<Resumption>, FleetError> {
        if !self.bus.has_log()? {
            return Ok(None);
        }
        self.read_log()?;
        let begun = self.begun.clone();
        let is_same = begun.scenario == scenario && !begun.run.is_empty();
        if !(is_same && self.options.resume) {
            self.refuse_busy()?;
            self.refuse_to_forget()?;
            self.forget()?;
            return Ok(None);
        }
        let is_possible = begun.members.iter().all(|member| member.size().is_possible());
        let declared = serde_json::from_value(begun.declared).ok().filter(|_| is_possible);
        let Some(declared) = declared else {
            self.forget()?;
            return Ok(None);
        };
        self.is_resumed = true;
        self.options.workers = self.members.len();
        let now = Instant::now();
        for MemberStart { worker, .. } in &self.begun.members {
            if self.roster.get(&worker.id).is_none() {
                let (worker, state) = (worker.clone(), WorkerState::Idle);
                self.roster.heard(Hello { worker, state }, now);
            }
        }
        self.roster.excuse(now);
        let (unmarked, started_unix_nanos) = (begun.unmarked, begun.started_unix_nanos);
        Ok(Some(Resumption { declared, unmarked, started_unix_nanos }))
    }

    /// Reads all records that are in the log now.
    fn read_log(&mut self) -> Result<(), FleetError> {
        self.bus.read_log()?;
        self.mark_log();
        let began = Instant::now();
        while self.awaited_mark.is_some() && began.elapsed() < READ_TIMEOUT {
            self.receive(Duration::from_millis(50))?;
        }
        Ok(())
    }

    /// Refuses to disturb a run that is still in progress.
    fn refuse_busy(&mut self) -> Result<(), FleetError> {
        let began = Instant::now();
        while began.elapsed() < LISTEN_TIME {
            self.receive(LISTEN_TIME.saturating_sub(began.elapsed()))?;
        }
        let mut present = self.roster.present(Instant::now());
        if present.any(|known| matches!(known.state, WorkerState::Running { .. })) {
            return Err(FleetError::Busy {
                fleet: self.options.fleet.as_str().to_owned(),
                scenario: self.begun.name.clone(),
            });
        }
        Ok(())
    }

    /// Refuses to discard the log of another scenario's run if the user asked for a resumption.
    fn refuse_to_forget(&self) -> Result<(), FleetError> {
        if self.options.resume && !self.begun.run.is_empty() {
            return Err(FleetError::OtherRun {
                fleet: self.options.fleet.as_str().to_owned(),
                scenario: self.begun.name.clone(),
            });
        }
        Ok(())
    }

    /// Discards everything that was read from the log.
    fn forget(&mut self) -> Result<(), FleetError> {
        self.begun = crate::protocol::Begun::default();
        self.members.clear();
        self.events.clear();
        self.roster = Roster::default();
        self.bus.stop_reading()
    }
}
