//! The begin of a run: everything that a successor of this controller would need goes to the log, and then the start
//! to the workers.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rabbitscope_load::{RemoteStart, RunAge, run_tag};

use super::{connection::Controller, roster::described};
use crate::{
    clocks::{identity, now_nanos},
    error::FleetError,
    protocol::{LogRecord, MemberStart, ToWorker},
};

/// From the order to start to the start, at least. Chosen: the order arrives within milliseconds.
const LEAD: Duration = Duration::from_secs(1);

/// What is added for each connection of the run, which its worker still has to hand to a thread. Four workers with 2,500
/// each, on two CPUs together with the broker, took 2 s.
const LEAD_OF_CONNECTION: Duration = Duration::from_micros(400);

/// Longest time until the start, with tens of thousands of connections: they are on several machines.
const MAX_LEAD: Duration = Duration::from_secs(10);

/// How long the bus may take to store the begin of a run.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// How far the wall clocks of two machines are apart at most. Chosen: certificates and logs are of no use with more, and
/// a run that was begun elsewhere has no other clock.
const MAX_CLOCK_ERROR: Duration = Duration::from_secs(120);

/// How often the wait for the start looks whether it is still wanted. Chosen: a person does not notice it.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The number of the record of the begin, in [`Controller::stored`].
const BEGUN: u64 = 1;

impl Controller {
    /// Starts the run on all workers; returns when it begins.
    pub(super) fn begin(&mut self, stop: &AtomicBool) -> Result<RemoteStart, FleetError> {
        let clocks = self.measure_clocks()?;
        for (part, clock) in clocks.into_iter().enumerate() {
            let member = &mut self.begun.members[part];
            member.clock = clock.ok_or_else(|| FleetError::Worker {
                worker: described(part, &member.worker),
                reason: "it did not answer when it was asked for its clock".to_owned(),
            })?;
        }
        let lead = lead(self.begun.members.iter().map(|member| member.connections).sum());
        let (now, origin) = (SystemTime::now() + lead, Instant::now() + lead);
        let origin_nanos = now_nanos() + u64::try_from(lead.as_nanos()).unwrap_or(u64::MAX);
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.begun.started_unix_nanos = u64::try_from(since.as_nanos()).unwrap_or(0);
        self.begun.clock = identity();
        self.log_begin()?;
        // Of a log before this one.
        self.awaited_mark = None;
        let tag = run_tag(self.begun.started_unix_nanos);
        for part in 0..self.members.len() {
            let origin_nanos = self.begun.members[part].clock.theirs(origin_nanos);
            let run = self.begun.run.clone();
            self.tell(part, &ToWorker::Start { run, origin_nanos, run_tag: tag });
        }
        while Instant::now() < origin {
            if stop.load(Ordering::Relaxed) {
                self.dismiss();
                // Nobody is to go on with it.
                self.bus.delete_log().ok();
                return Err(FleetError::Stopped);
            }
            let left = origin.saturating_duration_since(Instant::now());
            self.receive(left.min(STOP_POLL_INTERVAL))?;
        }
        Ok(self.remote_start(RunAge::default()))
    }

    fn log_begin(&mut self) -> Result<(), FleetError> {
        let record = LogRecord::Begun(Box::new(self.begun.clone()));
        self.bus.append(BEGUN, &record.encode());
        let began = Instant::now();
        while self.stored < BEGUN {
            if began.elapsed() >= STORE_TIMEOUT {
                let worker = "the bus".to_owned();
                let reason = "it did not store the begin of the run".to_owned();
                return Err(FleetError::Worker { worker, reason });
            }
            self.receive(Duration::from_millis(20))?;
        }
        Ok(())
    }

    /// How the run began, also for one that another controller has begun.
    pub(super) fn remote_start(&self, age: RunAge) -> RemoteStart {
        let parts = self.begun.members.iter().map(MemberStart::size);
        RemoteStart { unix_nanos: self.begun.started_unix_nanos, parts: parts.collect(), age }
    }

    /// Of a run that another controller has begun, by the wall clock of this one.
    pub(super) fn age_of_begun(&self) -> RunAge {
        let began = UNIX_EPOCH + Duration::from_nanos(self.begun.started_unix_nanos);
        age_by(SystemTime::now().duration_since(began).unwrap_or_default())
    }
}

fn age_by(wall: Duration) -> RunAge {
    RunAge {
        at_least: wall.saturating_sub(MAX_CLOCK_ERROR),
        at_most: wall.saturating_add(MAX_CLOCK_ERROR),
    }
}

fn lead(connections: usize) -> Duration {
    let connections = u32::try_from(connections).unwrap_or(u32::MAX);
    LEAD.saturating_add(LEAD_OF_CONNECTION.saturating_mul(connections)).min(MAX_LEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_connections_start_later() {
        let check = |connections, expected_millis| {
            assert_eq!(lead(connections), Duration::from_millis(expected_millis));
        };
        check(0, 1000);
        check(100, 1040);
        check(10_000, 5000);
        check(usize::MAX, 10_000);
    }

    #[test]
    fn wall_clocks_may_differ() {
        let check = |wall, at_least, at_most| {
            let age = age_by(Duration::from_secs(wall));
            assert_eq!((age.at_least.as_secs(), age.at_most.as_secs()), (at_least, at_most));
        };
        check(0, 0, 120);
        check(3600, 3480, 3720);
    }
}
