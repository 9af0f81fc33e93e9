//! Estimates of the workers' clocks, from which the common start is computed.

use std::time::{Duration, Instant};

use super::connection::{Controller, Ping};
use crate::{
    clocks::{ClockEstimate, ClockIdentity, Exchange, identity, now_nanos, shared_estimates},
    error::FleetError,
    protocol::ToWorker,
};

/// Pings to each worker, one after another. The smallest round trip of this many is close to the minimum. Chosen.
const PINGS: u32 = 40;

/// Timeout of one ping.
const PING_TIMEOUT: Duration = Duration::from_millis(500);

/// Timeout of all pings to one worker.
const PINGS_TIMEOUT: Duration = Duration::from_secs(3);

impl Controller {
    /// Pings every worker. The estimate is absent for a worker that is lost or does not answer.
    pub(super) fn measure_clocks(&mut self) -> Result<Vec<Option<ClockEstimate>>, FleetError> {
        let mut measured = Vec::new();
        for part in 0..self.members.len() {
            measured.push(if self.members[part].is_lost { None } else { self.measure(part)? });
        }
        let own = identity();
        let members = self.begun.members.iter().zip(&measured);
        let known: Vec<(ClockIdentity, ClockEstimate)> = members
            .filter_map(|(member, estimate)| Some((member.worker.clock.clone(), (*estimate)?)))
            .collect();
        let mut shared = shared_estimates(&own, &known).into_iter();
        Ok(measured.into_iter().map(|estimate| estimate.and_then(|_| shared.next())).collect())
    }

    fn measure(&mut self, part: usize) -> Result<Option<ClockEstimate>, FleetError> {
        let began = Instant::now();
        let mut exchanges = Vec::new();
        for number in 0..PINGS {
            if began.elapsed() >= PINGS_TIMEOUT {
                break;
            }
            exchanges.extend(self.ping(part, number)?);
        }
        Ok(ClockEstimate::from_exchanges(&exchanges))
    }

    fn ping(&mut self, part: usize, number: u32) -> Result<Option<Exchange>, FleetError> {
        let worker = self.begun.members[part].worker.id.clone();
        let (began, sent_nanos) = (Instant::now(), now_nanos());
        (self.ping, self.pong) = (Some(Ping { worker, number, sent_nanos }), None);
        self.tell(part, &ToWorker::Ping { number, sent_nanos });
        while began.elapsed() < PING_TIMEOUT {
            self.receive(PING_TIMEOUT.saturating_sub(began.elapsed()))?;
            let returned_nanos = now_nanos();
            if let Some(pong) = self.pong.take() {
                let (received_nanos, answered_nanos) = (pong.received_nanos, pong.answered_nanos);
                let exchange =
                    Exchange { sent_nanos, received_nanos, answered_nanos, returned_nanos };
                return Ok(Some(exchange));
            }
        }
        Ok(None)
    }
}
