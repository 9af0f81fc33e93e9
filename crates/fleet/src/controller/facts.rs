//! What the record of a run keeps of its workers.

use rabbitscope_runs::record::{FleetFacts, FleetWorker};

use super::connection::Controller;
use crate::clocks::{ClockEstimate, identity, latency_error_nanos};

impl Controller {
    /// Asks for the clocks once more, to know how far they went apart.
    pub(super) fn note_clocks_after(&mut self) {
        // Another clock than that of the controller that began the run says nothing of that.
        if self.begun.clock != identity() {
            return;
        }
        let Ok(measured) = self.measure_clocks() else { return };
        for (member, clock) in self.members.iter_mut().zip(measured) {
            member.clock_after = clock;
        }
    }

    /// The workers of the run that has ended.
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
        let late = || workers.iter().filter(|it| !it.lost).map(|it| it.started_late_nanos);
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
