//! What a worker reports of an interval, and whether it was there to see it.

use super::{Orders, Part, Report, Worker, moment};
use crate::{
    clock::{thread_cpu_nanos, thread_wait_nanos},
    link::Link,
    self_check::Crew,
    tally::Attention,
    verify::Witness,
};

impl Worker {
    /// Sockets are about to be looked at.
    pub(super) fn note_presence(&mut self, now: u64) {
        let (since, longest) = self.away;
        self.away = (now, longest.max(now.saturating_sub(since)));
    }

    fn outstanding(&self) -> u64 {
        self.links.iter().map(Link::outstanding).sum()
    }

    fn attention(&mut self) -> Attention {
        let away_nanos = std::mem::take(&mut self.away.1);
        let dues = self.links.iter().map(Link::dues);
        dues.fold(Attention { away_nanos, ..Attention::default() }, |sum, dues| Attention {
            unanswered: sum.unanswered + u64::from(dues.is_unanswered),
            stalled: sum.stalled + u64::from(dues.is_stalled),
            ..sum
        })
    }

    /// Nothing more is read: what has no answer counts with its age.
    pub(super) fn give_up(&mut self, orders: &Orders<'_>) {
        for link in &mut self.links {
            link.give_up(&mut moment(
                &mut self.tally,
                &mut self.witness,
                &mut self.limiter,
                orders,
            ));
        }
    }

    fn crew(&self) -> Crew {
        let publishers = self.links.iter().map(Link::publishers).filter(|count| *count > 0);
        publishers.fold(Crew::default(), |crew, count| Crew {
            publishers: crew.publishers + count,
            connections: crew.connections + 1,
        })
    }

    pub(super) fn report(&mut self, now: u64, draining: bool, is_last: bool, orders: &Orders<'_>) {
        // Before the report of the same time, so that the check is never behind the counts.
        self.witness.as_mut().map(Witness::send);
        let mut tally = std::mem::take(&mut self.tally);
        tally.park();
        let cpu = thread_cpu_nanos();
        let wait = thread_wait_nanos();
        tally.counts.client_cpu_nanos = cpu.saturating_sub(self.cpu_at_start);
        tally.counts.client_wait_nanos = wait.saturating_sub(self.wait_at_start);
        tally.outstanding = self.outstanding();
        tally.connections = self.links.iter().filter(|link| link.is_up()).count() as u64;
        tally.attention = self.attention();
        self.last_delivery.0 = 0;
        let part = Part {
            worker: self.number,
            // Short drains are told in one piece.
            second: if draining && !orders.awaits_empty { 0 } else { self.second },
            start: self.interval_start,
            end: now,
            draining,
            is_last,
            tally,
            crew: self.crew(),
        };
        self.interval_start = now;
        (self.cpu_at_start, self.wait_at_start) = (cpu, wait);
        orders.reports.send(Report::Part(Box::new(part))).ok();
    }
}
