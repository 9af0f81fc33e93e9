//! Connections that come and go, on a few threads of their own: dialling waits for the broker, and
//! load threads never do.

use std::{
    sync::{Mutex, atomic::Ordering},
    thread,
    time::Duration,
};

use rabbitscope_amqp::blocking::Client;
use rabbitscope_runs::scenario::{ChurnGroup, ChurnSubject, Scenario};

use super::{Cycle, RETRY_NANOS};
use crate::{
    clock::{SECOND, nanos, thread_cpu_nanos},
    dial::{Dialer, Stream},
    schedule::Schedule,
    self_check::Crew,
    tally::Tally,
    worker::{Orders, Part, Report},
};

/// Connections of one group that are dialled at the same time.
const PARALLEL: u32 = 32;

/// Longest wait, so that the end of the load is seen soon.
const NAP: Duration = Duration::from_millis(20);

/// One group. For whoever adds up it is a worker like the others.
pub(crate) struct ConnectionChurn<'a> {
    group: &'a ChurnGroup,
    /// Number among the churn groups of the scenario.
    number: usize,
    /// Number among the workers of the run.
    worker: usize,
    dialer: &'a Dialer,
    tally: Mutex<Tally>,
}

struct Slot {
    member: u32,
    cycle: Cycle,
    client: Option<Client<Stream>>,
}

/// Connections that churn may have at the same time.
pub(crate) fn churned_connections(scenario: &Scenario) -> usize {
    let groups = scenario.churn.iter();
    let of_connections = groups.filter(|group| group.subject == ChurnSubject::Connections);
    of_connections.map(|group| group.concurrency as usize).sum()
}

impl<'a> ConnectionChurn<'a> {
    /// Every group of the scenario that churns connections; their numbers among the workers start
    /// with `first_worker`.
    pub(crate) fn all(
        scenario: &'a Scenario,
        dialer: &'a Dialer,
        first_worker: usize,
    ) -> Vec<Self> {
        let groups = scenario.churn.iter().enumerate();
        let of_connections = groups.filter(|(_, group)| group.subject == ChurnSubject::Connections);
        of_connections
            .zip(first_worker..)
            .map(|((number, group), worker)| {
                let tally = Mutex::new(Tally::default());
                Self { group, number, worker, dialer, tally }
            })
            .collect()
    }

    /// Runs to the end of the load and closes what is open. The last report is [`Report::Done`].
    pub(crate) fn run(&self, orders: &Orders<'_>) {
        let threads = self.group.concurrency.min(PARALLEL);
        thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || self.serve(thread, threads, orders));
            }
            let (second, start) = self.report_seconds(orders);
            self.report(second, start, false, orders);
        });
        let now = orders.clock.nanos();
        self.report(0, now, true, orders);
        orders.reports.send(Report::Done).ok();
    }

    /// A report for each second that ends before the load does; then the number of the last second
    /// and when it began.
    fn report_seconds(&self, orders: &Orders<'_>) -> (u32, u64) {
        let (mut second, mut start) = (0, 0);
        loop {
            let now = orders.clock.nanos();
            let boundary = (u64::from(second) + 1) * SECOND;
            if now >= boundary && boundary < orders.end {
                self.report(second, start, false, orders);
                second = u32::try_from(now / SECOND).unwrap_or(u32::MAX);
                start = now;
            }
            if is_over(orders) {
                return (second, start);
            }
            let left = boundary.min(orders.end).saturating_sub(now);
            thread::sleep(NAP.min(Duration::from_nanos(left)));
        }
    }

    fn report(&self, second: u32, start: u64, draining: bool, orders: &Orders<'_>) {
        let tally = std::mem::take(&mut *self.tally());
        let end = orders.clock.nanos();
        let part = Part {
            worker: self.worker,
            second,
            start,
            end,
            draining,
            is_last: draining,
            tally,
            crew: Crew::default(),
        };
        orders.reports.send(Report::Part(Box::new(part))).ok();
    }

    fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.tally.lock().expect("counting does not panic")
    }

    /// One thread, with every slot whose turn is its own.
    fn serve(&self, thread: u32, threads: u32, orders: &Orders<'_>) {
        let members = (thread..self.group.concurrency).step_by(threads as usize);
        let mut slots: Vec<_> = members
            .map(|member| Slot { member, cycle: Cycle::new(self.group, member), client: None })
            .collect();
        let mut schedule = Schedule::new(slots.len());
        for (index, slot) in slots.iter().enumerate() {
            if let Some(due) = slot.cycle.due() {
                schedule.put(index, due);
            }
        }
        let mut cpu = thread_cpu_nanos();
        while !is_over(orders) {
            let now = orders.clock.nanos();
            let Some(index) = schedule.take(now) else {
                let left = schedule.first().map_or(u64::MAX, |due| due.saturating_sub(now));
                thread::sleep(NAP.min(Duration::from_nanos(left)));
                continue;
            };
            if let Some(due) = self.step(&mut slots[index], orders) {
                schedule.put(index, due);
            }
            let (before, after) = (cpu, thread_cpu_nanos());
            cpu = after;
            self.tally().counts.client_cpu_nanos += after.saturating_sub(before);
        }
        for client in slots.iter_mut().filter_map(|slot| slot.client.take()) {
            self.close(client, orders);
        }
    }

    /// Opens or closes, whichever it is time for; says when the next step is due.
    fn step(&self, slot: &mut Slot, orders: &Orders<'_>) -> Option<u64> {
        if let Some(client) = slot.client.take() {
            self.close(client, orders);
            end_cycle(slot, 0, orders);
            return slot.cycle.due();
        }
        let since = orders.clock.nanos();
        let name = format!("rabbitscope {} {}", self.group.name, slot.member);
        match self.dialer.dial_idle(&name, slot.member as usize) {
            Ok((client, _)) => {
                let now = orders.clock.nanos();
                let mut tally = self.tally();
                tally.counts.churn_opened += 1;
                tally.churn.opened(self.number, now.saturating_sub(since));
                slot.client = Some(client);
                Some(now + nanos(self.group.hold))
            }
            Err(refused) => {
                self.tally().churn_failed(&refused.error.to_string());
                end_cycle(slot, orders.clock.nanos() + RETRY_NANOS, orders);
                slot.cycle.due()
            }
        }
    }

    fn close(&self, client: Client<Stream>, orders: &Orders<'_>) {
        let since = orders.clock.nanos();
        let closed = client.close();
        let took = orders.clock.nanos().saturating_sub(since);
        let mut tally = self.tally();
        match closed {
            Ok(()) => {
                tally.counts.churn_closed += 1;
                tally.churn.closed(self.number, took);
            }
            Err(error) => tally.churn_failed(&error.to_string()),
        }
    }
}

fn end_cycle(slot: &mut Slot, not_before: u64, orders: &Orders<'_>) {
    if slot.cycle.end(not_before) {
        orders.control.churners_done.fetch_add(1, Ordering::Relaxed);
    }
}

fn is_over(orders: &Orders<'_>) -> bool {
    orders.clock.nanos() >= orders.end
        || orders.control.ending.load(Ordering::Relaxed)
        || orders.control.abort.load(Ordering::Relaxed)
}
