//! The start of a run: the log first receives everything that a successor of this controller needs, then the workers
//! receive the start.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rabbitscope_measurements::{RemoteStart, RunAge};
use rabbitscope_timing::run_tag;

use super::{connection::Controller, roster::described};
use crate::{
    clocks::{identity, now_nanos},
    error::FleetError,
    protocol::{LogRecord, MemberStart, ToWorker},
};

/// Minimum time from the start message to the start. Chosen: the message arrives within milliseconds.
const LEAD: Duration = Duration::from_secs(1);

/// Extra lead per connection, which its worker still has to hand to a thread. Four workers with 2,500 connections
/// each took 2 s on two CPUs that they shared with the broker.
const LEAD_OF_CONNECTION: Duration = Duration::from_micros(400);

/// Maximum lead. Tens of thousands of connections are spread over several machines.
const MAX_LEAD: Duration = Duration::from_secs(10);

/// Timeout for the bus to store the record of the start.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// Largest difference between the wall clocks of two machines. A resumed run has no other common clock. Chosen: a
/// larger difference breaks certificates and logs.
const MAX_CLOCK_ERROR: Duration = Duration::from_secs(120);

/// Interval at which the wait for the start checks `stop`. Chosen: too short for a person to notice.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Number of the start record, for comparison with `Controller::stored`.
const BEGUN: u64 = 1;

impl Controller {
    /// Starts the run on all workers, and returns at its start.
    pub(super) fn begin(&mut self, stop: &AtomicBool) -> Result<RemoteStart, FleetError> {
        let clocks = self.measure_clocks()?;
        for (part, clock) in clocks.into_iter().enumerate() {
            let member = &mut self.begun.members[part];
            member.clock = clock.ok_or_else(|| FleetError::Worker {
                worker: described(part, &member.worker),
                reason: "it did not answer the request for its clock".to_owned(),
            })?;
        }
        let lead = lead(self.begun.members.iter().map(|member| member.connections).sum());
        let (now, origin) = (SystemTime::now() + lead, Instant::now() + lead);
        let origin_nanos = now_nanos() + u64::try_from(lead.as_nanos()).unwrap_or(u64::MAX);
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.begun.started_unix_nanos = u64::try_from(since.as_nanos()).unwrap_or(0);
        self.begun.clock = identity();
        self.log_begin()?;
        // A mark that is still pending belongs to the previous log.
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
                // This run must not be resumed.
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
                return Err(FleetError::NotStored { seconds: STORE_TIMEOUT.as_secs() });
            }
            self.receive(Duration::from_millis(20))?;
        }
        Ok(())
    }

    /// Returns the start of the run, also if another controller started it.
    pub(super) fn remote_start(&self, age: RunAge) -> RemoteStart {
        let parts = self.begun.members.iter().map(MemberStart::size);
        RemoteStart { unix_nanos: self.begun.started_unix_nanos, parts: parts.collect(), age }
    }

    /// Age of a run that another controller started, by this machine's wall clock.
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
