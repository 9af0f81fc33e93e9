//! One caller: its schedule, its limits and its requests without a reply.

use rabbitscope_timing::RunInstant;

use crate::{
    link::serve_context::ServeContext,
    pacing::{ArrivalSchedule, ClientDelay},
};

pub(in crate::link) struct Caller {
    pub(super) channel: u16,
    /// Numbers of its queues, which it uses in rotation.
    pub(super) queues: Vec<usize>,
    /// Position in `queues` of the next request.
    pub(super) turn: usize,
    pub(super) concurrency: Option<u32>,
    pub(super) limit: Option<u64>,
    pub(super) arrivals: Option<ArrivalSchedule>,
    pub(super) sent: u64,
    pub(super) outstanding: u32,
    /// Time from which its concurrency has had room for another request, and the reply queue has been known.
    pub(super) roomy_since: RunInstant,
    pub(super) delay: ClientDelay,
}

impl Caller {
    /// Returns the number of requests for which concurrency and limit leave room.
    pub(super) fn room(&self) -> u64 {
        let free = |concurrency: u32| u64::from(concurrency.saturating_sub(self.outstanding));
        let limit = self.limit.map_or(u64::MAX, |limit| limit - self.sent);
        self.concurrency.map_or(u64::MAX, free).min(limit)
    }

    /// Takes the next request, and returns its intended time; absent if it is not due.
    pub(super) fn take_turn(
        &mut self,
        ready_since: RunInstant,
        context: &mut ServeContext<'_>,
    ) -> Option<RunInstant> {
        let Some(arrivals) = &mut self.arrivals else { return Some(context.now) };
        let until = context.pass.due_until?;
        let due = arrivals.due().filter(|due| *due <= until)?;
        arrivals.advance();
        let own = self.delay.measure(due, self.roomy_since.max(ready_since), context.now);
        context.sent_behind(context.now.since(due), own);
        Some(due)
    }

    /// Returns whether the caller has sent its last request.
    pub(super) fn has_sent_all(&self) -> bool {
        let is_over = self.arrivals.as_ref().is_some_and(|arrivals| arrivals.due().is_none());
        is_over || self.limit == Some(self.sent)
    }

    pub(super) fn next_queue(&mut self) -> usize {
        let queue = self.queues[self.turn];
        self.turn = if self.turn + 1 == self.queues.len() { 0 } else { self.turn + 1 };
        queue
    }

    pub(super) fn is_done(&self) -> bool {
        self.has_sent_all() && self.outstanding == 0
    }
}
