//! Facts about the workers, for the record of a run.

use rabbitscope_runs::record::{FleetFacts, FleetWorker};

use super::connection::Controller;
use crate::clocks::{ClockEstimate, identity, latency_error_nanos};

impl Controller {
    /// Pings the workers again after the run, to measure the drift of their clocks.
    pub(super) fn note_clocks_after(&mut self) {
        // After a resumption on another machine, our clock is not the one of the first estimates.
        if self.begun.clock != identity() {
            return;
        }
        let Ok(measured) = self.measure_clocks() else { return };
        for (member, clock) in self.members.iter_mut().zip(measured) {
            member.clock_after = clock;
        }
    }

    /// Returns the facts about the workers of the run that has ended.
    pub fn facts(&self) -> FleetFacts {
        let members = self.begun.members.iter().zip(&self.members);
        let workers = members.map(|(start, member)| {
            let drift = |after: ClockEstimate| after.drift_since(start.clock).unsigned_abs();
            FleetWorker {
                host: start.worker.host.clone(),
                pid: start.worker.pid,
                threads: (start.load_threads + start.churn_groups) as u64,
                connections: start.connections as u64,
                started_late_nanos: member.late_nanos,
                clock_error_nanos: start.clock.error_nanos,
                clock_drift_nanos: member.clock_after.map(drift),
                pings: u64::from(start.clock.pings),
                lagged: member.has_lagged,
                lost: member.is_lost,
            }
        });
        let workers: Vec<_> = workers.collect();
        let late =
            || workers.iter().filter(|worker| !worker.lost).map(|worker| worker.started_late_nanos);
        let clocks: Vec<_> = self
            .begun
            .members
            .iter()
            .zip(&workers)
            .map(|(start, worker)| {
                let drift = worker.clock_drift_nanos.filter(|_| start.clock.error_nanos > 0);
                (
                    start.worker.clock.clone(),
                    start.clock.error_nanos.saturating_add(drift.unwrap_or(0)),
                )
            })
            .collect();
        let latency_error_nanos = latency_error_nanos(&clocks);
        let skew = late().max().unwrap_or(0) - late().min().unwrap_or(0);
        FleetFacts {
            fleet: self.options.fleet.as_str().to_owned(),
            bus: self.options.bus.text(),
            start_skew_nanos: skew.saturating_add(latency_error_nanos),
            latency_error_nanos,
            resumed: self.is_resumed,
            workers,
        }
    }
}
