//! A worker's links when their connections are lost, and when there are new ones.

use mio::Token;

use super::{Orders, Stage, Worker, moment};
use crate::{clock::SECOND, connector::Lost, link::Failure};

/// A connection that was up for so long was a good one: the next loss starts with a short delay.
const GOOD_NANOS: u64 = 10 * SECOND;

/// How well a link has held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    /// Nanoseconds since the run began.
    pub(super) up_since: u64,
    /// How often in a row it was lost soon after it was made.
    short_lives: u32,
}

impl Standing {
    /// How many attempts the next one counts as having failed.
    fn lost(&mut self, now: u64) -> u32 {
        let was_good = self.up_since == 0 || now >= self.up_since + GOOD_NANOS;
        self.short_lives = if was_good { 0 } else { self.short_lives.saturating_add(1) };
        self.short_lives
    }
}

impl Worker {
    /// A connection failed. Only a loss is borne, and only when the scenario says so.
    pub(super) fn lose(
        &mut self,
        index: usize,
        failure: Failure,
        orders: &Orders<'_>,
    ) -> Result<(), Failure> {
        let now = orders.clock.nanos();
        orders.control.service.failed(failure.kind, now, &failure.reason);
        let Some(connector) = orders.connector.filter(|_| failure.is_loss) else {
            return Err(failure);
        };
        let link = &mut self.links[index];
        let mut moment = moment(&mut self.tally, &mut self.witness, &mut self.limiter, orders);
        link.lose(&failure, &mut moment);
        orders.control.count_done(&moment);
        let now = moment.now;
        link.socket.deregister(self.poll.registry());
        let attempts = self.standings[index].lost(now);
        let is_wanted = match self.stage {
            Stage::Load => true,
            Stage::Drain { .. } => orders.awaits_empty && link.is_consuming(),
            Stage::Close { .. } => false,
        };
        if is_wanted {
            connector.submit(Lost::now(self.number, index, link.plan, attempts));
        }
        Ok(())
    }

    /// Takes in connections that were made again.
    pub(super) fn welcome(&mut self, orders: &Orders<'_>) -> Result<(), Failure> {
        while let Ok((index, wire)) = self.arrivals.try_recv() {
            let link = &mut self.links[index];
            let (before, after) = (link.frame_max(), wire.frame_max());
            if before != after {
                return Err(Failure::wrong(format!(
                    "the broker agreed on frames of {before} bytes at first and of {after} bytes \
                     when a connection was made again"
                )));
            }
            let mut moment = moment(&mut self.tally, &mut self.witness, &mut self.limiter, orders);
            link.resume(wire, &mut moment);
            self.standings[index].up_since = moment.now;
            let registered = link.socket.register(self.poll.registry(), Token(index));
            registered
                .map_err(|error| Failure::wrong(format!("cannot wait for a socket: {error}")))?;
            self.enqueue(index);
        }
        Ok(())
    }
}
